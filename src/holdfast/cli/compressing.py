"""Compacts the content of one file, and draws what happened to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.cli.screen import Styled
from holdfast.compaction import Abandoned, Request, Unchanged
from holdfast.compaction.repair import repair
from holdfast.errors import InvalidTranscript
from holdfast.formats import FORMATS, WRITABLE, write
from holdfast.views.words import clean, counted
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.reading import OpenedInput
    from holdfast.cli.screen import Line
    from holdfast.compaction import CompactionReport
    from holdfast.engines import Engine
    from holdfast.formats import Document
    from holdfast.transcript import Transcript

__all__ = [
    "Compressed",
    "FileCompression",
    "compress_input",
    "compressed_drawn",
    "figures",
    "window_of",
]

_INSTEAD = "openai"
"""How a session file is written whose own format cannot be."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCompression:
    """How a file is to be compressed."""

    format: str = "auto"
    to: str | None = None
    focus: str = ""
    force: bool = False
    dry_run: bool = False
    conversation: int | None = None
    """Which of several conversations is meant, counted from 1."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """What came out."""

    report: CompactionReport
    format: str
    """What the input was."""
    content: bytes | None
    """What is to be written; None when the compaction was abandoned."""
    left_out: tuple[str, ...] = ()
    """What of the input is in no output: where it stood, and why."""

    def as_json(self) -> dict[str, object]:
        """Return the report, with what was left out among its warnings."""
        told = [f"left out: {each}" for each in self.left_out]
        return {**self.report.as_json(), "warnings": [*self.report.warnings, *told]}


def compress_input(
    source: OpenedInput, document: Document, wish: FileCompression, engine: Engine
) -> Compressed:
    """Compact one input, of which the document is the conversation that is meant.

    Raises:
        HoldfastError: when it cannot be written, or the result would break a rule of
            the provider it is for.
    """
    to = None if wish.to == document.format else wish.to
    before = window_of(document)
    if document.envelope is not None:
        # A list of messages says of nothing who wrote it; a session file does.
        before = engine.recognized(before)
    report = engine.compact(before, Request(focus=wish.focus, force=wish.force))
    if to is None and not (document.envelope is not None or document.format in WRITABLE):
        to = _INSTEAD
        told = f"{document.format} can be read, not written: this is {to}; --to chooses another"
        if document.format not in FORMATS:
            told = f"a {document.format} is written as {to}; --to chooses another"
        report = replace(report, notes=(*report.notes, told))
    content = None
    if not wish.dry_run and not isinstance(report.result, Abandoned):
        same = isinstance(report.result, Unchanged) and to is None and wish.conversation is None
        content = source.content if same else None
        content = content or _written(document, before, report, to)
    return Compressed(report, document.format, content, tuple(_left_out(document, to)))


def window_of(document: Document) -> Transcript:
    """Return what the model sees: a session file also keeps what it does not see any more."""
    return document.live


def _left_out(document: Document, to: str | None) -> Iterator[str]:
    yield from (f"line {each.line}: {each.reason}" for each in document.problems)
    if to is None or document.envelope is None:
        return
    total = len(document.envelope.messages)
    for earlier, aside in enumerate(document.envelope.asides):
        index = total - aside.following + earlier
        yield f"message {index}: {to} has no role {aside.value.get('role')!r}"


def _written(
    document: Document, before: Transcript, report: CompactionReport, to: str | None
) -> bytes:
    # A call that was interrupted has no result, which no provider takes in the middle.
    transcript = report.result.transcript
    if to or document.envelope is None:
        transcript = repair(transcript)
    name = FORMATS[to].dialect if to else document.dialect
    # Refuse to write what the provider would refuse, save for rules that the input broke.
    dialect = DIALECTS[name]
    violations = dialect.validate(dialect.encode(transcript))
    if violations:
        broken = {each.rule for each in dialect.validate(dialect.encode(before))}
        fresh = tuple(each for each in violations if each.rule not in broken)
        if fresh:
            first = fresh[0]
            raise InvalidTranscript(
                f"the result would break a rule of {name}, so nothing was written: "
                f"message {first.index}, {first.rule}: {first.message}",
                fresh,
            )
    return write(document, transcript, to=to).encode()


def compressed_drawn(name: str, compressed: Compressed, width: int = _WIDEST) -> list[Line]:
    """Return what happened to a file, with its figures and warnings."""
    report = compressed.report
    reason = f": {report.reason}" if report.reason else ""
    lines: list[Line] = [
        (
            Styled(f"{name} ({compressed.format}): "),
            Styled(_WORDS[report.outcome], _STYLES[report.outcome]),
            Styled(reason),
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
        (Styled(f"  {label:<{_LABEL - 2}}", style), Styled(first)),
        *((Styled(indent), Styled(line)) for line in rest),
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
    yield "tokens", f"{found.tokens_before:,} -> {found.tokens_after:,} ({-found.saved:+.0%})"
    parts = ""
    if found.folded:
        parts = f" (head {found.head:,}, folded {found.folded:,}, tail {found.tail:,})"
    yield "messages", f"{found.messages_before:,} -> {found.messages_after:,}{parts}"
    if found.pruned.any:
        pairs = ((getattr(found.pruned, name), words) for name, words in _PRUNED.items())
        words = (f"{count:,} {words[count != 1]}" for count, words in pairs if count)
        yield "pruned", ", ".join(words)
    if found.summary is not None:
        by = f" by {found.summary.model}" if found.summary.model else ""
        yield "record", f"{found.summary.origin}{by}, {found.summary.tokens:,} tokens"
    if found.audit is not None and found.audit.statements:
        kept, asked = found.audit.retained, found.audit.statements
        kinds = ", ".join(
            f"{kind} {there:,}/{wanted:,}" for kind, wanted, there in found.audit.kinds
        )
        share = f"{kept:,} of {asked:,} statements are still in the window ({kept / asked:.0%})"
        yield "audit", f"{share}: {kinds}"
