"""Reads the messages that LangGraph stores, whichever provider they were meant for.

Calls stand beside the content in one spelling for all providers. Older releases have only what
the provider wrote, and that among the arguments that were left over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.formats.content import summarized, tokens_in
from holdfast.formats.events import SourceMetadata
from holdfast.formats.json_access import (
    JsonObject,
    as_json,
    is_array,
    is_object,
    mapping,
    mappings,
    sequence,
    string,
    usage_in,
)
from holdfast.session import Usage
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.transcript import Content, Part
    from holdfast.wire.common import MediaKind

_SNAPSHOT = 7
"""The extension that holds a value of a channel as it is, and no object."""
_SHORTEST = 3
_PICKLED = b"\x80"
"""How the oldest checkpoints begin."""


class UnreadableValue(Exception):
    """A value cannot be unpacked; the message says why."""


@dataclass(frozen=True, slots=True)
class PackedObject:
    """An object that is still packed: most of them were seen before and stay so."""

    code: int
    payload: bytes


@dataclass(frozen=True, slots=True, eq=False)
class StoredObject:
    """An object: the name of its class, and what it was made of."""

    name: str
    fields: JsonObject


def decode(kind: str, blob: object) -> object:
    """Return a stored value, with the objects in it still packed.

    Args:
        kind: how it was packed: `msgpack`, `json` or nothing for the oldest, `null`, `bytes`.
        blob: what is in the column.

    Raises:
        Unreadable: when it is damaged, or packed in a way that is not read.
    """
    match kind, blob:
        case ("null" | "bytes" | "bytearray", _) | (_, None):
            return None
        case ("json" | "", str() | bytes()):
            if isinstance(blob, bytes) and blob.startswith(_PICKLED):
                raise UnreadableValue("it is packed as 'pickle', which is not read")
            try:
                return json.loads(blob)
            except ValueError as error:
                raise UnreadableValue(f"it is not JSON: {error}") from error
            except RecursionError:
                raise UnreadableValue("its values are nested too deeply") from None
        case ("msgpack", bytes()):
            return _from_msgpack(blob)
        case ("json" | "" | "msgpack", _):
            raise UnreadableValue("the column holds a number")
        case _:
            raise UnreadableValue(f"it is packed as {kind!r}, which is not read")


def unpacked(value: object) -> object:
    """Return the value of a channel: one that was stored as a snapshot is taken out of it."""
    if isinstance(value, PackedObject) and value.code == _SNAPSHOT:
        return _from_msgpack(value.payload)
    return value


def built(value: object) -> StoredObject | None:
    """Return an object in whichever way it was packed; None for any other value.

    Raises:
        Unreadable: when it is damaged.
    """
    if isinstance(value, PackedObject):
        parts = _from_msgpack(value.payload)
        if not is_array(parts) or len(parts) < _SHORTEST:
            return None
        return StoredObject(string(parts[1]), mapping(parts[2]))
    fields = mapping(value)
    if fields.get("type") == "constructor" and "lc" in fields:
        path = sequence(fields.get("id"))
        name = string(path[-1]) if path else ""
        return StoredObject(name, mapping(fields.get("kwargs")))
    return None


def members(value: object) -> Sequence[object]:
    """Return what is in a set or a list, in whichever way it was packed.

    Raises:
        Unreadable: when it is damaged.
    """
    if isinstance(value, PackedObject):
        parts = _from_msgpack(value.payload)
        return sequence(parts[2]) if is_array(parts) and len(parts) >= _SHORTEST else ()
    arguments = sequence(mapping(value).get("args"))
    return sequence(arguments[0]) if arguments else sequence(value)


def _from_msgpack(blob: bytes) -> object:
    unpack, refusals = _unpacking()
    try:
        return unpack(blob)
    except refusals as error:
        raise UnreadableValue(f"it is not MessagePack: {error}") from error
    except RecursionError:
        raise UnreadableValue("its values are nested too deeply") from None


@cache
def _unpacking() -> tuple[Callable[[bytes], object], tuple[type[Exception], ...]]:
    # It takes a while to load, and most files are no databases.
    from msgspec import DecodeError
    from msgspec.msgpack import Decoder

    def keep(code: int, payload: memoryview) -> PackedObject:
        return PackedObject(code, bytes(payload))

    unpack = cast("Callable[[bytes], object]", Decoder(ext_hook=keep).decode)
    return unpack, (DecodeError, UnicodeDecodeError)


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


def reasoning_of(block: JsonObject, speaker: Speaker) -> Iterator[Part]:
    """Return a thought, with the seal of the provider that wants it back.

    LangChain keeps a seal of Anthropic or Google among the extras, and the items of OpenAI as
    they came.
    """
    spoken = [string(each.get("text")) for each in mappings(block.get("summary"))]
    words = string(block.get("reasoning")) or "\n\n".join(spoken)
    if seal := string(mapping(block.get("extras")).get("signature")):
        yield from _sealed(words, seal, speaker)
    elif block.get("encrypted_content"):
        # A thought of the Responses API; its places in the stream are no part of it.
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
        case "media" | "image" | "audio" | "video" | "file" as kind if (
            "source" not in block and kind not in block
        ):
            text = string(block.get("text"))
            yield Text(text) if text else _media(block)
        case kind:
            is_anthropic = kind in _ANTHROPIC or kind.endswith("_tool_result") or "source" in block
            dialect = "anthropic" if is_anthropic else "openai"
            # A block as the provider spells it; LangChain takes an address without
            # its object.
            address = block.get("image_url")
            spelled = (
                {**block, "image_url": {"url": address}} if isinstance(address, str) else block
            )
            yield from _decoded(dialect, spelled, speaker.role)


def _sealed(words: str, seal: str, speaker: Speaker) -> Iterator[Part]:
    if not seal:
        if words:
            yield Thinking(words)
    elif speaker.is_google:
        # What one part of an answer of Google says.
        part = {"text": words, "thought": True, "thoughtSignature": seal}
        (message,) = DIALECTS["gemini"].decode(Body([{"role": "model", "parts": [part]}]))
        yield from message.parts
    else:
        yield from _decoded("anthropic", {"type": "thinking", "thinking": words, "signature": seal})


def _decoded(dialect: str, block: dict[str, object], role: Role = Role.ASSISTANT) -> Iterator[Part]:
    speaker = "assistant" if role is Role.ASSISTANT else "user"
    try:
        (message,) = DIALECTS[dialect].decode(Body([{"role": speaker, "content": [block]}]))
    except (DecodeError, ValueError):
        yield Text(as_json(as_plain(block)))
    else:
        yield from message.parts


def _media(block: JsonObject) -> Media:
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


ORIGIN = "langgraph"
REMOVAL = "remove"
"""The kind of an entry that takes another one away."""
ROLES = {
    "human": Role.USER,
    "user": Role.USER,
    "ai": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_SAME = ("content", "tool_calls", "tool_call_id", "status")
_ANTHROPIC_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_SEALS = "__gemini_function_call_thought_signatures__"
"""Where the seals of calls are kept that a model of Google made, by their ids."""


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message in a channel: what it is known by, and what it was made of."""

    id: str
    kind: str
    print: bytes
    fields: JsonObject


