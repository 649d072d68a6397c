"""A summarizer as a port: whatever can write a record from a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from holdfast.summary import Ask

__all__ = ["Summarizer"]


class Summarizer(Protocol):
    """Writes the text that an ask wants, or raises a `holdfast.errors.SummarizerError`.

    An implementation makes one attempt and translates what went wrong. Retries, cooldowns and
    the choice of another model belong to the engine, which sees the whole chain.
    """

    @property
    def name(self) -> str:
        """Return the name that reports and warnings use, such as the model's."""
        ...

    @property
    def window(self) -> int | None:
        """Return how many tokens a request and its answer may have together, if it is known."""
        ...

    def write(self, ask: Ask) -> str:
        """Return the answer to the prompt; called from any thread, often a fresh one."""
        ...

    async def awrite(self, ask: Ask) -> str:
        """Return the answer to the prompt without blocking the event loop."""
        ...
