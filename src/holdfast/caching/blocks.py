"""A request taken apart into the blocks that a provider's cache counts.

The order is the provider's: tools, system prompt, messages. A block is known by a digest of its
bytes without markers; a string and one text part with the same words are the same block.

A conversation grows at its end. What its last request had is not linked and not added up again:
the next one goes on where it ended, and both share what they have in common.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from holdfast.caching.breakpoints import GOAL_LINE, MARKER
from holdfast.tokens import IMAGE_TOKENS, MESSAGE_TOKENS
from holdfast.wire.markers import OPENINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.cost import Ttl
    from holdfast.tokens import Counter
    from holdfast.wire import Body, SharedPrefix
    from holdfast.wire.tool_specs import ToolSpec

_MEDIA = ("image", "image_url", "input_image", "input_audio", "document", "file", "input_file")
_OWN_FIELDS = ("role", "content", "tool_calls", MARKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as a provider's cache sees it."""

    model: str
    dialect: str
    body: Body
    """With its markers, exactly as it goes out."""
    tools: tuple[ToolSpec, ...] = ()
    endpoint: str = ""
    """Where it goes; empty for the provider's own address."""
    prefix: SharedPrefix | None = None
    """Given by who sends the bodies of one conversation as they are, marked by the same rules.

    Then what stands before the first marked message of the request before is not looked at again.
    """


class BlockKind(StrEnum):
    """What a block belongs to."""

    TOOL = "tool"
    SYSTEM = "system"
    SUMMARY = "summary"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class CacheBlock:
    """One piece of a request."""

    name: str
    """For people: `tool bash`, `the system prompt`, `message 4 (user)`."""
    digest: str
    tokens: int
    kind: BlockKind
    ttl: Ttl | None = None
    """The marker at its end, if it has one."""
    lead: str = ""
    """In a system prompt, the digest of what stands before the goal; empty for no words."""


@dataclass(frozen=True, slots=True)
class BlockSource:
    """A tool, a prompt or a message, with its name."""

    name: str
    kind: BlockKind
    fields: Mapping[str, object]

    @property
    def role(self) -> str:
        """Return whose it is: the same words of another speaker are another block."""
        return str(self.fields.get("role") or self.kind)


@dataclass(frozen=True, slots=True)
class BlockPiece:
    """What a block is made of, before it is weighed."""

    fields: Mapping[str, object]
    """Without its marker."""
    ttl: Ttl | None


def pieces_of(source: Mapping[str, object]) -> list[BlockPiece]:
    """Return the pieces of a message that count as a block each.

    Args:
        source: The message, or tools or a system prompt as its `content`.
    """
    pieces: list[BlockPiece] = []
    listed = list(_listed(source))
    for index, fields in enumerate(listed):
        marker = fields.get(MARKER)
        if marker is None and index == len(listed) - 1:
            marker = source.get(MARKER)
        bare = {key: value for key, value in fields.items() if key != MARKER}
        pieces.append(BlockPiece(bare, _ttl(marker)))
    return pieces


def block_of(piece: BlockPiece, source: BlockSource, counter: Counter) -> CacheBlock:
    """Return the block of a piece of a source, weighed and without its marker."""
    kind = source.kind
    text = piece.fields.get("text")
    words = text if isinstance(text, str) else ""
    lead = words.partition(GOAL_LINE)[0].strip() if kind is BlockKind.SYSTEM else ""
    return CacheBlock(
        source.name,
        digest_of(source.role, _written(piece.fields)),
        weigh_block(piece.fields, counter),
        BlockKind.SUMMARY if kind is BlockKind.MESSAGE and words.startswith(OPENINGS) else kind,
        lead=digest_of(lead) if lead else "",
    )


def weigh_block(block: Mapping[str, object], counter: Counter) -> int:
    """Return the tokens of a block.

    Those of its words, or of its JSON where it is no text; media have a flat price.
    """
    kind, text = block.get("type"), block.get("text")
    if kind in _MEDIA:
        return IMAGE_TOKENS
    if kind == "text" and isinstance(text, str):
        return MESSAGE_TOKENS + counter.count(text)
    content = block.get("content")
    if kind == "tool_result" and isinstance(content, list):
        parts = _mappings(cast("list[object]", content))
        return MESSAGE_TOKENS + sum(weigh_block(part, counter) for part in parts)
    return MESSAGE_TOKENS + counter.count(_written(block))


