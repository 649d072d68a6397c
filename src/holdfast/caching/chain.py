"""Where two requests part, and why.

Each link covers its block and everything before it, so two requests share a prefix exactly as far
as their links are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from holdfast.caching.blocks import Block, Kind, Sent
from holdfast.caching.spine import Chain

if TYPE_CHECKING:
    from holdfast.caching.reader import BlockReader

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


def chain_of(sent: Sent, reader: BlockReader) -> Chain:
    """Return the chain of a request.

    Args:
        sent: The request.
        reader: What takes it apart; it goes on from the request that it read last.
    """
    return reader.chain(sent)


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
    shared = older.shared(newer)
    if shared == older.size:
        if older.ttl and newer.ttl and older.ttl != newer.ttl:
            return Changed("the markers", Why.TTL)
        return Extended(newer.size - shared)
    before = older.spine.blocks[shared]
    after = newer.spine.blocks[shared] if shared < newer.size else None
    named = after if after and before.kind is not Kind.TOOL else before
    why = _why(older, newer, before, after)
    # Nothing that happens to the talk changes the tools before it.
    return Changed(named.name, why if why is Why.TOOLS else because or why)


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
    blocks = chain.spine.blocks[: chain.size]
    return {block.digest for block in blocks if block.kind is Kind.SUMMARY}
