"""Where prices are looked up: a catalog, what a user has written down, or one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.cost.prices import Price

__all__ = ["GivenPrices", "Layered", "PriceBook"]


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
        """Return nothing: only prices were given."""
        del model, endpoint
        return None


@dataclass(frozen=True, slots=True)
class Layered:
    """Several books; the first one that knows a model answers."""

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
