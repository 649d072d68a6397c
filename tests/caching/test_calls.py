"""What a call says about its cache."""

from holdfast.caching import AccountedCall, Changed, Expectation, Extended, Tally, Why
from holdfast.session import Usage


def test_the_share_that_was_read_is_the_hit_ratio() -> None:
    call = AccountedCall(Expectation(75, 20, 5), Usage(1, 5, 9, 75, 20))
    assert (call.hit_ratio, call.missing, call.warning) == (0.75, 0, "")
    assert call.expected.prompt_tokens == 100


def test_a_cache_that_falls_short_is_named_and_a_small_error_is_not() -> None:
    expected = Expectation(9_000, 0, 1_000, Extended(2))
    assert AccountedCall(expected, Usage(1, 1_100, 0, 8_900)).warning == ""
    assert AccountedCall(expected, Usage(1, 10_000)).warning == (
        "9,000 tokens were expected from the cache and were not read from it, "
        "although the prefix is known there."
    )


def test_a_prefix_that_changed_is_named_with_its_reason() -> None:
    expected = Expectation(0, 0, 10_000, Changed("tool bash", Why.TOOLS))
    assert AccountedCall(expected, Usage(1, 10_000)).warning == (
        "The prefix changed at tool bash: other tools."
    )


def test_a_tally_without_calls_has_no_ratio() -> None:
    assert Tally().hit_ratio == 0.0


def test_a_server_that_reports_nothing_is_neither_a_hit_nor_a_miss() -> None:
    silent = AccountedCall(Expectation(900, 0, 100), Usage(calls=1))
    assert (silent.missing, silent.warning) == (0, "")
    tally = Tally().plus(silent)
    assert (tally.hits, tally.misses) == (0, 0)
