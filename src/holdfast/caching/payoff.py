"""What a compaction costs in money, and with which request it has paid for itself.

A compaction is a billing event. The summarizer reads and writes; then the prefix behind the system
prompt is new, and is written to the cache at many times the price of reading it. After that each
request is shorter by what was folded, at the low price of cached tokens. So the price depends on
whether the cache is warm: where it has run out, the prefix is written anew in any case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.cost import Price, Ttl

__all__ = ["Payoff", "Rates", "Shrink", "payoff"]

_MILLION = 1_000_000
_GRAIN = 1e-9
"""What floating point may add to a quotient that is a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrink:
    """A compaction in tokens."""

    before: int
    """What a request weighs without it, tools and system prompt included."""
    after: int
    """What it weighs with it."""
    kept: int = 0
    """The tokens at the start that stay as they are, and so stay cached."""
    brief: int = 0
    """What the summarizer reads; nothing where no model is asked."""
    summary: int = 0
    """What it writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The prices that meet in a compaction: some depend on how long a request is."""

    before: Price
    after: Price
    summarizer: Price
    ttl: Ttl = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payoff:
    """A compaction in US dollars."""

    summarizing: float
    """What the summarizer takes."""
    rewriting: float
    """What the next request costs more than if the shorter prefix were cached already."""
    saving: float
    """What each request after the next one costs less; below zero where it costs more."""
    ahead: float
    """What has been paid more after the next request, the summarizer included."""

    @property
    def cost(self) -> float:
        """Return the price of the compaction: summarizer and cache."""
        return self.summarizing + self.rewriting

    @property
    def break_even(self) -> int | None:
        """Return with which request after the compaction it has paid for itself; None for never."""
        if self.ahead <= 0:
            return 1
        if self.saving <= 0:
            return None
        return 1 + math.ceil(self.ahead / self.saving - _GRAIN)

    def break_even_turn(self, requests_per_turn: float) -> int | None:
        """Return in which turn after the compaction that is; None for never."""
        request = self.break_even
        if request is None:
            return None
        return math.ceil(request / max(requests_per_turn, 1.0) - _GRAIN)

    def __str__(self) -> str:
        """Return it as a sentence."""
        if not self.cost and not self.saving:
            return "A compaction costs nothing here."
        price = f"A compaction costs about ${self.cost:.4f}"
        if self.break_even is None:
            return f"{price} and never pays for itself."
        requests = "the next request" if self.break_even == 1 else f"{self.break_even} requests"
        return f"{price} and has paid for itself after {requests}."


def payoff(shrink: Shrink, rates: Rates, *, warm: bool = True) -> Payoff:
    """Return what a compaction costs and saves.

    Args:
        shrink: The compaction in tokens.
        rates: The prices of the requests before and after it, and of the summarizer. At a
            provider without a cache, those of `Price.without_cache`.
        warm: Whether the prefix is cached at this moment.
    """
    short, long = rates.after, rates.before
    written, again = short.cache_write(rates.ttl), long.cache_write(rates.ttl)
    kept = min(shrink.kept, shrink.after) if warm else 0
    summarizing = shrink.brief * rates.summarizer.input + shrink.summary * rates.summarizer.output
    with_it = kept * short.cache_read + (shrink.after - kept) * written
    without = shrink.before * (long.cache_read if warm else again)
    # Without warmth the prefix is written in any case, and rewriting it is no cost of this.
    rewriting = (shrink.after - kept) * (written - short.cache_read) if warm else 0.0
    return Payoff(
        summarizing=summarizing / _MILLION,
        rewriting=rewriting / _MILLION,
        saving=(shrink.before * long.cache_read - shrink.after * short.cache_read) / _MILLION,
        ahead=(summarizing + with_it - without) / _MILLION,
    )
