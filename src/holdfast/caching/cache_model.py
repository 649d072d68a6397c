"""A model of a provider's cache: what it holds of earlier requests by its published rules."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.caching.support import MINUTES, Automatic, Marked, Uncached
from holdfast.tokens import Calibration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.caching.blocks import RequestBlocks
    from holdfast.caching.support import Support
    from holdfast.cost import Ttl

__all__ = ["CacheLookup", "CacheModel", "Reports", "Weights"]

_MEASURED = 256
"""How many prefixes are remembered with the weight that the provider reported."""
LIFETIMES: dict[Ttl, int] = {"5m": 5 * MINUTES, "1h": 60 * MINUTES}
"""Milliseconds that an entry is kept after its last use."""
_ROOM = 64
"""How many entries there may be before those that have run out are looked for."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one request, as far as anybody knows now."""

    chain: RequestBlocks
    reports: Reports

    @property
    def whole(self) -> int:
        """Return the tokens of the request."""
        return self.of(self.chain.size)

    def of(self, size: int) -> int:
        """Return the tokens of so many blocks from the start.

        What follows a prefix that was reported is estimated by itself, so an error does not grow
        with the conversation.
        """
        if not size:
            return 0
        totals = self.chain.block_prefix.totals
        known, tokens = self.reports.longest(self.chain, size)
        rough = totals[known - 1] if known else 0
        return tokens + round((totals[size - 1] - rough) * self.reports.ratio)


class Reports:
    """What the provider reported so far: prefixes with their weight, and a ratio for the rest."""

    def __init__(self) -> None:
        """Begin without a report."""
        self._prefixes: dict[str, tuple[int, int]] = {}
        self._sizes: list[tuple[int, str]] = []
        self._calibration = Calibration()

    @property
    def ratio(self) -> float:
        """Return by which estimates are scaled."""
        return self._calibration.ratio

    def longest(self, chain: RequestBlocks, size: int) -> tuple[int, int]:
        """Return the longest prefix of so many blocks that was reported, in blocks and tokens."""
        links = chain.block_prefix.links
        # From the longest on: in a talk that goes on it is the last one.
        for index in range(bisect_left(self._sizes, (size + 1, "")) - 1, -1, -1):
            known, link = self._sizes[index]
            if links[known - 1] == link:
                return self._prefixes[link]
        return 0, 0

    def take(self, chain: RequestBlocks, tokens: int) -> None:
        """Take in what the provider counted for a request; a count of nothing teaches nothing."""
        if not tokens or not chain.size:
            return
        block_prefix, last = chain.block_prefix, chain.size - 1
        self._calibration = self._calibration.observe(real=tokens, rough=block_prefix.totals[last])
        self._forget(block_prefix.links[last])
        self._prefixes[block_prefix.links[last]] = (chain.size, tokens)
        insort(self._sizes, (chain.size, block_prefix.links[last]))
        if len(self._prefixes) > _MEASURED:
            self._forget(next(iter(self._prefixes)))

    def _forget(self, link: str) -> None:
        known = self._prefixes.pop(link, None)
        if known is not None:
            del self._sizes[bisect_left(self._sizes, (known[0], link))]


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """How far a request is read from the cache, and how far it is written to it."""

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

    chain: RequestBlocks
    until: float


class CacheModel:
    """What a provider's cache holds, each with the moment until which it is kept.

    At markers, entries by link: one stands for the whole prefix up to its link, and using it keeps
    it for another lifetime. Where every prefix is kept, requests: the last one covers those that
    it begins with.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._entries: dict[str, _Entry] = {}
        self._wholes: tuple[_Whole, ...] = ()
        self._room = _ROOM

    def find(self, weights: Weights, support: Support, at: int) -> CacheLookup:
        """Return what a request would find at this moment; nothing changes.

        Args:
            weights: The request, weighed.
            support: The provider's rules.
            at: The moment, in milliseconds.
        """
        chain = weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.block_prefix.links
                places = _lookback(chain, support)
                kept = [index for index in chain.marked if weights.of(index + 1) >= minimum]
                read = next((each for each in places if self._has(links[each], at)), -1)
                return CacheLookup(read + 1, max(kept, default=-1) + 1)
            case Automatic():
                shared = (chain.shared(each.chain) for each in self._wholes if at < each.until)
                return CacheLookup(max(shared, default=0))
            case Uncached():
                return CacheLookup()
            case _:
                assert_never(support)

    def keep(self, weights: Weights, support: Support, at: int) -> None:
        """Take note of a request that was sent at this moment."""
        found, chain = self.find(weights, support, at), weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.block_prefix.links
                if found.read:
                    self._use(links[found.read - 1], at)
                for index, ttl in chain.markers:
                    if weights.of(index + 1) >= minimum:
                        self._use(links[index], at, LIFETIMES[ttl])
                # Drop what has run out, now and then: to look at each takes longer than a call.
                if len(self._entries) > self._room:
                    kept = {link: each for link, each in self._entries.items() if at < each.until}
                    self._entries, self._room = kept, max(2 * len(kept), _ROOM)
            case Automatic(lifetime=lifetime):
                until = math.inf if lifetime is None else at + lifetime
                self._wholes = (_Whole(chain, until), *self._others(chain, at))
            case Uncached():
                pass
            case _:
                assert_never(support)

    def _others(self, chain: RequestBlocks, at: int) -> Iterator[_Whole]:
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


def _lookback(chain: RequestBlocks, support: Marked) -> Iterator[int]:
    """Yield the blocks at which entries are looked for, the longest prefix first."""
    for marked in reversed(chain.marked):
        yield from range(marked, max(marked - support.lookback, -1), -1)
