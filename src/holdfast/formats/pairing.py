"""Puts what a session file says into an order that every provider accepts.

Agents log results when they arrive: after other lines, in another order than the calls, twice,
or without the call. Here each result goes directly after the message that holds its call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.document import Problem
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.transcript import Part, Transcript

__all__ = ["Reading", "Said", "arrange"]


@dataclass(frozen=True, slots=True)
class Said:
    """A message and the line it was read from."""

    line: int
    message: Message


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of a session file."""

    transcript: Transcript
    problems: tuple[Problem, ...] = ()


def arrange(said: Iterable[Said], problems: Sequence[Problem] = ()) -> Reading:
    """Return a transcript that is valid but for calls that nobody answered.

    Call ids become unique, because some agents count from one again and providers refuse a
    repeated id. A result without a call is left out and reported; so is a second result.
    """
    desk = _Desk()
    for each in said:
        desk.take(each)
    found = sorted((*problems, *desk.problems), key=lambda problem: problem.line)
    return Reading(desk.transcript(), tuple(found))


class _Desk:
    """Collects messages and files each result with the call that still waits for it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._messages: list[Message] = []
        self._waiting: dict[str, list[str]] = {}
        """The call ids as written, with the unique ids that still wait for a result."""
        self._results: dict[str, ToolResult] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}
        """Which number an id had last: some models give every call the same one."""

    def take(self, said: Said) -> None:
        """Add one message; what is left of it without its results and empty texts."""
        kept: list[Part] = []
        for part in said.message.parts:
            match part:
                case ToolResult():
                    self._file(part, said.line)
                case ToolCall():
                    kept.append(self._open(part))
                case Text(text=text) if not text.strip():
                    continue
                case _:
                    kept.append(part)
        if kept:
            # How the file spelled it matters to no other container.
            self._messages.append(replace(said.message, parts=tuple(kept), form=""))

    def transcript(self) -> Transcript:
        """Return every message, each followed by the results of its calls, in their order."""
        return tuple(self._ordered())

    def _ordered(self) -> Iterable[Message]:
        for message in self._messages:
            yield message
            for call in message.calls:
                result = self._results.get(call.id)
                if result is not None:
                    yield Message(Role.TOOL, (replace(result, name=result.name or call.name),))

    def _open(self, call: ToolCall) -> ToolCall:
        wanted = call.id or "call"
        unique, count = wanted, self._counts.get(wanted, 1)
        while unique in self._used:
            count += 1
            unique = f"{wanted}-{count}"
        self._counts[wanted] = count
        self._used.add(unique)
        self._waiting.setdefault(call.id, []).append(unique)
        return call if unique == call.id else replace(call, id=unique)

    def _file(self, result: ToolResult, line: int) -> None:
        waiting = self._waiting.get(result.call_id)
        if waiting:
            # The newest: an older call with the same id was interrupted and got no answer.
            unique = waiting.pop()
            self._results[unique] = replace(result, call_id=unique, form="")
            return
        known = waiting is not None
        reason = "was answered before" if known else "is not in the file"
        self.problems.append(
            Problem(line, f"a result answers call {result.call_id!r}, which {reason}")
        )
