"""Anti-thrashing: two poor passes stop automatic compaction and name the cause."""

from holdfast.compaction import Cause, Folded, Progress, Report, SummaryReport, Unchanged, advice


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
    assert progress.blocked is Cause.DENSE_SESSION
    assert "Start fresh" in advice(Cause.DENSE_SESSION)


def test_a_summary_as_large_as_what_it_replaced_is_told_apart() -> None:
    progress = Progress().after(folded(1_000, 980, 400)).after(folded(1_000, 980, 400))
    assert progress.blocked is Cause.POOR_SUMMARY
    assert "summary model" in advice(Cause.POOR_SUMMARY)


def test_a_pass_that_changed_nothing_is_a_poor_one() -> None:
    nothing = Unchanged((), Report(tokens_before=10, tokens_after=10), "dense")
    assert Progress().after(nothing).after(nothing).blocked is Cause.DENSE_SESSION


def test_a_good_pass_clears_the_count() -> None:
    progress = Progress().after(folded(1_000, 950, 10)).after(folded(1_000, 900, 10))
    assert progress == Progress()


def test_an_empty_transcript_saves_nothing() -> None:
    assert Report().saved == 0.0


def test_a_window_that_has_grown_by_a_tenth_is_tried_again() -> None:
    stopped = Progress((Cause.DENSE_SESSION, Cause.DENSE_SESSION), tokens=1_000)
    assert stopped.at(1_099) is stopped
    assert stopped.at(1_100) == Progress()
    once = Progress((Cause.DENSE_SESSION,), tokens=1_000)
    assert once.at(5_000) is once
