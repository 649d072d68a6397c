"""The accountant of a conversation: says before each call what the cache will do, and checks it.

It follows the provider's published rules over the digests of what was sent. A difference between
what it expects and what is reported is a finding: a prefix that changed where nobody meant it to,
or a cache that forgot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.caching.calls import Call, Expectation, Tally
from holdfast.caching.chain import First, chain_of, compare
from holdfast.caching.payoff import Rates, payoff
from holdfast.caching.reader import BlockReader
from holdfast.caching.shelf import Shelf
from holdfast.caching.support import Automatic, Uncached, support_of
from holdfast.caching.weights import Reports, Weights
from holdfast.cost import charge, uncached_charge

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.caching.blocks import Sent
    from holdfast.caching.chain import Why
    from holdfast.caching.payoff import Payoff, Shrink
    from holdfast.caching.spine import Chain
    from holdfast.caching.support import Support
    from holdfast.cost import Price, PriceBook, Ttl
    from holdfast.session import Usage
    from holdfast.tokens import Counter

__all__ = ["Accountant", "Terms", "usual_support"]


def usual_support(sent: Sent) -> Support:
    """Return how a request's provider caches, by the table of `support_of`."""
    return support_of(sent.model, dialect=sent.dialect, endpoint=sent.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an accountant goes by."""

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
    def chain(self) -> Chain:
        return self.weights.chain

    @property
    def ttl(self) -> Ttl:
        return self.chain.ttl or "5m"


class Accountant:
    """Keeps the cache's books for one conversation.

    Call `expect` when a request goes out and `report` when it was answered. A request that failed
    is not reported, and the next `expect` takes its place. Moments are milliseconds since the
    epoch, as a clock's `moment` has them.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        """Begin with a provider that holds nothing of this conversation."""
        self._terms = terms or Terms()
        self._reader = BlockReader(self._terms.counter)
        self._shelf = Shelf()
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

    def report(self, usage: Usage) -> Call:
        """Take in what the provider reported for the request that was expected last.

        Raises:
            ValueError: when no request is open.
        """
        request = self._requests[1]
        if request is None:
            raise ValueError("nothing was expected: call `expect` with the request first")
        self._shelf.keep(request.weights, request.support, request.at)
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
        found = self._shelf.find(weights, support, at)
        whole, read = weights.whole, weights.of(found.read)
        if isinstance(support, Automatic):
            read = read // support.step * support.step
            read = read if read >= support.minimum else 0
        written = max(weights.of(found.written) - read, 0) if found.written else 0
        return Expectation(read, written, max(whole - read - written, 0))

    def _priced(self, request: _Request, usage: Usage) -> Call:
        price = self._price(request, usage.prompt_tokens)
        if price is None:
            return Call(request.expected, usage)
        cost = charge(usage, price, ttl=request.ttl)
        priced = replace(usage, cost=cost)
        return Call(request.expected, priced, cost, uncached_charge(usage, price) - cost)

    def _price(self, request: _Request, prompt_tokens: int) -> Price | None:
        if self._terms.prices is None:
            return None
        return self._terms.prices.price(
            request.model, endpoint=request.endpoint, prompt_tokens=prompt_tokens
        )
