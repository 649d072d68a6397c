"""Prices and windows of public models, from a catalog package that brings them along.

Nothing is fetched: the catalog is as old as the installed package. It takes a quarter of a second
to load, so that waits for the first question.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from holdfast.cost import Price
from holdfast.errors import MissingExtra
from holdfast.system import SystemClock

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import ModelInfo, TieredPrices

    from holdfast.ports import Clock

_HOUR_FACTOR = 1.6
"""Where only the price of writing for 5 minutes is listed: Anthropic's 2 to 1.25."""


class PriceCatalog:
    """A `holdfast.cost.PriceBook` over the `genai-prices` package (extra `prices`)."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Look prices up as of the clock's moment: some change with the date or the hour."""
        if find_spec("genai_prices") is None:
            raise MissingExtra("the price catalog", "prices")
        self._clock = clock or SystemClock()

    def price(self, model: str, *, endpoint: str = "", prompt_tokens: int = 0) -> Price | None:
        """Return the price of a call of this weight; None for a model that is not listed."""
        from genai_prices.types import TieredPrices

        found = _find(model, endpoint)
        if found is None:
            return None
        listed = found.get_prices(datetime.fromtimestamp(self._clock.moment() / 1000, UTC))

        def rate(key: str, default: float | None) -> float | None:
            value = cast("Decimal | TieredPrices | None", getattr(listed, key))
            if value is None:
                return default
            if not isinstance(value, TieredPrices):
                return float(value)
            # The highest tier that the prompt has reached counts for all of its tokens.
            reached = [tier.price for tier in value.tiers if prompt_tokens > tier.start]
            return float(reached[-1] if reached else value.base)

        plain, output = rate("input_mtok", None), rate("output_mtok", None)
        if plain is None or output is None:
            return None
        short = rate("cache_write_mtok", None)
        return Price(
            input=plain,
            output=output,
            cache_read=rate("cache_read_mtok", plain) or 0.0,
            cache_write_5m=plain if short is None else short,
            cache_write_1h=rate(
                "cache_write_1h_mtok", plain if short is None else short * _HOUR_FACTOR
            )
            or 0.0,
        )

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        """Return the model's window, where the catalog lists it."""
        found = _find(model, endpoint)
        return None if found is None else found.context_window


def _find(model: str, endpoint: str) -> ModelInfo | None:
    from genai_prices.data_snapshot import get_snapshot

    if not model:
        return None
    try:
        # An address that the catalog does not know is somebody's own server, or a proxy whose
        # prices are not the provider's.
        _, found = get_snapshot().find_provider_model(model, None, None, endpoint or None)
    except LookupError:
        return None
    return found
