"""What passes between the core and whoever can reach a summarizer: jobs, asks and answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.summary.checkpoint import Checkpoint
    from holdfast.summary.record import Record
    from holdfast.transcript import Message
    from holdfast.transcript.toolkit import PlanItem

__all__ = ["Answer", "Ask", "Composed", "Declined", "Failure", "Job", "Written"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for one piece of writing."""

    prompt: str
    max_tokens: int
    """How long the answer may get."""
    purpose: Literal["first", "update", "repair"]
    step: int = 1
    """Which chunk of the folded turns this is, from 1."""
    steps: int = 1
    """How many chunks there are."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the summarizer wrote."""

    text: str
    model: str = ""


class Failure(StrEnum):
    """Why there is no answer; decides what happens next."""

    AUTH = "auth"
    MISSING = "missing"
    TRANSIENT = "transient"
    MISREAD = "misread"
    EMPTY = "empty"
    MALFORMED = "malformed"
    COOLDOWN = "cooldown"
    UNCONFIGURED = "unconfigured"


@dataclass(frozen=True, slots=True)
class Declined:
    """No answer, and why."""

    failure: Failure
    reason: str
    retry_after: float | None = None
    """Seconds after which another try makes sense, where that is known."""


Answer: TypeAlias = Written | Declined


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that writing a record needs to know."""

    messages: Sequence[Message]
    """The turns to be folded, unpruned."""
    previous: Checkpoint | None
    """What an earlier compaction left; it is updated, never quoted as a turn."""
    budget: int
    """How many tokens the record may have."""
    window: int
    """How many tokens the summarizer accepts, its answer included."""
    count: Callable[[str], int]
    redact: Callable[[str], str]
    today: str
    """The date, which prompts give to the model."""
    focus: str = ""
    """The topic that gets most of the room, where somebody named one."""
    hint: str = ""
    """What the newest turns are about: it biases, and takes no room from the rest."""
    task: str = ""
    """The newest user input of the whole conversation; it may stand after these turns."""
    opening: str = ""
    """The first user input of the whole conversation; it may stand before these turns."""
    context: Sequence[Message] = ()
    """The conversation that these turns are part of, as far as it is not summarized."""

    head: int = 0
    """Where the turns to be folded begin in the context: what precedes them may stay for long."""
    fresh: int = 0
    """Where in the context begins what the previous checkpoint's record does not know yet."""
    plan: Sequence[PlanItem] = ()
    """The agent's plan as it stands; it is told beside the record."""

    @property
    def whole(self) -> Sequence[Message]:
        """Return the turns with what stands around them and stays in the window."""
        return self.context or self.messages


@dataclass(frozen=True, slots=True)
class Composed:
    """A record that a summarizer wrote, read and checked."""

    record: Record
    chunks: int
    """How many answers it took."""
    model: str = ""
    warnings: tuple[str, ...] = ()
