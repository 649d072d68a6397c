"""Call ids stay apart, whatever ids agents and models gave."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire.common import Identities, is_plain


def numbered(ids: list[str]) -> list[str]:
    """Return ids of plain letters, the first free number behind those that came before."""
    taken: list[str] = []
    for id_ in ids:
        names = [id_, *(f"{id_}_{number}" for number in range(2, len(ids) + 2))]
        taken.append(next(name for name in names if name not in taken))
    return taken


@given(st.lists(st.sampled_from(["c", "c_2", "c_3", "c_2_2", "d"]), max_size=20))
def test_an_id_that_was_used_gets_the_first_free_number(ids: list[str]) -> None:
    identities = Identities()
    assert [identities.open(id_) for id_ in ids] == numbered(ids)


@given(st.lists(st.text(max_size=3), max_size=20))
def test_ids_are_plain_and_a_result_finds_the_newest_call(ids: list[str]) -> None:
    identities = Identities()
    opened = {id_: identities.open(id_) for id_ in ids}
    assert all(map(is_plain, opened.values()))
    assert {id_: identities.answer(id_) for id_ in opened} == opened
