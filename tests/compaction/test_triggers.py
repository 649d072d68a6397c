"""When compaction is due, the one warning before it, and when two poor passes stop it."""

import pytest

from holdfast.compaction import (
    Folded,
    Overhead,
    Policy,
    Preflight,
    Pressure,
    Progress,
    Report,
    StallCause,
    SummaryReport,
    Unchanged,
    advice,
    due,
    hygiene_due,
)
from holdfast.testing.builders import system
from holdfast.tokens import Load, Scale
from holdfast.transcript import Message, Role, Summary, Text

POLICY = Policy(context_length=200_000, max_images=5)


def test_reaching_the_threshold_is_due_and_each_other_budget_too() -> None:
    assert due(Load(99_999), POLICY) == ()
    assert due(Load(100_000), POLICY) == ("100,000 of 100,000 tokens",)
    assert due(Load(1, 34_200_000, 6), POLICY) == (
        "34,200,000 of 20,000,000 bytes",
        "6 of 5 images",
    )


def test_hygiene_needs_a_few_messages_and_most_of_the_window() -> None:
    assert hygiene_due(Load(170_000), 4, POLICY)
    assert not hygiene_due(Load(169_999), 4, POLICY)
    assert not hygiene_due(Load(170_000), 3, POLICY)


def test_the_warning_comes_once_with_the_figures_and_again_after_relief() -> None:
    gauge, warning = Pressure().read(42_500, 50_000)
    assert warning == "Context is 85% to compaction (42,500/50,000 tokens)"
    assert gauge.read(45_000, 50_000) == (gauge, None)
    relieved, nothing = gauge.read(42_499, 50_000)
    assert (relieved, nothing) == (Pressure(), None)


def test_a_pass_beside_heavy_tools_has_gained_something_if_there_is_room_afterwards() -> None:
    policy = Policy(context_length=32_000, overhead=24_000)
    report = Report(tokens_before=4_000, tokens_after=3_500)
    due_again = Progress().after(Unchanged((), report, ""), policy=policy)
    assert due_again.poor == (StallCause.HEAVY_TOOLS,)
    assert "Use fewer of them" in advice(StallCause.HEAVY_TOOLS)
    relieved = Report(tokens_before=4_000, tokens_after=2_000)
    assert Progress().after(Unchanged((), relieved, ""), policy=policy) == Progress()


def test_a_request_that_was_proved_to_fit_is_not_judged_by_estimate() -> None:
    proved = Preflight().proved(real=60_000, rough=110_000)
    assert proved.expected(110_000) == 60_000
    assert proved.expected(115_000) == 65_000


def test_what_does_not_grow_with_the_messages_is_overhead() -> None:
    known = Overhead()
    for rough in range(400, 9_000, 400):
        known = known.after(real=19_000 + round(1.2 * rough), rough=rough)
    assert abs(known.tokens - 19_000) < 50
    # A report of nothing teaches nothing.
    assert known.after(real=0, rough=500) == known


def test_an_estimate_that_is_wrong_by_a_share_is_no_overhead() -> None:
    for ratio in (0.5, 1.0, 3.0):
        known = Overhead()
        for rough in range(400, 9_000, 400):
            known = known.after(real=round(ratio * rough), rough=rough)
        assert known.tokens <= 5


def test_a_first_report_that_no_estimate_explains_is_overhead_at_once() -> None:
    assert Overhead().after(real=19_300, rough=300).tokens == 19_000
    assert Overhead().after(real=900, rough=300).tokens == 0
    assert Overhead().after(real=100, rough=8).tokens == 0


def test_overhead_that_went_away_is_forgotten() -> None:
    known = Overhead(19_000).after(real=5_000, rough=4_000)
    assert known.tokens <= 5_000 - 0.3 * 4_000


def test_without_proof_the_estimate_counts() -> None:
    assert Preflight().expected(110_000) == 110_000
    assert Preflight().proved(real=0, rough=5).expected(7) == 7
    assert Preflight(60, 100).expected(50) == 50


def folded(before: int, after: int, summary: int) -> Folded:
    report = Report(
        tokens_before=before,
        tokens_after=after,
        summary=SummaryReport("model", tokens=summary),
    )
    return Folded((), report)


def test_one_poor_pass_is_forgiven() -> None:
    assert Progress().after(folded(1_000, 950, 10)).blocked is None


def test_two_poor_passes_in_a_row_of_a_dense_session_stop() -> None:
    progress = Progress().after(folded(1_000, 950, 10)).after(folded(1_000, 950, 10))
    assert progress.blocked is StallCause.DENSE_SESSION
    assert "Start fresh" in advice(StallCause.DENSE_SESSION)


def test_a_summary_as_large_as_what_it_replaced_is_told_apart() -> None:
    progress = Progress().after(folded(1_000, 980, 400)).after(folded(1_000, 980, 400))
    assert progress.blocked is StallCause.POOR_SUMMARY
    assert "summary model" in advice(StallCause.POOR_SUMMARY)


@pytest.mark.parametrize(
    ("prompt", "request_", "cause", "said"),
    [
        (10, 9_000, StallCause.HEAVY_REQUEST, "newest user message"),
        (9_000, 10, StallCause.HEAVY_PROMPT, "system prompt"),
        (10, 10, StallCause.POOR_SUMMARY, "summary model"),
    ],
)
def test_the_advice_fits_what_fills_the_window(
    prompt: int, request_: int, cause: StallCause, said: str
) -> None:
    summary = Summary("it was told at length " * 500)
    shown = (
        system("Be good. " * prompt),
        Message(Role.USER, (summary, Text("Read this. " * request_))),
    )
    weight = Scale().total(shown)
    report = Report(
        tokens_before=weight + 10,
        tokens_after=weight,
        summary=SummaryReport("model", tokens=Scale().text(summary.text)),
    )
    stalled = Progress().after(Folded(shown, report)).after(Folded(shown, report))
    assert stalled.blocked is cause
    assert said in advice(cause)


def test_a_pass_that_changed_nothing_is_a_poor_one() -> None:
    nothing = Unchanged((), Report(tokens_before=10, tokens_after=10), "dense")
    assert Progress().after(nothing).after(nothing).blocked is StallCause.DENSE_SESSION


def test_a_good_pass_clears_the_count() -> None:
    progress = Progress().after(folded(1_000, 950, 10)).after(folded(1_000, 900, 10))
    assert progress == Progress()


def test_an_empty_transcript_saves_nothing() -> None:
    assert Report().saved == 0.0


def test_a_window_that_has_grown_by_a_tenth_is_tried_again() -> None:
    stopped = Progress((StallCause.DENSE_SESSION, StallCause.DENSE_SESSION), tokens=1_000)
    assert stopped.at(1_099) is stopped
    assert stopped.at(1_100) == Progress()
    once = Progress((StallCause.DENSE_SESSION,), tokens=1_000)
    assert once.at(5_000) is once
