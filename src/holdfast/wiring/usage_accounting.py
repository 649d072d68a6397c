"""Usage accounting for a conversation: what its provider's cache does, and what its calls cost."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from holdfast.caching import (
    Accountant,
    Marked,
    Marker,
    Sent,
    Shrink,
    Terms,
    Why,
    caching_line,
    support_of,
)
from holdfast.compaction import Folded, Pruned
from holdfast.conversation.dependencies import Bill

if TYPE_CHECKING:
    from holdfast.caching import Payoff, Support, Tally
    from holdfast.compaction import CompactionReport
    from holdfast.cost import PriceBook, Ttl
    from holdfast.ports import ChatModel, Clock, Prompt
    from holdfast.session import Usage

_OFF = "off"


def price_book() -> PriceBook | None:
    """Return the catalog of prices; None where it is not installed."""
    if find_spec("genai_prices") is None:
        return None
    from holdfast.providers.price_catalog import PriceCatalog

    return PriceCatalog()


class UsageAccounting:
    """Marks requests for the provider's cache, and adds up what one conversation uses and costs.

    Not the evidence ledger of a summary, which is in `facts`.
    """

    def __init__(
        self, model: ChatModel, clock: Clock, *, ttl: str = "5m", prices: PriceBook | None = None
    ) -> None:
        """Begin with no call.

        Args:
            model: The model that is asked; its provider decides how prompts are cached.
            clock: Tells when a request is sent: caches forget.
            ttl: How long a provider that is told so keeps a prefix: `5m`, `1h`, or `off`.
            prices: What calls cost, where it is known.
        """
        self._model = model
        self._clock = clock
        self._ttl = ttl
        self._accountant = Accountant(Terms(prices=prices))
        self._marker = Marker()
        self._because: Why | None = None

    @property
    def line(self) -> str:
        """Return one sentence about how prompts are cached here."""
        if self._ttl == _OFF and isinstance(self._support, Marked):
            return "Prompt caching is off: model.cache_ttl says so."
        return caching_line(self._support, ttl=self._lifetime)

    @property
    def tally(self) -> Tally:
        """Return the calls so far, added up."""
        return self._accountant.tally

    def prepare(self, prompt: Prompt) -> Prompt:
        """Return the request with its cache marks, and take note that it is sent now."""
        body, support = prompt.body, self._support
        if isinstance(support, Marked) and self._ttl != _OFF:
            body = self._marker.mark(body, ttl=self._lifetime, native=support.native)
        sent = Sent(
            model=self._model.name,
            dialect=self._model.dialect,
            body=body,
            tools=prompt.tools,
            endpoint=self._model.endpoint,
            prefix=prompt.body.prefix,
        )
        self._accountant.expect(sent, self._clock.moment(), self._because)
        self._because = None
        return replace(prompt, body=body)

    def settle(self, usage: Usage) -> Usage:
        """Take in what the provider reported for the newest request; returns it with its cost."""
        return self._accountant.report(usage).reported

    def estimate(self, shrink: Shrink) -> Payoff | None:
        """Return what a compaction not yet computed would cost; None where no price is known.

        Args:
            shrink: Its sizes, roughly; `before` is filled in where it is zero.
        """
        return self._accountant.preview(shrink, self._clock.moment())

    def bill(self, report: CompactionReport) -> Bill | None:
        """Return what a compaction costs that is about to be stored; None where that is not known.

        It also notes the compaction as the reason why the prefix of the next request changes.
        """
        if not isinstance(report.result, Folded | Pruned):
            return None
        self._because = Why.COMPACTION
        figures, summary = report.figures, report.figures.summary
        asked = summary is not None and summary.origin != "deterministic"
        folded = max(figures.tokens_before - figures.tokens_after, 0)
        shrink = Shrink(
            before=0,
            after=figures.tokens_after,
            brief=folded if asked else 0,
            summary=summary.tokens if summary is not None and asked else 0,
        )
        found = self._accountant.preview(shrink, self._clock.moment())
        if found is None:
            return None
        return Bill(found.summarizing, found.rewriting, found.break_even)

    @property
    def _support(self) -> Support:
        model = self._model
        return support_of(model.name, dialect=model.dialect, endpoint=model.endpoint)

    @property
    def _lifetime(self) -> Ttl:
        return "5m" if self._ttl == _OFF else cast("Ttl", self._ttl)
