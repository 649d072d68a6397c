"""What is sent is text that UTF-8 can hold, and nothing else changes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire.json_text import encodable

_ANY_SIGN = st.text(st.characters(exclude_categories=()))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | _ANY_SIGN,
    lambda inner: st.lists(inner) | st.dictionaries(_ANY_SIGN, inner),
    max_leaves=8,
)


@given(_VALUES)
def test_everything_can_be_sent(value: object) -> None:
    json.dumps(encodable(value), ensure_ascii=False).encode()


@given(st.text())
def test_a_text_that_can_be_sent_is_the_same(text: str) -> None:
    assert encodable(text) is text


def test_half_a_pair_is_replaced_and_a_whole_one_is_joined() -> None:
    given = {"content": [("a\ud800b", 5), "\ud83d\ude00"], "\udc00": None}
    assert encodable(given) == {"content": [["a\ufffdb", 5], "\U0001f600"], "\ufffd": None}
