"""Reads the log of a mini-swe-agent that summarizes its context: one compression a line.

A line holds the whole window as text, and the summary that was made of it. Each window begins as
the one before left it, so a line tells what is new in it, its summary, and what the agent goes on
with: the first two messages, the summary and the last four, as every log at hand shows. Where the
next window begins otherwise, what it does not show any more is told as taken back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Rewound, Told
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import SessionReader, Sign, summarized
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["MINI_SWE_AGENT_LOG"]

_FIELDS = frozenset(["input", "output", "message_count", "step_count", "model_name"])
_HEADING = re.compile(r"^\[Message (\d+)\] (system|user|assistant):$", re.MULTILINE)
_MARK = "[Previous work summary]"
_FIRST, _LAST = 2, 4
"""How many messages a compression leaves at either end."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One message of a window."""

    role: Role
    text: str


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if entry.keys() >= _FIELDS and string(entry.get("input")).startswith("[Message 0] "):
            return Sign("a compression with the window before it and the summary after it")
    return None


def _read(records: Iterable[Record]) -> Iterator[Event]:
    desk = _Desk()
    for record in records:
        yield from desk.take(mapping(record.value), record)


class _Desk:
    """Holds the window as it was left, and nothing else."""

    def __init__(self) -> None:
        self._window: list[tuple[str, _Line]] = []
        self._is_begun = False
        self._count = 0

    def take(self, entry: Mapping[str, object], record: Record) -> Iterator[Event]:
        """Tell one compression."""
        at = moment(entry.get("timestamp"))
        if not self._is_begun:
            self._is_begun = True
            yield Begun(strand=MAIN, line=record.line, about=_about(entry))
        lines = list(_lines(string(entry.get("input"))))
        if not lines:
            yield Problem(record.line, "a compression without messages", record.file)
            return
        known = _same(self._window, lines)
        if known < len(self._window):
            self._window = self._window[:known]
            shows = tuple(key for key, _ in self._window)
            yield Rewound(strand=MAIN, line=record.line, shows=shows, at=at)
        for line in lines[known:]:
            yield self._tell(line, record.line, Native(at=at))
        yield from self._fold(entry, record.line, at)

    def _tell(self, line: _Line, place: int, native: Native) -> Told:
        key = f"#{place}.{self._count}"
        self._count += 1
        self._window.append((key, line))
        message = Message(line.role, (Text(line.text),))
        return Told(strand=MAIN, line=place, key=key, message=message, native=native)

    def _fold(self, entry: Mapping[str, object], place: int, at: int | None) -> Iterator[Event]:
        text = string(entry.get("output")).strip()
        key = f"#{place}.{self._count}"
        self._count += 1
        message = summarized(text, "mini-swe-agent")
        yield Told(strand=MAIN, line=place, key=key, message=message, native=Native(at=at))
        rest = self._window[_FIRST:]
        summary = (key, _Line(Role.USER, f"{_MARK}\n{text}"))
        self._window = [*self._window[:_FIRST], summary, *rest[-_LAST:]]
        shows = tuple(name for name, _ in self._window)
        yield Folded(strand=MAIN, line=place, id=f"{key}/fold", shows=shows, at=at, trigger="auto")


def _about(entry: Mapping[str, object]) -> About:
    return About(
        title=string(entry.get("instance_name")),
        more={"summarizer": string(entry.get("model_name"))},
    )


def _lines(text: str) -> Iterator[_Line]:
    """Return the messages of a window; headings count up, and others are words of a message."""
    headings: list[re.Match[str]] = []
    for found in _HEADING.finditer(text):
        if found.group(1) == str(len(headings)):
            headings.append(found)
    ends = (*(found.start() for found in headings[1:]), len(text))
    for found, end in zip(headings, ends, strict=False):
        yield _Line(Role(found.group(2)), text[found.end() : end].strip())


def _same(window: Sequence[tuple[str, _Line]], lines: Sequence[_Line]) -> int:
    """Return how many messages of a window stand at the beginning of the next."""
    pairs = zip(window, lines, strict=False)
    differing = (place for place, ((_, old), line) in enumerate(pairs) if old != line)
    return next(differing, min(len(window), len(lines)))


MINI_SWE_AGENT_LOG = SessionReader(
    format=Format(
        "mini-swe-agent-log", "mini-swe-agent compression log, JSONL", "openai", writable=False
    ),
    recognize=_recognize,
    read=_read,
)