def entry_of(value: object) -> ChannelMessage | None:
    """Return the message that a value of a channel is; None when it is none.

    Raises:
        Unreadable: when it is damaged.
    """
    found = built(value)
    fields = mapping(value) if found is None else found.fields
    name = "" if found is None else found.name
    kind = string(fields.get("type")) or string(fields.get("role"))
    if kind not in ROLES and kind not in (REMOVAL, "chat"):
        kind = (kind or name).removesuffix("Chunk").removesuffix("Message").lower()
    if kind == "chat":
        kind = string(fields.get("role"))
    if kind not in ROLES and kind != REMOVAL:
        return None
    values = json.dumps([kind, *(fields.get(each) for each in _SAME)], default=str, sort_keys=True)
    mark = blake2b(values.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return ChannelMessage(string(fields.get("id")), kind, mark, fields)


def message_of(entry: ChannelMessage) -> Message:
    """Return the message itself."""
    fields = entry.fields
    role = ROLES[entry.kind]
    provider = string(mapping(fields.get("response_metadata")).get("model_provider"))
    speaker = Speaker(role, is_google=provider.startswith("google"))
    parts = tuple(parts_of(fields.get("content"), speaker))
    if role is Role.TOOL:
        given = entry.fields
        content: tuple[Content, ...] = tuple(
            part for part in parts if isinstance(part, Text | Media | Opaque)
        )
        name = string(given.get("name"))
        call = string(given.get("tool_call_id"))
        if entry.kind == "function":
            call = call or _unnamed(name)
        return Message(role, (ToolResult(call, content, given.get("status") == "error", name),))
    if is_summary(entry):
        return summarized("\n\n".join(p.text for p in parts if isinstance(p, Text)), ORIGIN)
    if role is Role.ASSISTANT:
        # The thoughts that stand beside the content.
        thoughts: list[Part] = []
        extra = mapping(fields.get("additional_kwargs"))
        if thought := string(extra.get("reasoning_content")):
            thoughts.append(Thinking(thought, extras={"openai": {"field": "reasoning_content"}}))
        thoughts.extend(reasoning_of(mapping(extra.get("reasoning")), speaker))
        return Message(role, (*thoughts, *parts, *_calls(fields)))
    return Message(role, parts)


def is_summary(entry: ChannelMessage) -> bool:
    """Say whether LangChain's own middleware wrote the message in place of older ones."""
    return mapping(entry.fields.get("additional_kwargs")).get("lc_source") == "summarization"


def native_of(entry: ChannelMessage, at: int | None) -> SourceMetadata:
    """Return what is known of a message besides its words."""
    fields = entry.fields
    name = string(fields.get("name"))
    if ROLES[entry.kind] is not Role.ASSISTANT:
        is_person = name and ROLES[entry.kind] is not Role.TOOL
        return SourceMetadata(id=entry.id, at=at, more={"name": name} if is_person else NO_EXTRAS)
    answer = mapping(fields.get("response_metadata"))
    models = (string(answer.get(each)) for each in ("model_name", "model", "model_id"))
    counts = mapping(fields.get("usage_metadata"))
    if counts:
        details = mapping(counts.get("input_token_details"))
        read, kept = _count(details, "cache_read"), _count(details, "cache_creation")
        # Here the cached tokens are counted among the input.
        fresh = max(0, _count(counts, "input_tokens") - read - kept)
        usage = Usage(1, fresh, _count(counts, "output_tokens"), read, kept)
    else:
        # Older releases have only what the provider wrote.
        usage = tokens_in(mapping(answer.get("token_usage"))) or usage_in(
            mapping(answer.get("usage")), _ANTHROPIC_COUNTS
        )
    return SourceMetadata(
        id=entry.id,
        model=next(filter(None, models), ""),
        usage=usage,
        at=at,
        more={"name": name} if name else NO_EXTRAS,
    )


def _count(counts: JsonObject, name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def _calls(fields: JsonObject) -> Iterator[ToolCall]:
    known = [*mappings(fields.get("tool_calls")), *mappings(fields.get("invalid_tool_calls"))]
    extra = mapping(fields.get("additional_kwargs"))
    seals = mapping(extra.get(_SEALS))
    for call in known:
        id_, arguments = string(call.get("id")), as_json(as_plain(call.get("args")))
        seal = string(seals.get(id_))
        extras = {"gemini": {"thoughtSignature": seal}} if seal else NO_EXTRAS
        yield ToolCall(id_, string(call.get("name")), arguments, extras)
    if known:
        return
    for call in mappings(extra.get("tool_calls")):
        yield _function_call(string(call.get("id")), mapping(call.get("function")))
    if single := mapping(extra.get("function_call")):
        yield _function_call(_unnamed(string(single.get("name"))), single)


def _function_call(id_: str, function: JsonObject) -> ToolCall:
    return ToolCall(id_, string(function.get("name")), as_json(function.get("arguments")))


def _unnamed(function: str) -> str:
    """Return what pairs a call and a result of the old kind, which have no id."""
    return f"function_{function}"
