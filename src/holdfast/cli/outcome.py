"""The outcome of a compaction in a few lines for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.compressing import Compressed
    from holdfast.compaction import PrunedCounts, Report
    from holdfast.engines import CompactionReport

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


def drawn(name: str, compressed: Compressed) -> list[Line]:
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
    lines += figures(report)
    for warning in report.warnings:
        lines.append((Span("  warning   ", "yellow"), Span(warning)))
    for problem in compressed.problems[:_PROBLEMS_SHOWN]:
        lines.append(
            (Span("  left out  ", "yellow"), Span(f"line {problem.line}: {problem.reason}"))
        )
    more = len(compressed.problems) - _PROBLEMS_SHOWN
    if more > 0:
        lines.append((Span("  left out  ", "yellow"), Span(f"{more:,} lines more")))
    return lines


def figures(report: CompactionReport) -> list[Line]:
    """Return the figures of a compaction, one line a theme."""
    return [(Span(f"  {label:<10}", "dim"), Span(words)) for label, words in _themes(report)]


def _themes(report: CompactionReport) -> Iterator[tuple[str, str]]:
    found = report.figures
    if report.outcome in ("unchanged", "abandoned"):
        yield "size", f"{found.messages_before:,} messages, {found.tokens_before:,} tokens"
        return
    yield "tokens", f"{found.tokens_before:,} -> {found.tokens_after:,} ({_change(found)})"
    yield "messages", f"{found.messages_before:,} -> {found.messages_after:,}{_parts(found)}"
    if found.pruned.any:
        yield "pruned", _pruned(found.pruned)
    if found.summary is not None:
        by = f" by {found.summary.model}" if found.summary.model else ""
        yield "record", f"{found.summary.origin}{by}, {found.summary.tokens:,} tokens"
    if found.audit is not None and found.audit.facts:
        facts = found.audit.facts
        kept, recorded = found.audit.retained, found.audit.retained_by_summary
        yield (
            "audit",
            f"{kept:,} of {facts:,} facts are still in the window ({kept / facts:.0%}); "
            f"{recorded:,} of them in the record itself",
        )


def _change(found: Report) -> str:
    return f"{-found.saved:+.0%}"


def _parts(found: Report) -> str:
    if not found.folded:
        return ""
    return f" (head {found.head:,}, folded {found.folded:,}, tail {found.tail:,})"


def _pruned(counts: PrunedCounts) -> str:
    pairs = ((getattr(counts, name), words) for name, words in _PRUNED.items())
    return ", ".join(f"{count:,} {words[count != 1]}" for count, words in pairs if count)
