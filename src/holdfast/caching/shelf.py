"""What a provider holds of earlier requests, as far as its published rules tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.caching.support import MINUTES, Automatic, Marked, Uncached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.caching.spine import Chain
    from holdfast.caching.support import Support
    from holdfast.caching.weights import Weights
    from holdfast.cost import Ttl

__all__ = ["Found", "Shelf"]

LIFETIMES: dict[Ttl, int] = {"5m": 5 * MINUTES, "1h": 60 * MINUTES}
"""Milliseconds that an entry is kept after its last use."""
_ROOM = 64
"""How many entries there may be before those that have run out are looked for."""


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


@dataclass(frozen=True, slots=True)
class _Whole:
    """A request of which every prefix is kept."""

    chain: Chain
    until: float


class Shelf:
    """What is kept, each with the moment until which it is.

    At markers, entries by link: one stands for the whole prefix up to its link, and using it keeps
    it for another lifetime. Where every prefix is kept, requests: the last one covers those that
    it begins with.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._entries: dict[str, _Entry] = {}
        self._wholes: tuple[_Whole, ...] = ()
        self._room = _ROOM

    def find(self, weights: Weights, support: Support, at: int) -> Found:
        """Return what a request would find at this moment; nothing changes.

        Args:
            weights: The request, weighed.
            support: The provider's rules.
            at: The moment, in milliseconds.
        """
        chain = weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.spine.links
                places = _lookback(chain, support)
                kept = [index for index in chain.marked if weights.of(index + 1) >= minimum]
                read = next((each for each in places if self._has(links[each], at)), -1)
                return Found(read + 1, max(kept, default=-1) + 1)
            case Automatic():
                shared = (chain.shared(each.chain) for each in self._wholes if at < each.until)
                return Found(max(shared, default=0))
            case Uncached():
                return Found()
            case _:
                assert_never(support)

    def keep(self, weights: Weights, support: Support, at: int) -> None:
        """Take note of a request that was sent at this moment."""
        found, chain = self.find(weights, support, at), weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.spine.links
                if found.read:
                    self._use(links[found.read - 1], at)
                for index, ttl in chain.markers:
                    if weights.of(index + 1) >= minimum:
                        self._use(links[index], at, LIFETIMES[ttl])
                self._tidy(at)
            case Automatic(lifetime=lifetime):
                until = math.inf if lifetime is None else at + lifetime
                self._wholes = (_Whole(chain, until), *self._others(chain, at))
            case Uncached():
                pass
            case _:
                assert_never(support)

    def _others(self, chain: Chain, at: int) -> Iterator[_Whole]:
        """Yield the requests that are kept beside one: it does not begin with them."""
        for each in self._wholes:
            if at < each.until and chain.shared(each.chain) < each.chain.size:
                yield each

    def _has(self, link: str, at: int) -> bool:
        entry = self._entries.get(link)
        return entry is not None and at < entry.until

    def _use(self, link: str, at: int, lifetime: float = 0) -> None:
        """Keep an entry for another lifetime: the one that it was written with."""
        entry = self._entries.get(link)
        lasting = entry.lifetime if entry and at < entry.until else lifetime
        self._entries[link] = _Entry(lasting, at + lasting)

    def _tidy(self, at: int) -> None:
        """Drop what has run out, now and then: to look at each entry takes longer than a call."""
        if len(self._entries) > self._room:
            kept = {link: each for link, each in self._entries.items() if at < each.until}
            self._entries, self._room = kept, max(2 * len(kept), _ROOM)


def _lookback(chain: Chain, support: Marked) -> Iterator[int]:
    """Yield the blocks at which entries are looked for, the longest prefix first."""
    for marked in reversed(chain.marked):
        yield from range(marked, max(marked - support.lookback, -1), -1)
