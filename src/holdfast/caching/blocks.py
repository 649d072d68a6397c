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

from holdfast.caching.marks import GOAL_LINE, MARKER, is_instruction
from holdfast.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, Estimator
from holdfast.wire.markers import OPENINGS
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cost import Ttl
    from holdfast.tokens import Counter
    from holdfast.wire import Body
    from holdfast.wire.tool_specs import ToolSpec

__all__ = ["Block", "BlockReader", "Kind", "Sent", "digest_of", "weigh_block"]

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


class BlockReader:
    """Takes requests apart, weighing again only what the last request did not have."""

    def __init__(self, counter: Counter | None = None) -> None:
        """Count words with `counter`; with the usual estimate if none is given."""
        self._counter: Counter = counter or Estimator()
        self._known: dict[tuple[str, Hashable], tuple[Block, ...]] = {}

    def read(self, sent: Sent) -> tuple[Block, ...]:
        """Return the blocks of a request, in the order in which they are cached.

        A block that the last request had at the same place is the same object.
        """
        known: dict[tuple[str, Hashable], tuple[Block, ...]] = {}
        blocks: list[Block] = []
        for name, kind, source in _sources(sent):
            key = (name, _frozen(source))
            found = self._known.get(key)
            if found is None:
                found = tuple(self._blocks(name, kind, source))
            known[key] = found
            blocks += found
        self._known = known
        return tuple(blocks)

    def _blocks(self, name: str, kind: Kind, source: Mapping[str, object]) -> Iterator[Block]:
        role = str(source.get("role") or kind)
        pieces = list(_pieces(source))
        for index, piece in enumerate(pieces):
            bare = {key: value for key, value in piece.items() if key != MARKER}
            marker = piece.get(MARKER)
            if marker is None and index == len(pieces) - 1:
                marker = source.get(MARKER)
            text = bare.get("text")
            words = text if isinstance(text, str) else ""
            yield Block(
                name,
                digest_of(role, _written(bare)),
                weigh_block(bare, self._counter),
                Kind.SUMMARY if kind is Kind.MESSAGE and words.startswith(OPENINGS) else kind,
                _ttl(marker),
                _lead(words) if kind is Kind.SYSTEM else "",
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


def _sources(sent: Sent) -> Iterator[tuple[str, Kind, Mapping[str, object]]]:
    """Yield what blocks are made of, with its name."""
    for tool in write_tools(sent.tools, sent.dialect):
        yield f"tool {_tool_name(tool)}", Kind.TOOL, {"content": [tool]}
    if sent.body.system is not None:
        yield "the system prompt", Kind.SYSTEM, {"content": sent.body.system}
    for number, message in enumerate(sent.body.messages, 1):
        if is_instruction(message) and not sent.body.system:
            yield "the system prompt", Kind.SYSTEM, message
        else:
            yield f"message {number} ({message.get('role')})", Kind.MESSAGE, message


def _pieces(source: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
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


def _tool_name(tool: Mapping[str, object]) -> str:
    inner = tool.get("function")
    named = cast("Mapping[str, object]", inner) if isinstance(inner, Mapping) else tool
    return str(named.get("name") or "declarations")


def _lead(words: str) -> str:
    before = words.partition(GOAL_LINE)[0].strip()
    return digest_of(before) if before else ""


def _ttl(marker: object) -> Ttl | None:
    if not isinstance(marker, Mapping):
        return None
    return "1h" if cast("Mapping[str, object]", marker).get("ttl") == "1h" else "5m"


def _frozen(value: object) -> Hashable:
    """Return a value to look JSON up by: in time for its parts, since texts know their hash."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return tuple([(key, _frozen(each)) for key, each in fields.items()])
    if isinstance(value, list):
        return ("", *map(_frozen, cast("list[object]", value)))
    # One, true and 1.0 are equal in Python and differ in JSON.
    return (None, type(value), str(value))


def _written(value: object) -> str:
    # Keys keep their order: a provider that gets them in another one reads other bytes.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
