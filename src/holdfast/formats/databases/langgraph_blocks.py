"""Reads the content of LangChain's messages: its own blocks, and those of each provider.

LangChain spells thoughts, pictures and files its own way, or leaves them as the provider wrote
them. Calls stand beside the content; the same calls among it are passed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.loose import as_json, is_array, is_object, mapping, mappings, sequence, string
from holdfast.transcript import Media, Role, Text, Thinking
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.transcript import Part
    from holdfast.wire.common import MediaKind

__all__ = ["Speaker", "as_plain", "parts_of", "reasoning_of"]

_CALLS = frozenset(
    {
        "tool_use",
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "function_call",
        "custom_tool_call",
        "input_json_delta",
    }
)
_ANTHROPIC = frozenset(
    {"thinking", "redacted_thinking", "document", "server_tool_use", "mcp_tool_use"}
)
_KINDS: Mapping[str, MediaKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "file",
}
_OFFLOADED = "deepagents_blob"
"""Where a picture that was moved to a file of its own has the name of that file."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said something, and whose words they are."""

    role: Role
    is_google: bool = False
    """Whether a model of Google answered, whose seals nobody else takes."""


def parts_of(content: object, speaker: Speaker) -> Iterator[Part]:
    """Return the parts of a message from its content."""
    if isinstance(content, str):
        if content:
            yield Text(content)
        return
    for block in sequence(content) if is_array(content) else (content,):
        if isinstance(block, str):
            yield Text(block)
        elif is_object(block):
            yield from _block(block, speaker)


def reasoning_of(block: Mapping[str, object], speaker: Speaker) -> Iterator[Part]:
    """Return a thought, with the seal of the provider that wants it back.

    LangChain keeps a seal of Anthropic or Google among the extras, and the items of OpenAI as
    they came.
    """
    spoken = [string(each.get("text")) for each in mappings(block.get("summary"))]
    words = string(block.get("reasoning")) or "\n\n".join(spoken)
    if seal := string(mapping(block.get("extras")).get("signature")):
        yield from _sealed(words, seal, speaker)
    elif block.get("encrypted_content"):
        yield from _item(block)
    elif words:
        yield Thinking(words)


def as_plain(value: object) -> object:
    """Return a value as JSON can say it: an object inside it as its fields."""
    return json.loads(json.dumps(value, default=str))


def _block(block: dict[str, object], speaker: Speaker) -> Iterator[Part]:
    match string(block.get("type")):
        case kind if kind in _CALLS:
            return
        case "reasoning":
            yield from reasoning_of(block, speaker)
        case "reasoning_content" if is_object(found := block.get("reasoning_content")):
            yield from _sealed(string(found.get("text")), string(found.get("signature")), speaker)
        case "thinking" if speaker.is_google:
            words, seal = string(block.get("thinking")), string(block.get("signature"))
            yield from _sealed(words, seal, speaker)
        case "non_standard" if is_object(found := block.get("value")):
            yield from _block(found, speaker)
        case "media" | "image" | "audio" | "video" | "file" as kind if _is_own(block, kind):
            text = string(block.get("text"))
            yield Text(text) if text else _media(block)
        case kind:
            is_anthropic = kind in _ANTHROPIC or kind.endswith("_tool_result") or "source" in block
            dialect = "anthropic" if is_anthropic else "openai"
            yield from _decoded(dialect, _spelled(block), speaker.role)


def _is_own(block: Mapping[str, object], kind: str) -> bool:
    return "source" not in block and kind not in block


def _spelled(block: dict[str, object]) -> dict[str, object]:
    """Return a block as the provider spells it; LangChain takes an address without its object."""
    address = block.get("image_url")
    return {**block, "image_url": {"url": address}} if isinstance(address, str) else block


def _sealed(words: str, seal: str, speaker: Speaker) -> Iterator[Part]:
    if not seal:
        if words:
            yield Thinking(words)
    elif speaker.is_google:
        yield from _google_part({"text": words, "thought": True, "thoughtSignature": seal})
    else:
        yield from _decoded("anthropic", {"type": "thinking", "thinking": words, "signature": seal})


def _google_part(part: dict[str, object]) -> Iterator[Part]:
    """Return what one part of an answer of Google says."""
    (message,) = DIALECTS["gemini"].decode(Body([{"role": "model", "parts": [part]}]))
    yield from message.parts


def _item(block: Mapping[str, object]) -> Iterator[Part]:
    """Return a thought of the Responses API; its places in the stream are no part of it."""
    item = {name: value for name, value in block.items() if name != "index"}
    item["summary"] = [
        {name: value for name, value in each.items() if name != "index"}
        for each in mappings(block.get("summary"))
    ]
    try:
        (message,) = DIALECTS["responses"].decode(Body([{**item, "type": "reasoning"}]))
    except (DecodeError, ValueError):
        yield Text(as_json(as_plain(block)))
    else:
        yield from message.parts


def _decoded(dialect: str, block: dict[str, object], role: Role = Role.ASSISTANT) -> Iterator[Part]:
    speaker = "assistant" if role is Role.ASSISTANT else "user"
    try:
        (message,) = DIALECTS[dialect].decode(Body([{"role": speaker, "content": [block]}]))
    except (DecodeError, ValueError):
        yield Text(as_json(as_plain(block)))
    else:
        yield from message.parts


def _media(block: Mapping[str, object]) -> Media:
    media_type = string(block.get("mime_type"))
    blob = string(block.get(_OFFLOADED))
    addresses = (block.get("url"), block.get("file_id"), block.get("file_uri"), block.get("id"))
    address = next((found for each in addresses if (found := string(each))), "")
    data = string(block.get("base64")) or string(block.get("data"))
    kind = string(block.get("type"))
    return Media(
        kind=_KINDS.get(kind) or _KINDS.get(media_type.partition("/")[0], "file"),
        media_type=media_type,
        data=data,
        url="" if data else f"{_OFFLOADED}:{blob}" if blob else address,
    )
