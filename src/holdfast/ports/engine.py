"""The engine as a port: what a conversation needs from whoever compacts its window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.compaction import CompactionReport, LiveState, Policy, Request
    from holdfast.tokens import Load
    from holdfast.transcript import Message, Transcript

__all__ = ["WindowEngine"]


class WindowEngine(Protocol):
    """Says when a window is due for compaction, and compacts it; calls may come from any thread."""

    @property
    def policy(self) -> Policy:
        """Return the knobs, adapted when the model changes or an error states its true window."""
        ...

    @property
    def host(self) -> LiveState:
        """Return what the host knows of the live state, such as the goal."""
        ...

    @host.setter
    def host(self, state: LiveState, /) -> None: ...

    def compact(self, transcript: Transcript, request: Request = ...) -> CompactionReport:
        """Compact a transcript, waiting for a summarizer if there is one."""
        ...

    def load(self, messages: Iterable[Message]) -> Load:
        """Return what the messages ask of a provider, by estimate."""
        ...

    def measure(self, load: Load, *, prompt_tokens: int | None = None) -> int:
        """Take note of the request that would be sent now, and return its expected size."""
        ...

    def is_due(self, load: Load, *, prompt_tokens: int | None = None) -> bool:
        """Say whether a request of this load is due for compaction."""
        ...

    def is_hygiene_due(self, load: Load, messages: int) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it."""
        ...

    def recovery(self, load: Load, error: str, attempt: int = 1) -> Policy:
        """Return what to aim for after a provider refused a request for its size."""
        ...

    def update_from_response(
        self, prompt_tokens: int, *, rough: int | None = None, completion_tokens: int = 0
    ) -> str | None:
        """Learn from reported usage, and return a warning when it is time for one.

        Args:
            prompt_tokens: What the provider says that the request weighed.
            rough: The estimate of that very request.
            completion_tokens: What the provider says that the answer weighed.
        """
        ...

    def update_model(self, context_length: int, *, model: str = "") -> None:
        """Recompute every budget for a model with another window."""
        ...

    @property
    def expected_tokens(self) -> int:
        """Return the size of the newest request that was measured."""
        ...

    @property
    def trouble(self) -> str:
        """Return what the user should know of the engine itself for the rest of the session."""
        ...
