"""What a session is: one conversation's row in the store, as a frozen value.

Times are whole milliseconds since the epoch, UTC, so that two machines sort them alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.transcript.quickly import quickly_made

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CLOSABLE", "EndReason", "Fork", "Session", "Usage", "is_among", "session_id"]


class Fork(StrEnum):
    """How a session came from its parent."""

    COMPRESSION = "compression"
    """The parent ended when it was compacted; the child goes on with summary and tail."""
    BRANCH = "branch"
    """The child goes its own way from some point of the parent's window."""
    DELEGATION = "delegation"
    """A sub-agent works on a task while the parent lives on."""
    REVIEW = "review"
    """The child looks at a copy of the parent's window."""
    RESET = "reset"
    """The user began anew."""


class EndReason(StrEnum):
    """Why nothing more is said in a session."""

    COMPRESSION = "compression"
    BRANCHED = "branched"
    RESET = "reset"
    SUBAGENT = "subagent"
    CLOSED = "closed"


CLOSABLE = frozenset({EndReason.CLOSED, EndReason.SUBAGENT})
"""Ends that can be taken back: nothing else follows from them."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Usage:
    """What providers reported, added up."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float = 0.0
    """In US dollars, where the host knows prices."""

    @property
    def prompt_tokens(self) -> int:
        """Return what requests weighed, cached parts included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add two usages."""
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, as the store knows it."""

    id: str
    source: str
    """Where it comes from: `cli`, `api`, `gateway`, `subagent`, `tool`, `import:<system>`."""
    started: int
    title: str = ""
    model: str = ""
    goal: str = ""
    parent: str | None = None
    fork: Fork | None = None
    root: str = ""
    """The first session of its lineage; its own id when it has no parent."""
    ended: int | None = None
    end_reason: EndReason | None = None
    trashed: int | None = None
    touched: int = 0
    """When its newest message was written; its start while there is none."""
    size: int = 0
    """How many messages its log holds, derived ones included: the newest position."""
    generation: int = 0
    """How often its window was changed by anything but an append."""
    key: str | None = None
    """What the caller calls the conversation; of the sessions outside the trash, one has it.
    A session that ends for its child hands the key over to it."""
    usage: Usage = field(default_factory=Usage)
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_live(self) -> bool:
        """Say whether messages may still be appended."""
        return self.ended is None and self.trashed is None


def is_among(source: str, sources: Sequence[str]) -> bool:
    """Say whether a source is one of some; `import:` stands for all that begin so."""
    return any(
        source.startswith(each) if each.endswith(":") else source == each for each in sources
    )


def session_id(moment: str, nonce: int) -> str:
    """Return a new id from a moment such as `20261116_093000` and a random number."""
    return f"{moment}_{nonce & 0xFFFFFF:06x}"
