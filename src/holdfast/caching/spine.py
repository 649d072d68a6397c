"""Blocks in a row with what each adds up to, kept from request to request.

A conversation grows at its end. What its last request had is not linked and not added up again:
the next one goes on where it ended, and both share what they have in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.caching.blocks import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.caching.blocks import Block

__all__ = ["Spine"]


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
        """Say whether these very blocks stand at a place."""
        end = at + len(blocks)
        return end <= len(self.blocks) and all(
            one is other for one, other in zip(self.blocks[at:end], blocks, strict=True)
        )

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
