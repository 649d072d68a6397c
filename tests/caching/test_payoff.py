"""The price of a compaction, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import Payoff, Rates, Shrink, payoff
from holdfast.cost import Price
from tests.caching.requests import SONNET

RATES = Rates(before=SONNET, after=SONNET, summarizer=SONNET)
SHRINK = Shrink(before=150_000, after=40_000, kept=10_000, brief=100_000, summary=2_000)
FREE = Price(input=0, output=0, cache_read=0, cache_write_5m=0, cache_write_1h=0)


def test_a_warm_compaction_pays_when_reads_have_made_up_for_it() -> None:
    made = payoff(SHRINK, RATES)
    # 100,000 read at $3, 2,000 written at $15.
    assert made.summarizing == pytest.approx(0.30 + 0.03)
    # 30,000 tokens are written at $3.75 that would be read at $0.30.
    assert made.rewriting == pytest.approx(0.1035)
    # 110,000 tokens less are read at $0.30.
    assert made.saving == pytest.approx(0.033)
    # 0.4335 / 0.033 = 13.1: with the fourteenth request.
    assert (made.cost, made.break_even) == (pytest.approx(0.4335), 14)
    assert (
        str(made) == "A compaction costs about $0.4335 and has paid for itself after 14 requests."
    )


def test_a_cold_compaction_saves_at_once_what_is_not_written_again() -> None:
    made = payoff(SHRINK, RATES, warm=False)
    # 110,000 tokens less are written at $3.75: $0.4125 against $0.33.
    assert (made.rewriting, made.ahead) == (0, pytest.approx(0.33 - 0.4125))
    assert (made.break_even, made.cost) == (1, pytest.approx(0.33))
    assert "after the next request" in str(made)


def test_an_hour_costs_more_to_write() -> None:
    made = payoff(SHRINK, Rates(before=SONNET, after=SONNET, summarizer=FREE, ttl="1h"))
    # 30,000 at $6 instead of $0.30 is $0.171; 0.171 / 0.033 = 5.2.
    assert (made.rewriting, made.break_even) == (pytest.approx(0.171), 6)


def test_a_compaction_that_frees_nothing_never_pays() -> None:
    made = payoff(Shrink(before=40_000, after=40_000, kept=10_000), RATES)
    assert (made.saving, made.break_even, made.break_even_turn(3)) == (0, None, None)
    assert str(made) == "A compaction costs about $0.1035 and never pays for itself."


def test_where_cached_tokens_are_free_a_compaction_never_pays() -> None:
    free_reads = Price(input=1, output=1, cache_read=0, cache_write_5m=1, cache_write_1h=1)
    rates = Rates(before=free_reads, after=free_reads, summarizer=free_reads)
    assert payoff(SHRINK, rates).break_even is None


def test_a_local_model_costs_nothing() -> None:
    made = payoff(SHRINK, Rates(before=FREE, after=FREE, summarizer=FREE))
    assert made == Payoff(summarizing=0, rewriting=0, saving=0, ahead=0)
    assert (made.break_even, str(made)) == (1, "A compaction costs nothing here.")


def test_falling_below_a_price_step_pays_sooner() -> None:
    steep = Price(input=6, output=22.5, cache_read=0.6, cache_write_5m=7.5, cache_write_1h=12)
    shrink = Shrink(before=250_000, after=50_000, kept=10_000, brief=200_000, summary=2_000)
    made = payoff(shrink, Rates(before=steep, after=SONNET, summarizer=steep))
    # 250,000 at $0.60 against 50,000 at $0.30.
    assert made.saving == pytest.approx(0.15 - 0.015)
    # 1.245 + 40,000 at $3.75 + 10,000 at $0.30 - 250,000 at $0.60 = 1.248; 1.248 / 0.135 = 9.2.
    assert (made.ahead, made.break_even) == (pytest.approx(1.248), 11)


def test_a_turn_may_have_several_requests() -> None:
    made = payoff(SHRINK, RATES)
    assert [made.break_even_turn(each) for each in (0.5, 1, 3.5, 14, 20)] == [14, 14, 4, 1, 1]


def test_a_whole_quotient_is_not_rounded_up() -> None:
    made = Payoff(summarizing=0.3, rewriting=0, saving=0.1, ahead=0.1 + 0.2)
    assert made.break_even == 4


@given(
    st.integers(1_000, 10**6),
    st.floats(0.01, 1),
    st.floats(0, 1),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_the_break_even_is_the_first_request_at_which_less_was_paid(
    before: int, left: float, fixed: float, brief: int, warm: bool
) -> None:
    after = int(before * left)
    kept = int(after * fixed)
    shrink = Shrink(before=before, after=after, kept=kept, brief=brief, summary=1_000)
    made = payoff(shrink, RATES, warm=warm)
    paid = brief * 3 + 1_000 * 15 + (kept * 0.3 + (after - kept) * 3.75 if warm else after * 3.75)
    instead = before * (0.3 if warm else 3.75)
    if made.break_even is None:
        assert after == before or paid > instead
        return
    rounds = made.break_even - 1
    assert paid + rounds * after * 0.3 <= (instead + rounds * before * 0.3) * (1 + 1e-6)
    if rounds:
        paid, instead = paid + (rounds - 1) * after * 0.3, instead + (rounds - 1) * before * 0.3
        assert paid > instead * (1 - 1e-6)
