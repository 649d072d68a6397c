"""Predicts what a provider's cache does with each call, checks it, and prices calls.

Compactions are priced too: what one costs, and what it saves. The prediction follows the
provider's published rules over the digests of what was sent. A difference between what it expects
and what is reported is a finding: a prefix that changed where nobody meant it to, or a cache that
forgot. Each link of a request covers its block and everything before it, so two requests share a
prefix exactly as far as their links are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from holdfast.caching.blocks import BlockKind, CacheBlock, RequestBlocks, Sent
from holdfast.caching.cache_model import (
    Automatic,
    CacheModel,
    Rates,
    Reports,
    Uncached,
    Weights,
    payoff,
    support_of,
)
from holdfast.caching.reader import BlockReader
from holdfast.cost import charge, uncached_charge
from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.caching.cache_model import Payoff, Shrink, Support
    from holdfast.cost import Price, PriceBook, Ttl
    from holdfast.tokens import Counter

__all__ = [
    "Accountant",
    "AccountedCall",
    "Changed",
    "Expectation",
    "Extended",
    "First",
    "Link",
    "RequestBlocks",
    "Tally",
    "Terms",
    "Why",
    "chain_of",
    "compare",
    "usual_support",
]

_NOTICEABLE = 0.05
"""The share of a prompt by which reads may fall short of the estimate before anybody is told."""


class Why(StrEnum):
    """What made a prefix differ from the one before."""

    MODEL = "another model"
    TOOLS = "other tools"
    PROMPT = "another system prompt"
    GOAL = "another goal"
    COMPACTION = "a compaction"
    UNDO = "an undo"
    EDITED = "edited history"
    TTL = "another lifetime of markers"


@dataclass(frozen=True, slots=True)
class First:
    """There was no request before."""

    def __str__(self) -> str:
        """Return it as a sentence."""
        return "This is the first request."


@dataclass(frozen=True, slots=True)
class Extended:
    """The request begins with all of the one before."""

    blocks: int
    """How many blocks it adds."""

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"The prefix is as it was, with {self.blocks} more blocks."


@dataclass(frozen=True, slots=True)
class Changed:
    """The request parts from the one before, at this block."""

    block: str
    why: Why

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"The prefix changed at {self.block}: {self.why}."


Link: TypeAlias = First | Extended | Changed


def chain_of(sent: Sent, reader: BlockReader) -> RequestBlocks:
    """Return the chain of a request.

    Args:
        sent: The request.
        reader: What takes it apart; it goes on from the request that it read last.
    """
    return reader.chain(sent)


def compare(
    older: RequestBlocks, newer: RequestBlocks, because: Why | None = None
) -> Extended | Changed:
    """Return how a request follows from the one before, with the first block that differs.

    The reason is read from the blocks. They cannot tell a rewind that was followed by other words
    from an edit, nor know a pruning: who does such a thing says so.

    Args:
        older: The request before.
        newer: The request that follows it.
        because: What happened in between, if the caller knows.
    """
    if older.scope != newer.scope:
        return Changed(f"the model {newer.scope}", Why.MODEL)
    shared = older.shared(newer)
    if shared == older.size:
        if older.ttl and newer.ttl and older.ttl != newer.ttl:
            return Changed("the markers", Why.TTL)
        return Extended(newer.size - shared)
    before = older.block_prefix.blocks[shared]
    after = newer.block_prefix.blocks[shared] if shared < newer.size else None
    named = after if after and before.kind is not BlockKind.TOOL else before
    why = _why(older, newer, before, after)
    # Nothing that happens to the talk changes the tools before it.
    return Changed(named.name, why if why is Why.TOOLS else because or why)


def _why(
    older: RequestBlocks, newer: RequestBlocks, before: CacheBlock, after: CacheBlock | None
) -> Why:
    kinds = (before.kind, after.kind if after else before.kind)
    if BlockKind.TOOL in kinds:
        return Why.TOOLS
    had, has = _summaries(older), _summaries(newer)
    if has - had:
        return Why.COMPACTION
    if had - has or after is None:
        return Why.UNDO
    if BlockKind.SYSTEM not in kinds:
        return Why.EDITED
    return Why.GOAL if before.lead == after.lead else Why.PROMPT


def _summaries(chain: RequestBlocks) -> set[str]:
    blocks = chain.block_prefix.blocks[: chain.size]
    return {block.digest for block in blocks if block.kind is BlockKind.SUMMARY}


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
class AccountedCall:
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
    last: AccountedCall | None = None

    @property
    def hit_ratio(self) -> float:
        """Return the share of all prompts that was read from the cache."""
        whole = self.usage.prompt_tokens
        return self.usage.cache_read_tokens / whole if whole else 0.0

    def plus(self, call: AccountedCall) -> Tally:
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


def usual_support(sent: Sent) -> Support:
    """Return how a request's provider caches, by the table of `support_of`."""
    return support_of(sent.model, dialect=sent.dialect, endpoint=sent.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an accountant knows of providers: how they cache, how to count, what they charge."""

    support: Callable[[Sent], Support] = usual_support
    counter: Counter | None = None
    prices: PriceBook | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    model: str
    endpoint: str
    weights: Weights
    support: Support
    at: int
    expected: Expectation

    @property
    def chain(self) -> RequestBlocks:
        return self.weights.chain

    @property
    def ttl(self) -> Ttl:
        return self.chain.ttl or "5m"


class Accountant:
    """Follows what a cache holds of one conversation, and what its calls cost.

    Call `expect` when a request goes out and `report` when it was answered. A request that failed
    is not reported, and the next `expect` takes its place. Moments are milliseconds since the
    epoch, as a clock's `moment` has them.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        """Begin with a provider that holds nothing of this conversation."""
        self._terms = terms or Terms()
        self._reader = BlockReader(self._terms.counter)
        self._cache = CacheModel()
        self._reports = Reports()
        self._requests: tuple[_Request | None, _Request | None] = (None, None)
        self._tally = Tally()

    @property
    def tally(self) -> Tally:
        """Return the calls so far, added up, with the last one."""
        return self._tally

    def expect(self, sent: Sent, at: int, because: Why | None = None) -> Expectation:
        """Return how the provider should count a request that goes out now.

        Args:
            sent: The request, with its markers.
            at: The moment, in milliseconds.
            because: What changed the conversation since the last request, if the caller knows.
        """
        last = self._requests[0]
        chain = chain_of(sent, self._reader)
        link = First() if last is None else compare(last.chain, chain, because)
        support = self._terms.support(sent)
        weights = Weights(chain, self._reports)
        expected = replace(self._counted(weights, support, at), link=link)
        self._requests = (last, _Request(sent.model, sent.endpoint, weights, support, at, expected))
        return expected

    def report(self, usage: Usage) -> AccountedCall:
        """Take in what the provider reported for the request that was expected last.

        Raises:
            ValueError: when no request is open.
        """
        request = self._requests[1]
        if request is None:
            raise ValueError("nothing was expected: call `expect` with the request first")
        self._cache.keep(request.weights, request.support, request.at)
        self._reports.take(request.chain, usage.prompt_tokens)
        self._requests = (request, None)
        call = self._priced(request, usage)
        self._tally = self._tally.plus(call)
        return call

    def preview(self, shrink: Shrink, at: int, summarizer: Price | None = None) -> Payoff | None:
        """Return what a compaction at this moment would cost and save.

        None where nothing was sent yet, or no price is known.

        Args:
            shrink: What it would do; `before` and `kept` are filled in where they are zero.
            at: The moment, in milliseconds: a cold cache makes a compaction cheaper.
            summarizer: What the summarizer's model costs; by default the conversation's own.
        """
        last = self._requests[0]
        if last is None:
            return None
        weights = last.weights
        fixed = weights.of(last.chain.fixed)
        filled = replace(
            shrink,
            before=shrink.before or weights.whole,
            kept=shrink.kept or min(fixed, shrink.after),
        )
        long, short = self._price(last, filled.before), self._price(last, filled.after)
        if long is None or short is None:
            return None
        plain = summarizer or long
        if isinstance(last.support, Uncached):
            long, short = long.without_cache(), short.without_cache()
        rates = Rates(before=long, after=short, summarizer=plain, ttl=last.ttl)
        warm = self._counted(weights, last.support, at).read > 0
        return payoff(filled, rates, warm=warm)

    def _counted(self, weights: Weights, support: Support, at: int) -> Expectation:
        found = self._cache.find(weights, support, at)
        whole, read = weights.whole, weights.of(found.read)
        if isinstance(support, Automatic):
            read = read // support.step * support.step
            read = read if read >= support.minimum else 0
        written = max(weights.of(found.written) - read, 0) if found.written else 0
        return Expectation(read, written, max(whole - read - written, 0))

    def _priced(self, request: _Request, usage: Usage) -> AccountedCall:
        price = self._price(request, usage.prompt_tokens)
        if price is None:
            return AccountedCall(request.expected, usage)
        cost = charge(usage, price, ttl=request.ttl)
        priced = replace(usage, cost=cost)
        return AccountedCall(request.expected, priced, cost, uncached_charge(usage, price) - cost)

    def _price(self, request: _Request, prompt_tokens: int) -> Price | None:
        if self._terms.prices is None:
            return None
        return self._terms.prices.price(
            request.model, endpoint=request.endpoint, prompt_tokens=prompt_tokens
        )
