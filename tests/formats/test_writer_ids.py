"""Ids that follow from a text are ids, and the same every time."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.reader import derived_uuid, is_uuid


@given(st.text(st.characters(exclude_categories=())))
def test_a_derived_id_is_a_uuid_and_always_the_same(text: str) -> None:
    assert is_uuid(derived_uuid(text))
    assert derived_uuid(text) == derived_uuid(text)


def test_other_texts_give_other_ids() -> None:
    assert len({derived_uuid(str(number)) for number in range(1_000)}) == 1_000


def test_what_only_resembles_a_uuid_is_none() -> None:
    whole = derived_uuid("x")
    assert not any(map(is_uuid, ("", "u1", whole[:-1], f"{whole}0", whole.replace("-", "_"))))
