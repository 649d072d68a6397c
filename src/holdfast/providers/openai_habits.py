"""What servers that speak OpenAI's format differ in, learned from what they refuse."""

from __future__ import annotations

__all__ = ["OpenAIHabits"]

_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
_USAGE = "stream_options"
_UNFIT = frozenset({400, 422})


class OpenAIHabits:
    """How one server wants its requests written."""

    def __init__(self, base_url: str | None) -> None:
        """Begin with what is usual at OpenAI itself, or at any other server."""
        # Newer OpenAI models refuse `max_tokens`; many compatible servers know nothing else.
        self.limit = _LIMIT_NAMES[1 if base_url else 0]
        self.reports_usage = True
        """Whether a stream may be asked to end with its usage."""

    def learn(self, status: int, sentence: str) -> bool:
        """Take a refusal to heart; says whether the same request is worth another try."""
        if status not in _UNFIT:
            return False
        if self.reports_usage and _USAGE in sentence:
            self.reports_usage = False
            return True
        if self.limit not in sentence:
            return False
        other = _LIMIT_NAMES[1 - _LIMIT_NAMES.index(self.limit)]
        if other in sentence or "unsupported" in sentence.lower():
            self.limit = other
            return True
        return False