def digest_of(*texts: str) -> str:
    """Return one short name for some texts in their order."""
    joined = "\x1f".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=16).hexdigest()


def frozen(value: object) -> Hashable:
    """Return a value to look JSON up by: in time for its parts, since texts know their hash."""
    if value is None or isinstance(value, str):
        return value
    # Plain dicts first: a request has many, and to ask for a mapping takes longer.
    if type(value) is dict or isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return tuple([(key, frozen(each)) for key, each in fields.items()])
    if isinstance(value, list):
        return ("", *map(frozen, cast("list[object]", value)))
    # One, true and 1.0 are equal in Python and differ in JSON.
    return (None, type(value), str(value))


def _listed(source: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the pieces of a message that count as a block each."""
    if source.get("role") == "tool":
        yield {key: value for key, value in source.items() if key not in ("role", MARKER)}
        return
    content = source.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    listed = [*_mappings(content), *_mappings(source.get("tool_calls"))]
    yield from listed
    rest = {key: value for key, value in source.items() if key not in _OWN_FIELDS}
    if rest or not listed:
        yield rest


def _mappings(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        return []
    return [
        cast("Mapping[str, object]", each) if isinstance(each, Mapping) else {"value": each}
        for each in cast("list[object]", value)
    ]


def _ttl(marker: object) -> Ttl | None:
    if not isinstance(marker, Mapping):
        return None
    return "1h" if cast("Mapping[str, object]", marker).get("ttl") == "1h" else "5m"


def _written(value: object) -> str:
    # Keys keep their order: a provider that gets them in another one reads other bytes.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


class BlockPrefix:
    """Blocks without their markers, each with a digest and the tokens of all up to it.

    It only grows, so a request that holds its first blocks holds them for good.
    """

    def __init__(self, scope: str) -> None:
        """Begin empty, for requests to one model at one address."""
        self.scope = scope
        self.blocks: list[CacheBlock] = []
        self.links: list[str] = []
        self.totals: list[int] = []

    def __len__(self) -> int:
        """Return how many blocks there are."""
        return len(self.blocks)

    def holds(self, blocks: tuple[CacheBlock, ...], at: int) -> bool:
        """Say whether these blocks stand at a place."""
        return tuple(self.blocks[at : at + len(blocks)]) == blocks

    def extend(self, blocks: Iterable[CacheBlock]) -> None:
        """Add blocks at the end."""
        link = self.links[-1] if self.links else digest_of(self.scope)
        total = self.totals[-1] if self.totals else 0
        for block in blocks:
            link, total = digest_of(link, block.digest), total + block.tokens
            self.blocks.append(block)
            self.links.append(link)
            self.totals.append(total)

    def branch(self, size: int) -> BlockPrefix:
        """Return another prefix that begins with so many blocks of this one."""
        made = BlockPrefix(self.scope)
        made.blocks = self.blocks[:size]
        made.links = self.links[:size]
        made.totals = self.totals[:size]
        return made


@dataclass(frozen=True, slots=True)
class RequestBlocks:
    """A request: the first blocks of a prefix, and its markers."""

    block_prefix: BlockPrefix
    size: int
    """How many blocks of the prefix are its own."""
    markers: tuple[tuple[int, Ttl], ...] = ()
    """Which blocks have a marker at their end, in order, and the lifetime that it asks for."""

    @property
    def scope(self) -> str:
        """Return model and address: nothing is shared between two of them."""
        return self.block_prefix.scope

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
        talk, blocks = (BlockKind.MESSAGE, BlockKind.SUMMARY), self.block_prefix.blocks
        found = (index for index in range(self.size) if blocks[index].kind in talk)
        return next(found, self.size)

    def shared(self, other: RequestBlocks) -> int:
        """Return how many blocks two requests begin with alike."""
        low, high = 0, min(self.size, other.size)
        if self.block_prefix is other.block_prefix:
            return high
        # Once two links differ, all that follow do.
        mine, others = self.block_prefix.links, other.block_prefix.links
        while low < high:
            middle = (low + high + 1) // 2
            if mine[middle - 1] == others[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low
