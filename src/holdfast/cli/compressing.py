"""Compacts the content of one file: read, compact, write in memory, check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction import Abandoned, Request, Unchanged
from holdfast.compaction.repair import repair
from holdfast.errors import InvalidTranscript
from holdfast.formats import FORMATS, WRITABLE, write
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.reading import Opened
    from holdfast.compaction import CompactionReport
    from holdfast.engines import Engine
    from holdfast.formats import Document
    from holdfast.transcript import Transcript

__all__ = ["Compressed", "Wish", "compress_input", "window_of"]

_INSTEAD = "openai"
"""How a session file is written whose own format cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
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


def compress_input(source: Opened, wish: Wish, engine: Engine) -> Compressed:
    """Compact one input.

    Raises:
        HoldfastError: when it cannot be read or written, or the result would break a rule of
            the provider it is for.
    """
    document = source.document(wish.format, wish.conversation)
    to = None if wish.to == document.format else wish.to
    before = window_of(document)
    if document.envelope is not None:
        # A list of messages says of nothing who wrote it; a session file does.
        before = engine.recognized(before)
    report = engine.compact(before, Request(focus=wish.focus, force=wish.force))
    if to is None and not _is_writable(document):
        to = _INSTEAD
        told = f"{document.format} can be read, not written: this is {to}; --to chooses another"
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


def _is_writable(document: Document) -> bool:
    return document.envelope is not None or document.format in WRITABLE


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
    _check(transcript, before, FORMATS[to].dialect if to else document.dialect)
    return write(document, transcript, to=to).encode()


def _check(transcript: Transcript, before: Transcript, name: str) -> None:
    """Refuse to write what the provider would refuse, save for rules that the input broke."""
    dialect = DIALECTS[name]
    violations = dialect.validate(dialect.encode(transcript))
    if not violations:
        return
    broken = {each.rule for each in dialect.validate(dialect.encode(before))}
    fresh = tuple(each for each in violations if each.rule not in broken)
    if fresh:
        first = fresh[0]
        raise InvalidTranscript(
            f"the result would break a rule of {name}, so nothing was written: "
            f"message {first.index}, {first.rule}: {first.message}",
            fresh,
        )
