"""Requests on one spine: they share what they have in common, and none changes another."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import Block, Chain
from holdfast.caching.blocks import Kind
from holdfast.caching.spine import Spine


def block(name: str) -> Block:
    return Block(name, name, len(name), Kind.MESSAGE)


def spine(words: str, scope: str = "m") -> Spine:
    made = Spine(scope)
    made.extend(block(each) for each in words)
    return made


def test_each_link_covers_everything_before_it() -> None:
    one, other = spine("abc"), spine("xbc")
    assert len({*one.links, *other.links}) == 6
    assert (one.totals, spine("abcd").links[:3]) == ([1, 2, 3], one.links)


def test_nothing_is_shared_between_two_models() -> None:
    assert Chain(spine("abc"), 3).shared(Chain(spine("abc", "other"), 3)) == 0


def test_a_branch_leaves_the_spine_as_it_was() -> None:
    trunk = spine("abc")
    branch = trunk.branch(1)
    branch.extend([block("z")])
    assert [each.name for each in trunk.blocks] == ["a", "b", "c"]
    assert (branch.links, branch.totals) == (spine("az").links, [1, 2])


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_what_is_shared_is_the_common_beginning(one: str, other: str) -> None:
    common = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    assert Chain(spine(one), len(one)).shared(Chain(spine(other), len(other))) == common


def test_two_requests_on_one_spine_share_the_shorter_one() -> None:
    trunk = spine("abc")
    assert Chain(trunk, 2).shared(Chain(trunk, 3)) == 2
