"""The prices of a model, and what a usage costs at them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from holdfast.session import Usage

__all__ = ["Price", "Ttl", "charge", "uncached_charge"]

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
