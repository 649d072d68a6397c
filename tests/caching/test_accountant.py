"""The accountant against a provider that is played out by other means, call by call."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import (
    Accountant,
    Automatic,
    Changed,
    Extended,
    First,
    Marked,
    Payoff,
    Sent,
    Shrink,
    Support,
    Terms,
    Uncached,
    Why,
    mark,
)
from holdfast.cost import GivenPrices, Price
from holdfast.session import Usage
from holdfast.wire import Body
from tests.caching.requests import (
    BASH,
    MINUTE,
    MODEL,
    READ,
    SONNET,
    Letters,
    books,
    sent,
    talk,
)

SMALL = Marked(minimum=10)
"""Rules under which a short talk is worth keeping."""
PRICES = GivenPrices({"claude-*": SONNET})


def grown(count: int, length: int = 40) -> Body:
    return talk(*([length] * count))


def run(support: Support, *requests: tuple[Sent, int]) -> list[tuple[int, ...]]:
    """Return what the provider reports for each request, after seeing that it was expected."""
    kept = books(support, Letters())
    reported: list[tuple[int, ...]] = []
    for request, at in requests:
        expected, came = kept.send(request, at)
        assert expected == came
        reported.append(came)
    return reported


# A message of 40 letters weighs 14 tokens, the system prompt 7: 4 for the block, 3 for words.


def test_a_talk_that_goes_on_reads_what_it_wrote() -> None:
    requests = [(sent(grown(count)), count * MINUTE) for count in (1, 3, 5)]
    assert run(SMALL, *requests) == [(0, 21, 0), (21, 28, 0), (49, 28, 0)]


def test_an_entry_is_gone_after_its_lifetime_and_kept_by_use() -> None:
    request = sent(grown(3))
    moments = [0, 4 * MINUTE, 9 * MINUTE - 1, 14 * MINUTE - 1, 20 * MINUTE]
    reads = [each[0] for each in run(SMALL, *((request, at) for at in moments))]
    assert reads == [0, 49, 49, 0, 0]


def test_an_hour_is_an_hour() -> None:
    request = sent(grown(3), ttl="1h")
    moments = [0, 60 * MINUTE - 1, 120 * MINUTE - 1]
    assert [each[0] for each in run(SMALL, *((request, at) for at in moments))] == [0, 49, 0]


def test_an_entry_keeps_the_lifetime_that_it_was_written_with() -> None:
    short, long = sent(grown(3)), sent(grown(3), ttl="1h")
    reports = run(SMALL, (short, 0), (long, MINUTE), (long, 7 * MINUTE), (long, 60 * MINUTE))
    assert [each[0] for each in reports] == [0, 49, 0, 49]


def test_a_prompt_below_the_minimum_is_not_kept() -> None:
    requests = [(sent(grown(count)), count) for count in (1, 3, 5)]
    assert run(Marked(minimum=49), *requests) == [(0, 0, 21), (0, 49, 0), (49, 28, 0)]


def test_more_than_twenty_blocks_between_breakpoints_are_not_bridged() -> None:
    parts = [{"type": "text", "text": "x" * 40}] * 30

    def after(blocks: int) -> Sent:
        first: Any = {"role": "user", "content": "x" * 40}
        many: Any = {"role": "assistant", "content": parts[:blocks]}
        last: Any = [{"role": "user", "content": str(at)} for at in range(3)]
        return sent(Body([first, many, *last]))

    begun = sent(Body([{"role": "user", "content": "x" * 40}]))
    near, far = run(SMALL, (begun, 0), (after(18), 1)), run(SMALL, (begun, 0), (after(19), 1))
    assert near[1][0] == 14
    # The first of three markers stands 20 blocks behind the entry, itself counted: one too many.
    assert far[1][0] == 0


def test_the_lookback_is_counted_from_each_marker() -> None:
    support = Marked(minimum=5, lookback=2)
    long = grown(9)
    assert run(support, (sent(grown(2)), 0), (sent(long), 1))[1][0] == 7


def test_an_entry_that_was_found_by_looking_back_is_kept_too() -> None:
    first, long, other = sent(grown(1)), sent(grown(9)), sent(talk(40, 8))
    reports = run(SMALL, (first, 0), (long, 4 * MINUTE), (other, 8 * MINUTE))
    assert [each[0] for each in reports] == [0, 21, 21]


def test_another_model_starts_cold_and_the_first_one_is_still_warm() -> None:
    here, there = sent(grown(3)), sent(grown(3), model="claude-opus-4-1")
    reports = run(SMALL, (here, 0), (there, 1), (here, 2), (there, 3))
    assert [each[0] for each in reports] == [0, 0, 49, 49]


def test_other_tools_miss_everything() -> None:
    one, two = sent(grown(3), tools=(BASH,)), sent(grown(3), tools=(BASH, READ))
    reports = run(SMALL, (one, 0), (two, 1), (one, 2))
    assert [each[0] > 0 for each in reports] == [False, False, True]


def test_an_undo_finds_what_was_there_before() -> None:
    long, folded = sent(grown(5)), sent(talk(40, 8))
    reports = run(Marked(minimum=5), (long, 0), (folded, MINUTE), (long, 2 * MINUTE))
    # After the compaction only the system prompt is known, after the undo everything.
    assert [each[0] for each in reports] == [0, 7, 77]


def test_an_automatic_cache_reads_in_steps_and_reports_no_writes() -> None:
    requests = [(sent(grown(count)), count) for count in (1, 3, 5)]
    assert run(Automatic(minimum=20, step=8), *requests) == [(0, 0, 21), (0, 0, 49), (48, 0, 29)]


def test_an_automatic_cache_forgets_unless_it_lasts() -> None:
    request = sent(grown(3))
    moments = [(request, 0), (request, 6 * MINUTE)]
    assert run(Automatic(minimum=1, step=1), *moments)[1] == (0, 0, 49)
    assert run(Automatic(minimum=1, step=1, lifetime=None), *moments)[1] == (49, 0, 0)


def test_where_nothing_is_kept_everything_is_fresh() -> None:
    request = sent(grown(3))
    assert run(Uncached("no"), (request, 0), (request, 1)) == [(0, 0, 49)] * 2


def test_a_request_without_a_marker_neither_reads_nor_writes() -> None:
    bare = Sent(model=MODEL, dialect="anthropic", body=grown(3))
    assert run(SMALL, (sent(grown(3)), 0), (bare, 1))[1] == (0, 0, 49)


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[Sent, int]]:
    """Return requests that grow, shrink, branch, wait, and change all that can be changed."""
    texts = ["a" * 9, "b" * 30, "c" * 90]
    messages: list[dict[str, object]] = []
    at, requests = 0, list[tuple[Sent, int]]()
    fixed: dict[str, Any] = {"model": "claude-a", "tools": (), "system": "Be brief."}
    ttl: Any = "5m"
    for _ in range(draw(st.integers(2, 9))):
        match draw(st.sampled_from(["grow", "grow", "grow", "burst", "cut", "edit", "fix", "ttl"])):
            case "grow":
                messages = [*messages, *draw(st.lists(_message(texts), min_size=1, max_size=3))]
            case "burst":
                many = [{"type": "text", "text": "z" * 8}] * draw(st.integers(17, 23))
                messages = [*messages, {"role": "user", "content": many}]
            case "cut":
                messages = messages[: draw(st.integers(0, len(messages)))]
            case "edit" if messages:
                where = draw(st.integers(0, len(messages) - 1))
                messages = [*messages[:where], draw(_message(texts)), *messages[where + 1 :]]
            case "fix":
                key, values = draw(st.sampled_from(list(CHOICES.items())))
                fixed = {**fixed, key: draw(st.sampled_from(values))}
            case _:
                ttl = draw(st.sampled_from(["5m", "1h"]))
        at += draw(st.sampled_from([1, MINUTE, 4 * MINUTE, 5 * MINUTE, 6 * MINUTE, 60 * MINUTE]))
        given = {key: value for key, value in fixed.items() if key != "system"}
        body = mark(Body(messages, fixed["system"]), ttl=ttl)
        requests.append((Sent(dialect="anthropic", body=body, **given), at))
    return requests


CHOICES: dict[str, list[Any]] = {
    "model": ["claude-a", "claude-b"],
    "tools": [(), (READ,), (READ, BASH)],
    "system": [None, "Be brief.", "Be long."],
}


@st.composite
def _message(draw: st.DrawFn, texts: list[str]) -> dict[str, object]:
    words = draw(st.sampled_from(texts))
    role = draw(st.sampled_from(["user", "assistant"]))
    if draw(st.booleans()):
        return {"role": role, "content": words}
    return {"role": role, "content": [{"type": "text", "text": each} for each in (words, "d")]}


@given(
    scripts(),
    st.sampled_from([0, 10, 40, 200]),
    st.sampled_from([1, 2, 20]),
)
def test_whatever_is_sent_the_expectation_is_what_comes(
    script: list[tuple[Sent, int]], minimum: int, lookback: int
) -> None:
    run(Marked(minimum=minimum, lookback=lookback), *script)


@given(
    scripts(),
    st.sampled_from([1, 40]),
    st.sampled_from([1, 16]),
    st.sampled_from([5 * MINUTE, None]),
)
def test_whatever_is_sent_an_automatic_cache_is_foreseen_too(
    script: list[tuple[Sent, int]], minimum: int, step: int, lifetime: int | None
) -> None:
    run(Automatic(minimum=minimum, step=step, lifetime=lifetime), *script)


def test_the_link_of_each_request_is_told() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL))
    links: list[object] = []
    for request in (sent(grown(1)), sent(grown(3)), sent(grown(3), tools=(READ,))):
        links.append(accountant.expect(request, 0).link)
        accountant.report(Usage(1, 10))
    assert links == [First(), Extended(2), Changed("tool read", Why.TOOLS)]


def test_a_request_that_failed_leaves_no_trace() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL))
    accountant.expect(sent(grown(5)), 0)
    expected = accountant.expect(sent(grown(3)), 1)
    assert (expected.read, expected.link) == (0, First())


def test_a_report_without_a_request_is_refused() -> None:
    accountant = Accountant()
    accountant.expect(sent(grown(1)), 0)
    accountant.report(Usage(1, 10))
    with pytest.raises(ValueError, match="call `expect` with the request first"):
        accountant.report(Usage(1, 10))


def test_estimates_follow_what_the_provider_reports() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL, counter=Letters()))
    accountant.expect(sent(grown(3)), 0)
    # The provider counts twice what we do.
    accountant.report(Usage(1, 0, 5, 0, 98))
    assert replace(accountant.expect(sent(grown(5)), 1), link=First()) == replace(
        accountant.expect(sent(grown(5)), 1), read=98, written=56, fresh=0, link=First()
    )
    # What stands before a reported prefix is scaled: 7 tokens of a system prompt.
    assert accountant.expect(sent(Body([], "Be brief.")), 2).prompt_tokens == 14


def test_a_server_that_reports_nothing_teaches_nothing() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL, counter=Letters()))
    accountant.expect(sent(grown(3)), 0)
    call = accountant.report(Usage(1))
    assert (call.hit_ratio, call.warning) == (0.0, "")
    assert accountant.expect(sent(grown(5)), 1).read == 49


def test_many_prefixes_do_not_pile_up() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL, counter=Letters()))
    for number in range(300):
        accountant.expect(sent(talk(number + 1)), 0)
        accountant.report(Usage(1, 2 * (number + 20)))
    assert accountant.tally.usage.calls == 300


def test_a_call_is_priced_with_what_the_cache_saved() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL, prices=PRICES))
    accountant.expect(sent(grown(3)), 0)
    wrote = accountant.report(Usage(1, 0, 100, 0, 1_000_000))
    assert wrote.cost == pytest.approx(3.75 + 0.0015)
    assert wrote.saved == pytest.approx(-0.75)
    accountant.expect(sent(grown(3)), 1)
    read = accountant.report(Usage(1, 0, 0, 1_000_000))
    assert (read.cost, read.saved) == (pytest.approx(0.3), pytest.approx(2.7))
    tally = accountant.tally
    assert (tally.hits, tally.misses, tally.hit_ratio) == (1, 1, 0.5)
    assert (tally.usage.cost, tally.saved) == (pytest.approx(4.0515), pytest.approx(1.95))
    assert tally.last == read


def test_an_hour_is_priced_as_an_hour() -> None:
    accountant = Accountant(Terms(support=lambda _: SMALL, prices=PRICES))
    accountant.expect(sent(grown(3), ttl="1h"), 0)
    assert accountant.report(Usage(1, 0, 0, 0, 1_000_000)).cost == pytest.approx(6.0)


def test_without_a_price_there_is_no_cost() -> None:
    for terms in (Terms(support=lambda _: SMALL), Terms(prices=GivenPrices({}))):
        accountant = Accountant(terms)
        accountant.expect(sent(grown(3)), 0)
        call = accountant.report(Usage(1, 10))
        assert (call.cost, call.saved, call.reported.cost) == (None, None, 0.0)
        assert accountant.preview(Shrink(before=0, after=1), 0) is None


def test_the_usual_support_is_that_of_model_and_address() -> None:
    accountant = Accountant(Terms(counter=Letters()))
    accountant.expect(sent(talk(4_096)), 0)
    accountant.report(Usage(1, 0, 0, 0, 1_035))
    assert accountant.expect(sent(talk(4_096)), 1).read == 1_035


def previewed(at: int, support: Support = SMALL, **summarizer: Any) -> Payoff | None:
    accountant = Accountant(Terms(support=lambda _: support, counter=Letters(), prices=PRICES))
    assert accountant.preview(Shrink(before=0, after=1), 0) is None
    # System prompt and talk: 7 + 28,000 letters; the provider counts as we do.
    accountant.expect(sent(talk(28_000)), 0)
    accountant.report(Usage(1, 0, 0, 0, 7_011))
    return accountant.preview(
        Shrink(before=0, after=1_007, summary=500, brief=6_000), at, **summarizer
    )


def test_a_compaction_has_a_price_before_it_is_made() -> None:
    warm = previewed(MINUTE)
    assert warm is not None
    # Reading 6,000 at $3 and writing 500 at $15; 1,000 tokens written at $3.75, not read at $0.30.
    assert warm.summarizing == pytest.approx(0.018 + 0.0075)
    assert warm.rewriting == pytest.approx(1_000 * 3.45 / 1e6)
    assert warm.saving == pytest.approx(6_004 * 0.3 / 1e6)
    # 0.02895 / 0.0018012 = 16.1
    assert warm.break_even == 17


def test_a_cold_cache_makes_a_compaction_cheaper() -> None:
    warm, cold = previewed(MINUTE), previewed(6 * MINUTE)
    assert warm is not None
    assert cold is not None
    assert cold.rewriting == 0
    # 6,004 tokens less are written at $3.75: $0.0225 of the summarizer's $0.0255 at once.
    assert cold.ahead == pytest.approx(0.0255 - 0.022515)
    assert (cold.break_even, cold.cost < warm.cost) == (3, True)


def test_without_a_cache_every_token_saved_is_a_full_one() -> None:
    plain = previewed(MINUTE, Uncached("no"))
    assert plain is not None
    assert plain.saving == pytest.approx(6_004 * 3 / 1e6)
    assert plain.break_even == 2


def test_another_model_may_write_the_summary() -> None:
    cheap = Price(input=0, output=0, cache_read=0, cache_write_5m=0, cache_write_1h=0)
    made = previewed(MINUTE, summarizer=cheap)
    assert made is not None
    assert (made.summarizing, made.break_even) == (0, 2)
