"""Requests on one block_prefix: they share what they have in common, and none changes another."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import CacheBlock, RequestBlocks
from holdfast.caching.blocks import BlockKind, BlockPrefix


def block(name: str) -> CacheBlock:
    return CacheBlock(name, name, len(name), BlockKind.MESSAGE)


def block_prefix(words: str, scope: str = "m") -> BlockPrefix:
    made = BlockPrefix(scope)
    made.extend(block(each) for each in words)
    return made


def test_each_link_covers_everything_before_it() -> None:
    one, other = block_prefix("abc"), block_prefix("xbc")
    assert len({*one.links, *other.links}) == 6
    assert (one.totals, block_prefix("abcd").links[:3]) == ([1, 2, 3], one.links)


def test_nothing_is_shared_between_two_models() -> None:
    assert (
        RequestBlocks(block_prefix("abc"), 3).shared(RequestBlocks(block_prefix("abc", "other"), 3))
        == 0
    )


def test_a_branch_leaves_the_spine_as_it_was() -> None:
    trunk = block_prefix("abc")
    branch = trunk.branch(1)
    branch.extend([block("z")])
    assert [each.name for each in trunk.blocks] == ["a", "b", "c"]
    assert (branch.links, branch.totals) == (block_prefix("az").links, [1, 2])


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_what_is_shared_is_the_common_beginning(one: str, other: str) -> None:
    common = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    assert (
        RequestBlocks(block_prefix(one), len(one)).shared(
            RequestBlocks(block_prefix(other), len(other))
        )
        == common
    )


def test_two_requests_on_one_spine_share_the_shorter_one() -> None:
    trunk = block_prefix("abc")
    assert RequestBlocks(trunk, 2).shared(RequestBlocks(trunk, 3)) == 2
