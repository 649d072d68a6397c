"""What the blocks of a request weigh: as the provider reported where it did, else by estimate."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.tokens import Calibration

if TYPE_CHECKING:
    from holdfast.caching.spine import Chain

__all__ = ["Reports", "Weights"]

_MEASURED = 256
"""How many prefixes are remembered with the weight that the provider reported."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one request, as far as anybody knows now."""

    chain: Chain
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
        totals = self.chain.spine.totals
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

    def longest(self, chain: Chain, size: int) -> tuple[int, int]:
        """Return the longest prefix of so many blocks that was reported, in blocks and tokens."""
        links = chain.spine.links
        # From the longest on: in a talk that goes on it is the last one.
        for index in range(bisect_left(self._sizes, (size + 1, "")) - 1, -1, -1):
            known, link = self._sizes[index]
            if links[known - 1] == link:
                return self._prefixes[link]
        return 0, 0

    def take(self, chain: Chain, tokens: int) -> None:
        """Take in what the provider counted for a request; a count of nothing teaches nothing."""
        if not tokens or not chain.size:
            return
        spine, last = chain.spine, chain.size - 1
        self._calibration = self._calibration.observe(real=tokens, rough=spine.totals[last])
        self._forget(spine.links[last])
        self._prefixes[spine.links[last]] = (chain.size, tokens)
        insort(self._sizes, (chain.size, spine.links[last]))
        if len(self._prefixes) > _MEASURED:
            self._forget(next(iter(self._prefixes)))

    def _forget(self, link: str) -> None:
        known = self._prefixes.pop(link, None)
        if known is not None:
            del self._sizes[bisect_left(self._sizes, (known[0], link))]
