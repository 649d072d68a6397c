"""The arithmetic of windows, thresholds and shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction import Policy
from holdfast.errors import ConfigError
from holdfast.tokens import SUMMARY_TOKENS

windows = st.integers(2_000, 10_000_000)


@pytest.mark.parametrize(
    ("window", "threshold"),
    [
        (200_000, 100_000),
        (100_000, 64_000),
        (32_000, 27_200),
        (2_000, 1_700),
        (10_000_000, 5_000_000),
    ],
)
def test_the_threshold_has_a_floor_that_small_windows_can_bear(window: int, threshold: int) -> None:
    assert Policy(context_length=window).threshold_tokens == threshold


def test_the_threshold_leaves_room_for_the_answer() -> None:
    assert Policy(context_length=100_000, threshold=1.0).threshold_tokens == 100_000 - 8_192
    assert Policy(context_length=100_000, threshold=1.0, reserve=0).threshold_tokens == 100_000


@given(windows, st.floats(0.01, 1.0), st.floats(0.10, 0.80), st.integers(0, 3_000_000))
def test_head_summary_and_tail_always_fit_under_the_threshold(
    window: int, threshold: float, ratio: float, middle: int
) -> None:
    policy = Policy(context_length=window, threshold=threshold, target_ratio=ratio)
    limit = policy.threshold_tokens
    for fixed in (0, limit // 10, limit // 2):
        shares = policy.shares(fixed=fixed, rest=middle)
        summary = shares.record + shares.said + shares.live + SUMMARY_TOKENS
        if limit - fixed > SUMMARY_TOKENS + 4:
            assert fixed + summary + shares.tail + shares.pins <= limit
            assert shares.tail <= shares.ceiling


@given(windows, st.floats(0.01, 1.0), st.floats(0, 1.2), st.integers(0, 3_000_000))
def test_what_goes_out_beside_the_messages_is_taken_off_every_budget(
    window: int, threshold: float, share: float, middle: int
) -> None:
    usual = Policy(context_length=window, threshold=threshold)
    policy = Policy(context_length=window, threshold=threshold, overhead=int(share * window))
    limit = policy.limit_tokens
    assert usual.threshold_tokens <= policy.threshold_tokens <= limit
    shares = policy.shares(fixed=0, rest=middle)
    if 0 < policy.overhead < limit:
        assert policy.overhead + shares.limit <= max(limit, policy.overhead + 1)
        assert shares.limit >= min(limit - policy.overhead, int(0.2 * limit))
    parts = shares.tail + shares.record + shares.said + shares.live + shares.pins
    assert parts <= max(shares.limit - SUMMARY_TOKENS, 0)


def test_an_overhead_moves_the_threshold_only_where_it_leaves_too_little() -> None:
    assert Policy(overhead=19_000).threshold_tokens == 100_000
    assert Policy(overhead=19_000).room_tokens == 81_000
    crowded = Policy(context_length=100_000, overhead=80_000)
    assert crowded.threshold_tokens == crowded.limit_tokens
    assert "take 80,000 of the 91,808 tokens of a request" in crowded.crowding
    assert not Policy(overhead=19_000).crowding


def test_a_record_is_a_fifth_of_the_middle_within_its_bounds() -> None:
    policy = Policy(context_length=200_000)
    tail = policy.target_tokens
    assert policy.shares(fixed=0, rest=tail + 6_000).record == 2_000
    assert policy.shares(fixed=0, rest=tail + 30_000).record == 6_000
    assert policy.shares(fixed=0, rest=1_000_000).record == 10_000
    assert Policy(context_length=2_000_000).shares(fixed=0, rest=10**7).record == 12_000


def test_users_words_get_a_tenth_of_the_threshold_at_most_and_less_of_a_short_middle() -> None:
    policy = Policy(context_length=200_000)
    assert policy.shares(fixed=0, rest=10**6).said == policy.threshold_tokens // 10
    assert policy.shares(fixed=0, rest=policy.target_tokens + 1_000).said == 250


def test_a_record_has_room_for_the_summary_that_it_carries_on() -> None:
    policy = Policy(context_length=200_000)
    short = policy.shares(fixed=0, rest=policy.target_tokens + 1_000, previous=5_000)
    assert short.record == 5_000
    assert policy.shares(fixed=0, rest=0, previous=90_000).record == 10_000


def test_what_stays_in_any_case_is_no_part_of_what_is_shared_out() -> None:
    policy = Policy(context_length=16_000)
    limit = policy.threshold_tokens
    for fixed in (0, 1_000, 6_000):
        shares = policy.shares(fixed=fixed, rest=10**6)
        left = limit - fixed
        assert (shares.tail, shares.pins) == (left // 5, left // 10)
        # Whatever is fixed, as large a part of the rest is free after a fold, the record aside.
        assert shares.tail + shares.said + shares.live + shares.pins <= 0.45 * left
        assert shares.record == policy.shares(fixed=0, rest=10**6).record


def test_a_short_middle_gets_a_record_that_is_shorter_still() -> None:
    policy = Policy(context_length=200_000)
    assert policy.shares(fixed=0, rest=policy.target_tokens + 1_000).record == 400


@given(st.integers(300, 100_000), st.integers(0, 100_000))
def test_the_shares_of_a_fit_never_add_up_to_more_than_it(fit: int, fixed: int) -> None:
    shares = Policy(fit=fit).shares(fixed=fixed, rest=10**6)
    parts = shares.tail + shares.record + shares.said
    assert parts == 0 or fixed + SUMMARY_TOKENS + parts <= fit
    assert shares.live <= shares.record or parts == 0


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"context_length": 10}, "context_length is 10"),
        ({"threshold": 0}, "threshold is 0"),
        ({"threshold": 1.2}, "threshold is 1.2"),
        ({"target_ratio": 0.9}, "target_ratio is 0.9; allowed: 0.10 to 0.80"),
        ({"protect_first_n": -1}, "protect_first_n is -1"),
        ({"protect_last_n": 0}, "protect_last_n is 0; allowed: >= 1"),
        ({"hygiene": 2}, "hygiene_threshold is 2"),
        ({"reserve": 150_000}, "reserve is 150000"),
        ({"overhead": -1}, "overhead is -1"),
        ({"fit": 0}, "fit is 0"),
        ({"fit": "a"}, "fit is 'a'; allowed: a whole number"),
        ({"fit": True}, "fit is True; allowed: a whole number"),
        ({"context_length": None}, "context_length is None; allowed: a whole number"),
        ({"context_length": float("inf")}, "context_length is inf; allowed: a whole number"),
        ({"threshold": "0.5"}, "threshold is '0.5'; allowed: a number"),
    ],
)
def test_a_knob_that_cannot_be_met_is_named(knobs: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        Policy(**knobs)  # type: ignore[arg-type]
