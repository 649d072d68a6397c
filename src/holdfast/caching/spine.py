"""Blocks in a row with what each adds up to, kept from request to request.

A conversation grows at its end. What its last request had is not linked and not added up again:
the next one goes on where it ended, and both share what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.caching.blocks import Kind, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.caching.blocks import Block
    from holdfast.cost import Ttl

__all__ = ["Chain", "Spine"]


class Spine:
    """Blocks without their markers, each with the link and the tokens of all up to it.

    It only grows, so a request that holds its first blocks holds them for good.
    """

    def __init__(self, scope: str) -> None:
        """Begin empty, for requests to one model at one address."""
        self.scope = scope
        self.blocks: list[Block] = []
        self.links: list[str] = []
        self.totals: list[int] = []

    def __len__(self) -> int:
        """Return how many blocks there are."""
        return len(self.blocks)

    def holds(self, blocks: tuple[Block, ...], at: int) -> bool:
        """Say whether these blocks stand at a place."""
        return tuple(self.blocks[at : at + len(blocks)]) == blocks

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks at the end."""
        link = self.links[-1] if self.links else digest_of(self.scope)
        total = self.totals[-1] if self.totals else 0
        for block in blocks:
            link, total = digest_of(link, block.digest), total + block.tokens
            self.blocks.append(block)
            self.links.append(link)
            self.totals.append(total)

    def branch(self, size: int) -> Spine:
        """Return another spine that begins with so many blocks of this one."""
        made = Spine(self.scope)
        made.blocks = self.blocks[:size]
        made.links = self.links[:size]
        made.totals = self.totals[:size]
        return made


@dataclass(frozen=True, slots=True)
class Chain:
    """A request: the first blocks of a spine, and its markers."""

    spine: Spine
    size: int
    """How many blocks of the spine are its own."""
    markers: tuple[tuple[int, Ttl], ...] = ()
    """Which blocks have a marker at their end, in order, and the lifetime that it asks for."""

    @property
    def scope(self) -> str:
        """Return model and address: nothing is shared between two of them."""
        return self.spine.scope

    @property
    def marked(self) -> tuple[int, ...]:
        """Return which blocks have a marker."""
        return tuple(index for index, _ in self.markers)

    @property
    def ttl(self) -> Ttl | None:
        """Return the lifetime that the markers ask for; the first one's, where they differ."""
        return self.markers[0][1] if self.markers else None

    @property
    def fixed(self) -> int:
        """Return how many blocks stand before the talk: tools and system prompt."""
        talk, blocks = (Kind.MESSAGE, Kind.SUMMARY), self.spine.blocks
        found = (index for index in range(self.size) if blocks[index].kind in talk)
        return next(found, self.size)

    def shared(self, other: Chain) -> int:
        """Return how many blocks two requests begin with alike."""
        low, high = 0, min(self.size, other.size)
        if self.spine is other.spine:
            return high
        # Once two links differ, all that follow do.
        mine, others = self.spine.links, other.spine.links
        while low < high:
            middle = (low + high + 1) // 2
            if mine[middle - 1] == others[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low
