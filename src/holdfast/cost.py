"""Prices of models, where they are looked up, and what a usage costs at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.session import Usage


class PriceBook(Protocol):
    """Knows prices by model."""

    def price(self, model: str, *, endpoint: str = "", prompt_tokens: int = 0) -> Price | None:
        """Return the price of a call, or None where it is not known.

        Args:
            model: The model's name as requests have it.
            endpoint: Where it is reached; empty for the provider's own address.
            prompt_tokens: What the request weighs: long ones cost more a token at some providers.
        """
        ...

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        """Return how many tokens the model takes, or None where it is not known."""
        ...


@dataclass(frozen=True, slots=True)
class GivenPrices:
    """Prices that somebody wrote down, by a model's name or its beginning, as in `claude-*`.

    A name in full goes before beginnings, and the longest beginning before shorter ones.
    """

    prices: Mapping[str, Price]

    def price(self, model: str, *, endpoint: str = "", prompt_tokens: int = 0) -> Price | None:
        """Return the price that was given for the model, wherever it is and whatever it weighs."""
        del endpoint, prompt_tokens
        name = model.lower()
        given = {pattern.lower(): price for pattern, price in self.prices.items()}
        if name in given:
            return given[name]
        stems = [key for key in given if key.endswith("*") and name.startswith(key[:-1])]
        return given[max(stems, key=len)] if stems else None

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        """Return None: only prices were given."""
        del model, endpoint
        return None


@dataclass(frozen=True, slots=True)
class Layered:
    """Several price books; the first one that knows a model answers."""

    books: tuple[PriceBook, ...]

    def price(self, model: str, *, endpoint: str = "", prompt_tokens: int = 0) -> Price | None:
        """Return the price from the first book that has one."""
        found = (
            book.price(model, endpoint=endpoint, prompt_tokens=prompt_tokens) for book in self.books
        )
        return next((price for price in found if price is not None), None)

    def context_length(self, model: str, *, endpoint: str = "") -> int | None:
        """Return the window from the first book that has one."""
        found = (book.context_length(model, endpoint=endpoint) for book in self.books)
        return next((length for length in found if length is not None), None)


Ttl: TypeAlias = Literal["5m", "1h"]
"""How long a marked prefix is kept after its last use."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens of each kind.

    Where a provider takes nothing extra for writing to its cache, a written token costs what any
    other input token costs.
    """

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float

    def cache_write(self, ttl: Ttl) -> float:
        """Return the price of writing a prefix that is kept this long."""
        return self.cache_write_1h if ttl == "1h" else self.cache_write_5m

    def without_cache(self) -> Price:
        """Return the same prices at a provider that keeps nothing."""
        plain = self.input
        return replace(self, cache_read=plain, cache_write_5m=plain, cache_write_1h=plain)


def charge(usage: Usage, price: Price, *, ttl: Ttl = "5m") -> float:
    """Return what a usage costs, in US dollars."""
    parts = (
        usage.input_tokens * price.input,
        usage.output_tokens * price.output,
        usage.cache_read_tokens * price.cache_read,
        usage.cache_write_tokens * price.cache_write(ttl),
    )
    return sum(parts) / _MILLION


def uncached_charge(usage: Usage, price: Price) -> float:
    """Return what the same tokens would have cost without any cache."""
    return charge(usage, price.without_cache())
