"""How a conversation stands, as a value that every surface shows alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.session import Usage

__all__ = ["Status"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The figures of a conversation at one moment."""

    session: str
    title: str
    goal: str
    model: str
    messages: int
    """How many messages the window has."""
    tokens: int
    """What the window weighs: as reported by the provider, plus the estimate of what is new."""
    threshold: int
    context_length: int
    stored: int
    """How many entries the log has, derived ones included."""
    compactions: int
    undone: bool
    """Whether a compaction is undone: then the next one waits until the window is full."""
    compacting: bool
    """Whether a compaction is running in the background."""
    usage: Usage
    warning: str = ""

    @property
    def share(self) -> float:
        """Return how full the window is on its way to the threshold."""
        return self.tokens / self.threshold

    def as_json(self) -> dict[str, object]:
        """Return the status as plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the status in one line."""
        state = " (compacting)" if self.compacting else " (undone)" if self.undone else ""
        return (
            f"{self.title or self.session}: {self.tokens:,} of {self.threshold:,} tokens "
            f"({self.share:.0%}), {self.messages:,} messages{state}"
        )
