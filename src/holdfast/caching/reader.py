"""Taking requests apart, at the cost of what the last one did not have.

A request is sent again and again with a little more at its end. The reader keeps what it was made
of and the prefix that its blocks make; the next request is compared with that, and goes on from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from holdfast.caching.blocks import (
    BlockKind,
    BlockPrefix,
    BlockSource,
    RequestBlocks,
    block_of,
    frozen,
    pieces_of,
)
from holdfast.caching.breakpoints import is_bare, is_instruction, opening_of
from holdfast.tokens import Estimator
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.caching.blocks import BlockPiece, CacheBlock, Sent
    from holdfast.cost import Ttl
    from holdfast.tokens import Counter
    from holdfast.wire import SharedPrefix


@dataclass(frozen=True, slots=True)
class _Read:
    """What a source was, and what came of it."""

    raw: Hashable
    """The source; None where a prefix tells what is known."""
    key: Hashable
    """Its pieces, without their markers."""
    blocks: tuple[CacheBlock, ...]
    markers: tuple[tuple[int, Ttl], ...]
    """Which of the blocks have one."""


class _Memory:
    """The request that was read last."""

    def __init__(self, sent: Sent) -> None:
        self.block_prefix = BlockPrefix(_scope(sent))
        self.layout = _layout(sent)
        self.head: list[_Read] = []
        self.talk: list[_Read] = []
        self.ends: list[int] = []
        """How many blocks of the talk there are up to the end of each message."""
        self.rolling = 0
        """The first message of the talk that has a marker; their number where none has."""
        self.prefix: SharedPrefix | None = None

    def unseen(self, sent: Sent, head: list[_Read]) -> int:
        """Return the first message to be looked at in the talk of a request that goes on."""
        if [each.blocks for each in self.head] != [each.blocks for each in head]:
            return 0
        return min(self.rolling, len(sent.body.messages) - self.layout[1])

    def keep(self, start: int, talk: list[_Read]) -> None:
        """Take in the messages of the talk from one on."""
        self.talk[start:], self.ends[start:] = talk, []
        end = self.ends[-1] if self.ends else 0
        for each in talk:
            end += len(each.blocks)
            self.ends.append(end)
        marked = (index for index, each in enumerate(talk, start) if each.markers)
        self.rolling = next(marked, len(self.talk))


class BlockReader:
    """Takes requests apart, weighing again only what the last request did not have."""

    def __init__(self, counter: Counter | None = None) -> None:
        """Count words with `counter`; with the usual estimate if none is given."""
        self._counter: Counter = counter or Estimator()
        self._memory: _Memory | None = None

    def read(self, sent: Sent) -> tuple[CacheBlock, ...]:
        """Return the blocks of a request, in the order in which they are cached.

        A block without a marker that the last request had at the same place is the same object.
        """
        chain = self.chain(sent)
        blocks = chain.block_prefix.blocks[: chain.size]
        for index, ttl in chain.markers:
            blocks[index] = replace(blocks[index], ttl=ttl)
        return tuple(blocks)

    def chain(self, sent: Sent) -> RequestBlocks:
        """Return a request as a chain that goes on from the last one as far as they are alike."""
        memory = self._memory
        if memory is None or memory.layout != _layout(sent):
            memory = _Memory(sent)
        elif memory.block_prefix.scope != _scope(sent):
            memory.block_prefix, memory.prefix = BlockPrefix(_scope(sent)), None
        _, opening = memory.layout
        head = list(self._compared(memory.head, _head(sent, opening)))
        goes_on = sent.prefix is not None and sent.prefix is memory.prefix
        start = memory.unseen(sent, head) if goes_on else 0
        read = self._continued if goes_on else self._compared
        unread = range(opening + start, len(sent.body.messages))
        talk = list(read(memory.talk[start:], _messages(sent, unread)))
        builder = _PrefixBuilder(memory.block_prefix, 0)
        builder.add(head)
        # The prefix holds what is not looked at: the last request was woven from it.
        builder.at += memory.ends[start - 1] if start else 0
        builder.add(talk)
        memory.block_prefix, memory.head, memory.prefix = builder.block_prefix, head, sent.prefix
        memory.keep(start, talk)
        self._memory = memory
        return RequestBlocks(builder.block_prefix, builder.at, tuple(builder.markers))

    def _compared(self, known: list[_Read], sources: Iterable[BlockSource]) -> Iterator[_Read]:
        """Yield what is read of sources, those that are known as they are."""
        for index, source in enumerate(sources):
            read = known[index] if index < len(known) else None
            # A message of nothing but words is frozen as it is.
            if read and read.raw == tuple(source.fields.items()):
                yield read
            else:
                raw = frozen(source.fields)
                yield read if read and read.raw == raw else self._read(source, read, raw)

    def _continued(self, known: list[_Read], sources: Iterable[BlockSource]) -> Iterator[_Read]:
        """Yield what is read of sources, of which those that are known differ in markers only."""
        for index, source in enumerate(sources):
            if index >= len(known):
                yield self._read(source, None, None)
            elif known[index].markers or not is_bare(source.fields):
                yield replace(known[index], markers=_markers(pieces_of(source.fields)))
            else:
                yield known[index]

    def _read(self, source: BlockSource, known: _Read | None, raw: Hashable) -> _Read:
        pieces = pieces_of(source.fields)
        key = (source.name, source.role, *[frozen(piece.fields) for piece in pieces])
        markers = _markers(pieces)
        if known is None or known.key != key:
            blocks = tuple([block_of(piece, source, self._counter) for piece in pieces])
            return _Read(raw, key, blocks, markers)
        # A marker may have come or gone, and changes no block.
        return replace(known, raw=raw, markers=markers)


class _PrefixBuilder:
    """The prefix of a request, made from that of the request before."""

    def __init__(self, block_prefix: BlockPrefix, at: int) -> None:
        self.block_prefix = block_prefix
        self.at = at
        self.markers: list[tuple[int, Ttl]] = []

    def add(self, reads: Iterable[_Read]) -> None:
        """Go on over blocks that the prefix has here, and add those that it does not have."""
        for each in reads:
            self.markers.extend((self.at + index, ttl) for index, ttl in each.markers)
            if not self.block_prefix.holds(each.blocks, self.at):
                if len(self.block_prefix) > self.at:
                    # Earlier requests hold what stands here.
                    self.block_prefix = self.block_prefix.branch(self.at)
                self.block_prefix.extend(each.blocks)
            self.at += len(each.blocks)


def _markers(pieces: list[BlockPiece]) -> tuple[tuple[int, Ttl], ...]:
    found: list[tuple[int, Ttl]] = []
    for index, piece in enumerate(pieces):
        if piece.ttl is not None:
            found.append((index, piece.ttl))
    return tuple(found)


def _scope(sent: Sent) -> str:
    return f"{sent.model}@{sent.endpoint}" if sent.endpoint else sent.model


def _layout(sent: Sent) -> tuple[bool, int]:
    """Return whether a prompt stands beside the messages, and how many of them are one."""
    return bool(sent.body.system), opening_of(sent.body.messages)


def _head(sent: Sent, opening: int) -> Iterator[BlockSource]:
    """Yield what stands before the talk."""
    for tool in write_tools(sent.tools, sent.dialect):
        inner = tool.get("function")
        named = cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else tool
        name = str(named.get("name") or "declarations")
        yield BlockSource(f"tool {name}", BlockKind.TOOL, {"content": [tool]})
    if sent.body.system is not None:
        yield BlockSource("the system prompt", BlockKind.SYSTEM, {"content": sent.body.system})
    yield from _messages(sent, range(opening))


def _messages(sent: Sent, places: range) -> Iterator[BlockSource]:
    messages, has_prompt = sent.body.messages, bool(sent.body.system)
    for place in places:
        message = messages[place]
        if not has_prompt and is_instruction(message):
            yield BlockSource("the system prompt", BlockKind.SYSTEM, message)
        else:
            name = f"message {place + 1} ({message.get('role')})"
            yield BlockSource(name, BlockKind.MESSAGE, message)
