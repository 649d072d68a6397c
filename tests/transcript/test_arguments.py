"""JSON text is read as the standard library reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.arguments import parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_what_was_written_is_read_as_the_standard_library_reads_it(
    value: object, is_ascii: bool
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert repr(parsed(text)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud800"',
        '"\ud800"',
        '{"\\ud83d": 1}',
        "1e400",
        "-Infinity",
        "-0",
        "9" * 40,
        '{"a":1,"a":2}',
    ],
)
def test_what_only_the_standard_library_takes_is_read_too(text: str) -> None:
    assert repr(parsed(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "\ufeff1", "[1,]", "01", '"\n"', "{'a': 1}", '{"a": 1} more'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text)
