"""The prefixes of a request as a chain of digests, and where two requests part.

Each link covers its block and everything before it, so two requests share a prefix exactly as far
as their links are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from holdfast.caching.blocks import Block, Kind, Sent, digest_of

if TYPE_CHECKING:
    from holdfast.caching.blocks import BlockReader
    from holdfast.cost import Ttl

__all__ = ["Chain", "Changed", "Extended", "First", "Link", "Why", "chain_of", "compare"]


class Why(StrEnum):
    """What made a prefix differ from the one before."""

    MODEL = "another model"
    TOOLS = "other tools"
    PROMPT = "another system prompt"
    GOAL = "another goal"
    COMPACTION = "a compaction"
    UNDO = "an undo"
    EDITED = "edited history"
    TTL = "another lifetime of markers"


@dataclass(frozen=True, slots=True)
class Chain:
    """A request's blocks with the link behind each."""

    scope: str
    """Model and address: nothing is shared between two of them."""
    blocks: tuple[Block, ...]
    links: tuple[str, ...]
    totals: tuple[int, ...]
    """The estimated tokens up to the end of each block."""

    @property
    def marked(self) -> tuple[int, ...]:
        """Return which blocks have a marker."""
        return tuple(index for index, block in enumerate(self.blocks) if block.ttl)

    @property
    def ttl(self) -> Ttl | None:
        """Return the lifetime that the markers ask for; the first one's, where they differ."""
        return next((block.ttl for block in self.blocks if block.ttl), None)

    @property
    def fixed(self) -> int:
        """Return how many blocks stand before the talk: tools and system prompt."""
        talk = (Kind.MESSAGE, Kind.SUMMARY)
        found = (index for index, block in enumerate(self.blocks) if block.kind in talk)
        return next(found, len(self.blocks))


@dataclass(frozen=True, slots=True)
class First:
    """There was no request before."""

    def __str__(self) -> str:
        """Return it as a sentence."""
        return "This is the first request."


@dataclass(frozen=True, slots=True)
class Extended:
    """The request begins with all of the one before."""

    blocks: int
    """How many blocks it adds."""

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"The prefix is as it was, with {self.blocks} more blocks."


@dataclass(frozen=True, slots=True)
class Changed:
    """The request parts from the one before, at this block."""

    block: str
    why: Why

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"The prefix changed at {self.block}: {self.why}."


Link: TypeAlias = First | Extended | Changed


def chain_of(sent: Sent, reader: BlockReader, older: Chain | None = None) -> Chain:
    """Return the chain of a request.

    Args:
        sent: The request.
        reader: What takes it apart.
        older: The chain of an earlier request, whose links are used again as far as they hold.
    """
    scope = f"{sent.model}@{sent.endpoint}" if sent.endpoint else sent.model
    blocks = reader.read(sent)
    same = _same(older, blocks) if older and older.scope == scope else 0
    start = older.links[same - 1] if older and same else digest_of(scope)
    links = accumulate((block.digest for block in blocks[same:]), digest_of, initial=start)
    known = older.links[:same] if older else ()
    totals = accumulate(block.tokens for block in blocks)
    return Chain(scope, blocks, (*known, *tuple(links)[1:]), tuple(totals))


def _same(older: Chain, blocks: tuple[Block, ...]) -> int:
    """Return how many blocks at the start are the same objects: a reader keeps those it knows."""
    pairs = zip(older.blocks, blocks, strict=False)
    parted = (index for index, (one, other) in enumerate(pairs) if one is not other)
    return next(parted, min(len(older.blocks), len(blocks)))


def compare(older: Chain, newer: Chain, because: Why | None = None) -> Extended | Changed:
    """Return how a request follows from the one before, with the first block that differs.

    The reason is read from the blocks. They cannot tell a rewind that was followed by other words
    from an edit, nor know a pruning: who does such a thing says so.

    Args:
        older: The request before.
        newer: The request that follows it.
        because: What happened in between, if the caller knows.
    """
    if older.scope != newer.scope:
        return Changed(f"the model {newer.scope}", Why.MODEL)
    shared = _shared(older, newer)
    if shared == len(older.links):
        if older.ttl and newer.ttl and older.ttl != newer.ttl:
            return Changed("the markers", Why.TTL)
        return Extended(len(newer.links) - shared)
    before = older.blocks[shared]
    after = newer.blocks[shared] if shared < len(newer.blocks) else None
    named = after if after and before.kind is not Kind.TOOL else before
    return Changed(named.name, because or _why(older, newer, before, after))


def _shared(older: Chain, newer: Chain) -> int:
    """Return how many links are equal; once they differ, all that follow do."""
    low, high = 0, min(len(older.links), len(newer.links))
    while low < high:
        middle = (low + high + 1) // 2
        if older.links[middle - 1] == newer.links[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low


def _why(older: Chain, newer: Chain, before: Block, after: Block | None) -> Why:
    kinds = (before.kind, after.kind if after else before.kind)
    if Kind.TOOL in kinds:
        return Why.TOOLS
    had, has = _summaries(older), _summaries(newer)
    if has - had:
        return Why.COMPACTION
    if had - has or after is None:
        return Why.UNDO
    if Kind.SYSTEM not in kinds:
        return Why.EDITED
    return Why.GOAL if before.lead == after.lead else Why.PROMPT


def _summaries(chain: Chain) -> set[str]:
    return {block.digest for block in chain.blocks if block.kind is Kind.SUMMARY}
