"""What a person is told after a compression they asked for, in the same words on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from holdfast.compaction.report import Abandoned, Folded, Pruned, Unchanged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.compaction.report import Report
    from holdfast.compaction.result import CompactionReport

__all__ = ["feedback"]


def feedback(report: CompactionReport) -> tuple[str, ...]:
    """Return the sentences of one compression: what happened, the sizes, what to know.

    A pass that did nothing says so first. An estimate that rose although messages fell is
    explained, because it looks like a mistake and is none.
    """
    return (*_happened(report), *(f"Warning: {each}." for each in map(_bare, report.warnings)))


def _happened(report: CompactionReport) -> Iterator[str]:
    figures = report.figures
    size = f"{_messages(figures.messages_before)}, about {figures.tokens_before:,} tokens"
    match report.result:
        case Folded() | Pruned():
            yield from _sizes(figures)
        case Unchanged(reason=reason):
            yield f"Nothing was compressed: {_bare(reason)}."
            yield f"The conversation is as it was: {size}."
        case Abandoned(reason=reason):
            yield f"The compression was given up: {_bare(reason)}."
            yield f"The conversation is as it was: {_messages(figures.messages_before)}."
        case _:
            assert_never(report.result)


def _sizes(figures: Report) -> Iterator[str]:
    before, after = figures.messages_before, figures.messages_after
    if before == after:
        yield f"Compressed: {_messages(before)} as before, some of them shorter."
    else:
        yield f"Compressed: {before:,} -> {_messages(after)}."
    yield (
        f"Estimate: about {figures.tokens_before:,} -> {figures.tokens_after:,} tokens "
        f"({-figures.saved:+.0%})."
    )
    if after < before and figures.tokens_after > figures.tokens_before:
        yield (
            "The estimate rose although messages fell: the record weighs more than the few short "
            "messages that it stands for."
        )


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"


def _bare(sentence: str) -> str:
    return sentence.strip().removesuffix(".")
