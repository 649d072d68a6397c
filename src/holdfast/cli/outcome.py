"""The outcome of a compaction in a few lines for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span
from holdfast.views.words import clean, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.compressing import Compressed
    from holdfast.compaction import CompactionReport, PrunedCounts, Report
    from holdfast.summary import Audit

__all__ = ["drawn", "figures"]

_STYLES = {
    "folded": "bold green",
    "pruned_only": "bold green",
    "unchanged": "bold yellow",
    "abandoned": "bold red",
}
_WORDS = {
    "folded": "folded",
    "pruned_only": "pruned, which was enough",
    "unchanged": "unchanged",
    "abandoned": "abandoned, nothing was written",
}
_PRUNED = {
    "summarised": ("result in one line", "results in one line"),
    "deduplicated": ("duplicate", "duplicates"),
    "arguments": ("long argument", "long arguments"),
    "media": ("image", "images"),
    "truncated": ("oversized result", "oversized results"),
}
_PROBLEMS_SHOWN = 3
_LABEL = 12
_WIDEST = 80


def drawn(name: str, compressed: Compressed, width: int = _WIDEST) -> list[Line]:
    """Return what happened to a file, with its figures and warnings."""
    report = compressed.report
    reason = f": {report.reason}" if report.reason else ""
    lines: list[Line] = [
        (
            Span(f"{name} ({compressed.format}): "),
            Span(_WORDS[report.outcome], _STYLES[report.outcome]),
            Span(reason),
        )
    ]
    lines += figures(report, width)
    for warning in report.warnings:
        lines += _labeled("warning", warning, width, "yellow")
    for place in compressed.left_out[:_PROBLEMS_SHOWN]:
        lines += _labeled("left out", place, width, "yellow")
    more = len(compressed.left_out) - _PROBLEMS_SHOWN
    if more > 0:
        lines += _labeled("left out", f"{more:,} more", width, "yellow")
    return lines


def figures(report: CompactionReport, width: int = _WIDEST) -> list[Line]:
    """Return the figures of a compaction, one theme after the other."""
    return [line for label, words in _themes(report) for line in _labeled(label, words, width)]


def _labeled(label: str, words: str, width: int, style: str = "dim") -> list[Line]:
    """Return words beside their label, in as many lines of at most 80 columns as they take."""
    import textwrap

    room = min(width, _WIDEST) - _LABEL
    first, *rest = textwrap.wrap(clean(words), room) or [""]
    indent = " " * _LABEL
    return [
        (Span(f"  {label:<{_LABEL - 2}}", style), Span(first)),
        *((Span(indent), Span(line)) for line in rest),
    ]


def _themes(report: CompactionReport) -> Iterator[tuple[str, str]]:
    found = report.figures
    if report.outcome in ("unchanged", "abandoned"):
        yield (
            "size",
            (
                f"{counted(found.messages_before, 'message')}, "
                f"{counted(found.tokens_before, 'token')}"
            ),
        )
        return
    yield "tokens", f"{found.tokens_before:,} -> {found.tokens_after:,} ({_change(found)})"
    yield "messages", f"{found.messages_before:,} -> {found.messages_after:,}{_parts(found)}"
    if found.pruned.any:
        yield "pruned", _pruned(found.pruned)
    if found.summary is not None:
        by = f" by {found.summary.model}" if found.summary.model else ""
        yield "record", f"{found.summary.origin}{by}, {found.summary.tokens:,} tokens"
    if found.audit is not None and found.audit.statements:
        yield "audit", _audited(found.audit)


def _audited(audit: Audit) -> str:
    kept, asked = audit.retained, audit.statements
    kinds = ", ".join(f"{kind} {there:,}/{wanted:,}" for kind, wanted, there in audit.kinds)
    return f"{kept:,} of {asked:,} statements are still in the window ({kept / asked:.0%}): {kinds}"


def _change(found: Report) -> str:
    return f"{-found.saved:+.0%}"


def _parts(found: Report) -> str:
    if not found.folded:
        return ""
    return f" (head {found.head:,}, folded {found.folded:,}, tail {found.tail:,})"


def _pruned(counts: PrunedCounts) -> str:
    pairs = ((getattr(counts, name), words) for name, words in _PRUNED.items())
    return ", ".join(f"{count:,} {words[count != 1]}" for count, words in pairs if count)
