"""Weights of a request: reported where the provider did, estimated behind that."""

from holdfast.caching import RequestBlocks
from holdfast.caching.cache_model import Reports, Weights
from tests.caching.test_block_prefix import block_prefix


def weighed(reports: Reports, chain: RequestBlocks) -> list[int]:
    weights = Weights(chain, reports)
    return [weights.of(size) for size in range(chain.size + 1)]


def test_without_a_report_weights_are_estimates() -> None:
    assert weighed(Reports(), RequestBlocks(block_prefix("abcd"), 4)) == [0, 1, 2, 3, 4]


def test_the_longest_prefix_that_was_reported_counts() -> None:
    reports, trunk = Reports(), block_prefix("abcdef")
    reports.take(RequestBlocks(trunk, 2), 4)
    reports.take(RequestBlocks(trunk, 4), 8)
    # Both reports say twice the estimate.
    assert weighed(reports, RequestBlocks(trunk, 6)) == [0, 2, 4, 6, 8, 10, 12]
    reports.take(RequestBlocks(trunk, 4), 9)
    assert Weights(RequestBlocks(trunk, 4), reports).whole == 9


def test_a_prefix_is_known_on_another_spine_too() -> None:
    reports = Reports()
    reports.take(RequestBlocks(block_prefix("abc"), 3), 300)
    assert reports.longest(RequestBlocks(block_prefix("abcd"), 4), 4) == (3, 300)
    assert reports.longest(RequestBlocks(block_prefix("xbc"), 3), 3) == (0, 0)


def test_of_two_branches_each_has_its_own() -> None:
    reports = Reports()
    for words, tokens in (("ab", 20), ("abcc", 41), ("abdd", 42), ("abddd", 50)):
        reports.take(RequestBlocks(block_prefix(words), len(words)), tokens)
    found = [
        reports.longest(RequestBlocks(block_prefix(each), len(each)), len(each))
        for each in ("abccc", "abdd", "abe")
    ]
    assert found == [(4, 41), (4, 42), (2, 20)]


def test_a_report_of_nothing_teaches_nothing() -> None:
    reports, chain = Reports(), RequestBlocks(block_prefix("abc"), 3)
    reports.take(chain, 0)
    reports.take(RequestBlocks(block_prefix(""), 0), 5)
    assert (reports.ratio, reports.longest(chain, 3)) == (1.0, (0, 0))


def test_the_oldest_prefixes_are_forgotten() -> None:
    reports, trunk = Reports(), block_prefix("a" * 300)
    for size in range(1, 301):
        reports.take(RequestBlocks(trunk, size), size)
    chain = RequestBlocks(trunk, 300)
    assert [reports.longest(chain, size) for size in (300, 45, 44)] == [
        (300, 300),
        (45, 45),
        (0, 0),
    ]
