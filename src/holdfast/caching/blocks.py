"""A request taken apart into the blocks that a provider's cache counts.

The order is the provider's: tools, system prompt, messages. A block is known by a digest of its
bytes without markers; a string and one text part with the same words are the same block.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from holdfast.caching.marks import GOAL_LINE, MARKER
from holdfast.tokens import IMAGE_TOKENS, MESSAGE_TOKENS
from holdfast.wire.markers import OPENINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cost import Ttl
    from holdfast.tokens import Counter
    from holdfast.wire import Body, SharedPrefix
    from holdfast.wire.tool_specs import ToolSpec

__all__ = [
    "Block",
    "Kind",
    "Piece",
    "Sent",
    "Source",
    "block_of",
    "digest_of",
    "frozen",
    "pieces_of",
    "weigh_block",
]

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


class Kind(StrEnum):
    """What a block belongs to."""

    TOOL = "tool"
    SYSTEM = "system"
    SUMMARY = "summary"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a request."""

    name: str
    """For people: `tool bash`, `the system prompt`, `message 4 (user)`."""
    digest: str
    tokens: int
    kind: Kind
    ttl: Ttl | None = None
    """The marker at its end, if it has one."""
    lead: str = ""
    """In a system prompt, the digest of what stands before the goal; empty for no words."""


@dataclass(frozen=True, slots=True)
class Source:
    """A tool, a prompt or a message, with its name."""

    name: str
    kind: Kind
    fields: Mapping[str, object]

    @property
    def role(self) -> str:
        """Return whose it is: the same words of another speaker are another block."""
        return str(self.fields.get("role") or self.kind)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a block is made of, before it is weighed."""

    fields: Mapping[str, object]
    """Without its marker."""
    ttl: Ttl | None


def pieces_of(source: Mapping[str, object]) -> list[Piece]:
    """Return the pieces of a message that count as a block each.

    Args:
        source: The message, or tools or a system prompt as its `content`.
    """
    pieces: list[Piece] = []
    listed = list(_listed(source))
    for index, fields in enumerate(listed):
        marker = fields.get(MARKER)
        if marker is None and index == len(listed) - 1:
            marker = source.get(MARKER)
        bare = {key: value for key, value in fields.items() if key != MARKER}
        pieces.append(Piece(bare, _ttl(marker)))
    return pieces


def block_of(piece: Piece, source: Source, counter: Counter) -> Block:
    """Return the block of a piece of a source, weighed and without its marker."""
    kind = source.kind
    text = piece.fields.get("text")
    words = text if isinstance(text, str) else ""
    return Block(
        source.name,
        digest_of(source.role, _written(piece.fields)),
        weigh_block(piece.fields, counter),
        Kind.SUMMARY if kind is Kind.MESSAGE and words.startswith(OPENINGS) else kind,
        lead=_lead(words) if kind is Kind.SYSTEM else "",
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


def _lead(words: str) -> str:
    before = words.partition(GOAL_LINE)[0].strip()
    return digest_of(before) if before else ""


def _ttl(marker: object) -> Ttl | None:
    if not isinstance(marker, Mapping):
        return None
    return "1h" if cast("Mapping[str, object]", marker).get("ttl") == "1h" else "5m"


def _written(value: object) -> str:
    # Keys keep their order: a provider that gets them in another one reads other bytes.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
