"""How a conversation stands, as a value that every surface shows alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from holdfast.keywords import names_checked

if TYPE_CHECKING:
    from holdfast.session import Usage


@names_checked
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
    summarizer: str = ""
    """Which models write the record of a compaction, in words; empty where it needs none."""
    troubles: tuple[str, ...] = ()
    """What went wrong and no pass has put right since, a sentence each, the worst first: a pass
    that was given up, a record that its model did not write, a plug-in that was set aside."""
    pressure: str = ""
    """The warning on the way to the threshold."""

    @property
    def warning(self) -> str:
        """Return everything that the user should know, in sentences; empty when all is well."""
        # What an error says may have several lines.
        words = (" ".join(each.split()) for each in (*self.troubles, self.pressure))
        said = [each for each in words if each]
        return ". ".join([*(each.removesuffix(".") for each in said[:-1]), *said[-1:]])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return everything that the user should know, a sentence each."""
        return tuple(filter(None, (*self.troubles, self.pressure)))

    @property
    def context_window(self) -> int:
        """Return what the model accepts, in tokens."""
        return self.context_length

    @property
    def share(self) -> float:
        """Return how full the window is on its way to the threshold."""
        return self.tokens / self.threshold

    def as_json(self) -> dict[str, object]:
        """Return the status as plain JSON values."""
        return {**asdict(self), "warning": self.warning}

    def __str__(self) -> str:
        """Return the status in one line."""
        state = " (compacting)" if self.compacting else " (undone)" if self.undone else ""
        # What the share shows already needs no words.
        trouble = replace(self, pressure="").warning
        return (
            f"{self.title or self.session}: {self.tokens:,} of {self.threshold:,} tokens "
            f"({self.share:.0%}), {self.messages:,} messages{state}"
            f"{f'; warning: {trouble}' if trouble else ''}"
        )
