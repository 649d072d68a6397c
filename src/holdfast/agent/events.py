"""What a turn yields while it runs, as values that a terminal, a server or a test may show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from holdfast.errors import ModelError
from holdfast.session import CompactionRecord, Usage
from holdfast.transcript import ToolCall

__all__ = [
    "Answered",
    "Asked",
    "Done",
    "Event",
    "Folded",
    "Retrying",
    "Spoken",
    "Stopped",
    "Thought",
    "Warned",
]


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words for the user, as they come."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Words that the model says to itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The model wants a tool to run; it runs when the turn goes on."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool has run, or was not allowed to."""

    call: ToolCall
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """The window was compacted, on the turn's path or in the background."""

    record: CompactionRecord


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know, and the turn goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model is asked once more; words of this answer that were spoken so far do not count."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """The turn is over."""

    reply: str
    """The model's last words."""
    usage: Usage = field(default_factory=Usage)
    """What the turn's requests cost, added up."""
    is_cut: bool = False
    """Whether the answer ended at the limit of tokens and not by itself."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn ended without an answer; everything that was said is stored."""

    reason: str
    error: ModelError | None = None


Event: TypeAlias = Spoken | Thought | Asked | Answered | Folded | Warned | Retrying | Done | Stopped
