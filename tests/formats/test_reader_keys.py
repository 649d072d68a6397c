"""Every message of a file has a name that no other has."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.reader import KeyAllocator


def test_an_id_is_the_name_until_it_is_used_again() -> None:
    keys = KeyAllocator()
    entries = (("a", 1), ("a", 2), ("", 3), ("", 3), ("", 3))
    taken = [keys.take(name, line) for name, line in entries]
    assert taken == ["a", "#2", "#3", "#3.1", "#3.2"]


@given(st.lists(st.tuples(st.sampled_from(("", "a", "#1", "#1.1")), st.integers(1, 3))))
def test_no_name_is_given_twice(entries: list[tuple[str, int]]) -> None:
    keys = KeyAllocator()
    taken = [keys.take(name, line) for name, line in entries]
    assert len(set(taken)) == len(taken)
