"""Compacts the content of one file: read, compact, write in memory, check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.compaction import Abandoned, Unchanged
from holdfast.engines import Request
from holdfast.errors import InvalidTranscript
from holdfast.formats import ReadOnlyFormat, live, read, write
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from holdfast.cli.files import Input
    from holdfast.engines import CompactionReport, Engine
    from holdfast.formats import Document, Problem
    from holdfast.transcript import Transcript

__all__ = ["Compressed", "Wish", "compress_input", "window_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a file is to be compressed."""

    format: str = "auto"
    to: str | None = None
    focus: str = ""
    force: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Compressed:
    """What came out."""

    report: CompactionReport
    format: str
    """What the input was."""
    content: bytes | None
    """What is to be written; None when the compaction was abandoned."""
    problems: tuple[Problem, ...] = ()
    """Lines of the input that could not be read."""


def compress_input(source: Input, wish: Wish, engine: Engine) -> Compressed:
    """Compact one input.

    Raises:
        HoldfastError: when it cannot be read or written, or the result would break a rule of
            the provider it is for.
    """
    document = read(source.content, format=wish.format)
    to = None if wish.to == document.format else wish.to
    if document.envelope is None and to is None and not wish.dry_run:
        # Raised before a model is asked: the work would be for nothing.
        raise ReadOnlyFormat(document.format, tuple(DIALECTS))
    report = engine.compact(window_of(document), Request(focus=wish.focus, force=wish.force))
    content = None if wish.dry_run else _written(source, document, report, to)
    return Compressed(report, document.format, content, document.problems)


def window_of(document: Document) -> Transcript:
    """Return what the model sees: a session file also keeps what it does not see any more."""
    return live(document.transcript) if document.envelope is None else document.transcript


def _written(
    source: Input, document: Document, report: CompactionReport, to: str | None
) -> bytes | None:
    match report.result:
        case Abandoned():
            return None
        case Unchanged() if to is None:
            return source.content
        case _:
            transcript = report.result.transcript
            _check(transcript, to or document.dialect)
            return write(document, transcript, to=to).encode()


def _check(transcript: Transcript, name: str) -> None:
    """Refuse to write what the provider would refuse."""
    dialect = DIALECTS[name]
    violations = dialect.validate(dialect.encode(transcript))
    if violations:
        first = violations[0]
        raise InvalidTranscript(
            f"the result would break a rule of {name}, so nothing was written: "
            f"message {first.index}, {first.rule}: {first.message}",
            violations,
        )
