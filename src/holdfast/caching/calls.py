"""What was expected of a call and what came of it, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.caching.chain import Changed, First, Link
from holdfast.session import Usage

__all__ = ["Call", "Expectation", "Tally"]

_NOTICEABLE = 0.05
"""The share of a prompt by which reads may fall short of the estimate before anybody is told."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """How a provider should count the tokens of a request."""

    read: int
    """From the cache."""
    written: int
    """To the cache."""
    fresh: int
    """Neither."""
    link: Link = field(default_factory=First)
    """How the request follows from the one before."""

    @property
    def prompt_tokens(self) -> int:
        """Return what the request weighs."""
        return self.read + self.written + self.fresh


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was answered."""

    expected: Expectation
    reported: Usage
    cost: float | None = None
    """In US dollars; None where no price is known."""
    saved: float | None = None
    """What it would have cost more without a cache; below zero where writing was not worth it."""

    @property
    def hit_ratio(self) -> float:
        """Return the share of the prompt that was read from the cache."""
        whole = self.reported.prompt_tokens
        return self.reported.cache_read_tokens / whole if whole else 0.0

    @property
    def missing(self) -> int:
        """Return how many tokens should have been read from the cache and were not.

        A server that reports no tokens at all says nothing about its cache.
        """
        if not self.reported.prompt_tokens:
            return 0
        return max(self.expected.read - self.reported.cache_read_tokens, 0)

    @property
    def warning(self) -> str:
        """Return a sentence where the cache fell short, and why if it is known; empty otherwise."""
        link = self.expected.link
        if self.missing > _NOTICEABLE * self.reported.prompt_tokens:
            return (
                f"{self.missing:,} tokens were expected from the cache and were not read from it, "
                "although the prefix is known there."
            )
        return str(link) if isinstance(link, Changed) else ""


@dataclass(frozen=True, slots=True)
class Tally:
    """The calls of a conversation, added up."""

    hits: int = 0
    """Calls that read something from the cache."""
    misses: int = 0
    """Calls that read nothing, of those that reported anything."""
    usage: Usage = field(default_factory=Usage)
    """With the cost of the calls whose price is known."""
    saved: float = 0.0
    last: Call | None = None

    @property
    def hit_ratio(self) -> float:
        """Return the share of all prompts that was read from the cache."""
        whole = self.usage.prompt_tokens
        return self.usage.cache_read_tokens / whole if whole else 0.0

    def plus(self, call: Call) -> Tally:
        """Return the tally with one more call."""
        hit = int(call.reported.cache_read_tokens > 0)
        told = int(call.reported.prompt_tokens > 0)
        return Tally(
            self.hits + hit,
            self.misses + told - hit,
            self.usage + call.reported,
            self.saved + (call.saved or 0.0),
            call,
        )
