"""Sessions are told after those that they came from."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.reader import parents_first

NAMES = st.sampled_from("abcdef")


def test_a_parent_goes_first_and_others_keep_their_order() -> None:
    parents = {"c": "b", "a": "", "b": "d", "d": "gone", "e": "c"}
    assert list(parents_first(parents)) == ["d", "b", "c", "a", "e"]


@given(st.dictionaries(NAMES, NAMES))
def test_each_session_comes_once_and_after_its_parent_unless_they_go_in_a_circle(
    parents: dict[str, str],
) -> None:
    order = list(parents_first(parents))
    assert sorted(order) == sorted(parents)
    for child in parents:
        above, at = set[str](), parents[child]
        while at in parents and at not in above:
            above.add(at)
            at = parents[at]
        if child not in above and not any(each == at for each in above):
            assert all(order.index(each) < order.index(child) for each in above)
