"""Puts events together the way Pi divides a session: an answer is one entry, so is a compaction.

Other agents tell one answer in several pieces with results between them, and a summary apart from
the compaction that it belongs to. Only the answer or the summary at hand is held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.chronicle import Begun, Folded, Noted, Rewound, Told
from holdfast.formats.document import Problem
from holdfast.formats.summaries import folds, with_lone_summaries
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.chronicle import Event

__all__ = ["Answer", "Compaction", "Gathered", "gathered"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model, whole."""

    told: Told
    pieces: tuple[str, ...]
    """The keys of the messages that it was told in."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A summary with the compaction that it belongs to."""

    told: Told
    folded: Folded


Gathered: TypeAlias = Begun | Noted | Told | Folded | Rewound | Answer | Compaction


def gathered(events: Iterable[Event]) -> Iterator[Gathered]:
    """Return the events of the first conversation, its branches among them, put together."""
    desk = _Desk()
    for event in _of_one(with_lone_summaries(events)):
        yield from desk.take(event)
    yield from desk.flush()


def _of_one(events: Iterable[Event]) -> Iterator[Begun | Noted | Told | Folded | Rewound]:
    """Leave out sub-agents and other conversations, which have no place in one file of Pi's."""
    strands: set[str] = set()
    for event in events:
        if isinstance(event, Problem):
            continue
        if isinstance(event, Begun):
            is_branch = event.fork is Fork.BRANCH and event.of in strands
            if is_branch or not strands:
                strands.add(event.strand)
        if event.strand in strands:
            yield event


class _Desk:
    """Holds the answer or the summary at hand."""

    def __init__(self) -> None:
        self._summary: Told | None = None
        self._answer: Answer | None = None
        self._results: list[Told] = []

    def take(self, event: Begun | Noted | Told | Folded | Rewound) -> Iterator[Gathered]:
        """Return what is complete now."""
        summary = self._summary
        if summary is not None and folds(event, summary):
            self._summary = None
            yield Compaction(summary, event)
            return
        match event:
            case Told() if self._goes_on(event):
                self._add(event)
            case Told():
                yield from self.flush()
                if event.message.summary is not None:
                    self._summary = event
                elif event.message.role is Role.ASSISTANT:
                    self._answer = Answer(event, (event.key,))
                else:
                    yield event
            case _:
                yield from self.flush()
                yield event

    def flush(self) -> Iterator[Gathered]:
        """Return what was held: nothing more of it will come."""
        held = (self._answer, *self._results, self._summary)
        self._summary, self._answer, self._results = None, None, []
        yield from (each for each in held if each is not None)

    def _goes_on(self, event: Told) -> bool:
        answer = self._answer
        if answer is None or answer.told.strand != event.strand:
            return False
        if event.message.role is Role.TOOL:
            return True
        reply = answer.told.native.reply
        is_piece = event.message.role is Role.ASSISTANT and reply == event.native.reply
        return is_piece and bool(reply)

    def _add(self, event: Told) -> None:
        answer = self._answer
        if answer is None or event.message.role is Role.TOOL:
            self._results.append(event)
            return
        told = answer.told
        parts = (*told.message.parts, *event.message.parts)
        usages = [each for each in (told.native.usage, event.native.usage) if each is not None]
        usage = sum(usages[1:], usages[0]) if usages else None
        whole = replace(
            told,
            message=replace(told.message, parts=parts),
            native=replace(told.native, usage=usage),
        )
        self._answer = Answer(whole, (*answer.pieces, event.key))
