"""What a provider holds of earlier requests, as far as its published rules tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.caching.support import MINUTES, Automatic, Marked, Uncached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.caching.chain import Chain
    from holdfast.caching.support import Support
    from holdfast.cost import Ttl

__all__ = ["Found", "Shelf"]

LIFETIMES: dict[Ttl, int] = {"5m": 5 * MINUTES, "1h": 60 * MINUTES}
"""Milliseconds that an entry is kept after its last use."""


@dataclass(frozen=True, slots=True)
class Found:
    """How far a request is read from the shelf, and how far it is written to it."""

    read: int = 0
    """In blocks from the start."""
    written: int = 0
    """In blocks from the start; not more than is read where nothing is written."""


@dataclass(frozen=True, slots=True)
class _Entry:
    lifetime: float
    until: float


class Shelf:
    """Entries by link, each with the moment until which it is kept.

    An entry stands for the whole prefix up to its link. Using it keeps it for another lifetime.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._entries: dict[str, _Entry] = {}

    def find(self, chain: Chain, support: Support, at: int, weigh: Callable[[int], int]) -> Found:
        """Return what a request would find at this moment; nothing changes.

        Args:
            chain: The request.
            support: The provider's rules.
            at: The moment, in milliseconds.
            weigh: Returns the tokens of so many blocks from the start.
        """
        match support:
            case Marked(minimum=minimum):
                places = _lookback(chain, support)
                kept = [index for index in chain.marked if weigh(index + 1) >= minimum]
                read = next((each for each in places if self._has(chain.links[each], at)), -1)
                return Found(read + 1, max(kept, default=-1) + 1)
            case Automatic():
                newest = range(len(chain.links) - 1, -1, -1)
                read = next((each for each in newest if self._has(chain.links[each], at)), -1)
                return Found(read + 1)
            case Uncached():
                return Found()
            case _:
                assert_never(support)

    def keep(self, chain: Chain, support: Support, at: int, weigh: Callable[[int], int]) -> None:
        """Take note of a request that was sent at this moment."""
        found = self.find(chain, support, at, weigh)
        self._entries = {link: each for link, each in self._entries.items() if at < each.until}
        match support:
            case Marked(minimum=minimum):
                if found.read:
                    self._use(chain.links[found.read - 1], at)
                for index in chain.marked:
                    if weigh(index + 1) >= minimum:
                        lifetime = LIFETIMES[chain.blocks[index].ttl or "5m"]
                        self._use(chain.links[index], at, lifetime)
            case Automatic(lifetime=lifetime):
                for link in chain.links:
                    self._use(link, at, math.inf if lifetime is None else lifetime)
            case Uncached():
                pass
            case _:
                assert_never(support)

    def _has(self, link: str, at: int) -> bool:
        entry = self._entries.get(link)
        return entry is not None and at < entry.until

    def _use(self, link: str, at: int, lifetime: float = 0) -> None:
        """Keep an entry for another lifetime: the one that it was written with."""
        entry = self._entries.get(link)
        lasting = entry.lifetime if entry else lifetime
        self._entries[link] = _Entry(lasting, at + lasting)


def _lookback(chain: Chain, support: Marked) -> Iterator[int]:
    """Yield the blocks at which entries are looked for, the longest prefix first."""
    for marked in reversed(chain.marked):
        yield from range(marked, max(marked - support.lookback, -1), -1)
