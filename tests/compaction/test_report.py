"""What a person is told after a compression they asked for."""

from holdfast.compaction import (
    Abandoned,
    CompactionReport,
    Folded,
    Outcome,
    Pruned,
    Report,
    Unchanged,
)
from holdfast.compaction.report import feedback


def told(result: Outcome, *notes: str) -> tuple[str, ...]:
    return feedback(CompactionReport(result, notes=notes))


def figures(messages: tuple[int, int], tokens: tuple[int, int]) -> Report:
    return Report(
        messages_before=messages[0],
        messages_after=messages[1],
        tokens_before=tokens[0],
        tokens_after=tokens[1],
    )


def test_counts_and_estimate_are_told_before_and_after() -> None:
    assert told(Folded((), figures((1_200, 40), (90_000, 30_000)))) == (
        "Compressed: 1,200 -> 40 messages.",
        "Estimate: about 90,000 -> 30,000 tokens (-67%).",
    )


def test_one_message_is_not_messages() -> None:
    assert told(Folded((), figures((3, 1), (90, 30))))[0] == "Compressed: 3 -> 1 message."


def test_pruning_leaves_the_count_and_says_so() -> None:
    assert told(Pruned((), figures((40, 40), (900, 300)))) == (
        "Compressed: 40 messages as before, some of them shorter.",
        "Estimate: about 900 -> 300 tokens (-67%).",
    )


def test_an_estimate_that_rose_although_messages_fell_is_explained() -> None:
    first, second, third = told(Folded((), figures((9, 4), (100, 130))))
    assert (first, second) == (
        "Compressed: 9 -> 4 messages.",
        "Estimate: about 100 -> 130 tokens (+30%).",
    )
    assert third.startswith("The estimate rose although messages fell: ")


def test_an_estimate_that_rose_with_its_messages_is_not_explained_away() -> None:
    assert len(told(Folded((), figures((4, 4), (100, 130))))) == 2


def test_nothing_done_is_said_plainly() -> None:
    assert told(Unchanged((), figures((2, 2), (50, 50)), "it fits already.")) == (
        "Nothing was compressed: it fits already.",
        "The conversation is as it was: 2 messages, about 50 tokens.",
    )


def test_a_compression_that_was_given_up_says_why() -> None:
    assert told(Abandoned((), figures((2, 2), (0, 0)), "another one is running")) == (
        "The compression was given up: another one is running.",
        "The conversation is as it was: 2 messages.",
    )


def test_warnings_come_last() -> None:
    assert told(Folded((), figures((9, 4), (100, 30))), "the model was given up.")[-1] == (
        "Warning: the model was given up."
    )
