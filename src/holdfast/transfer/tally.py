"""What an import brought, as a value for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.transcript import Media, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.events import Problem
    from holdfast.transcript import Message

__all__ = ["Count", "Skipped", "Tally", "count_of"]


@dataclass(frozen=True, slots=True)
class Count:
    """What was written to the store."""

    messages: int = 0
    tool_calls: int = 0
    images: int = 0
    errors: int = 0
    """Results of tools that failed."""
    compactions: int = 0
    rewinds: int = 0

    def __add__(self, other: Count) -> Count:
        """Add two counts."""
        return Count(
            self.messages + other.messages,
            self.tool_calls + other.tool_calls,
            self.images + other.images,
            self.errors + other.errors,
            self.compactions + other.compactions,
            self.rewinds + other.rewinds,
        )


@dataclass(frozen=True, slots=True)
class Skipped:
    """A conversation that was left as it is, though its file tells more."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of one file, or of many together."""

    sessions: tuple[str, ...] = ()
    """The sessions that were created, branches and sub-agents among them."""
    grown: tuple[str, ...] = ()
    """The sessions that were there and have more in them now."""
    unchanged: tuple[str, ...] = ()
    """The sessions that had everything already."""
    branches: int = 0
    """How many of the created ones go on from some point of another."""
    count: Count = Count()
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __add__(self, other: Tally) -> Tally:
        """Add what became of another file."""
        return replace(
            self,
            sessions=self.sessions + other.sessions,
            grown=self.grown + other.grown,
            unchanged=self.unchanged + other.unchanged,
            branches=self.branches + other.branches,
            count=self.count + other.count,
            skipped=self.skipped + other.skipped,
            problems=self.problems + other.problems,
        )


def count_of(messages: Iterable[Message]) -> Count:
    """Return what messages count for."""
    total = calls = images = errors = 0
    for message in messages:
        total += 1
        for part in message.parts:
            if isinstance(part, Text):
                continue  # first, because most parts are
            if isinstance(part, ToolCall):
                calls += 1
            elif isinstance(part, ToolResult):
                errors += part.is_error
                images += sum(isinstance(piece, Media) for piece in part.content)
            elif isinstance(part, Media):
                images += 1
    return Count(messages=total, tool_calls=calls, images=images, errors=errors)
