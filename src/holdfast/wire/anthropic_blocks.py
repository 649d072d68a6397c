"""The blocks of an Anthropic message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.transcript import NO_EXTRAS, Media, Opaque, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.arguments import as_object, written
from holdfast.wire.fields import (
    Misfit,
    Wire,
    content_parts,
    known_string,
    leftover,
    own,
    record,
    string,
)
from holdfast.wire.identity import plain_name
from holdfast.wire.media import (
    is_reachable,
    placeholder,
    read_foreign,
    read_url,
    write_foreign,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Content, Extras, Form, Part
    from holdfast.wire.identity import Identities
    from holdfast.wire.media import Kind

__all__ = [
    "NAME",
    "is_said",
    "read_block",
    "read_user_block",
    "write_block",
    "write_media",
    "write_result",
]

NAME = "anthropic"
_TEXT = frozenset({"type", "text"})
_THINKING = frozenset({"type", "thinking", "signature"})
_USE = frozenset({"type", "id", "name", "input"})
_RESULT = frozenset({"type", "tool_use_id", "content"})
_SOURCE = frozenset({"type", "source"})
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_PDF = "application/pdf"
_REDACTED = "redacted_thinking"
_SAID = ("title", "url", "text", "stdout", "stderr")
"""Where the results of the provider's own tools have words."""
_DEEPEST = 4


def read_block(value: object) -> Part:
    """Read one block; a kind that is not known is kept as it is."""
    raw = record(value)
    match raw.get("type"):
        case "text" if isinstance(text := raw.get("text"), str):
            return Text(text, leftover(raw, _TEXT, NAME) if len(raw) > 2 else NO_EXTRAS)
        case "tool_use":
            extras = leftover(raw, _USE, NAME) if len(raw) > 4 else NO_EXTRAS
            arguments = written(record(raw.get("input"), ".input"))
            return ToolCall(string(raw, "id"), string(raw, "name"), arguments, extras)
        case "tool_result":
            return _read_result(raw)
        case "thinking":
            signature = raw.get("signature")
            rest = {key: entry for key, entry in raw.items() if key not in _THINKING}
            seal = signature if isinstance(signature, str) else None
            return Thinking(string(raw, "thinking"), seal, {NAME: rest})
        case "redacted_thinking" if isinstance(payload := raw.get("data"), str):
            rest = {key: entry for key, entry in raw.items() if key != "data"}
            return Thinking("", payload, {NAME: rest})
        case "image" if "data" not in raw:
            return _read_media(raw, "image", record(raw.get("source"), ".source"))
        case "document":
            return _read_media(raw, "file", record(raw.get("source"), ".source"))
        case _ if media := read_foreign(raw, NAME):
            return media
        case str():
            return Opaque(NAME, raw, _readable(raw))
        case _:
            raise Misfit(".type", "a block needs a type")


def read_user_block(value: object) -> Part:
    """Read one block of a message that is not the model's; nobody else thinks or calls tools."""
    part = read_block(value)
    match part:
        case ToolCall(name=name, arguments=arguments):
            return Opaque(NAME, record(value), f"{name}: {arguments}")
        case Thinking():
            return Opaque(NAME, record(value))
        case _:
            return part


def _read_result(raw: Wire) -> ToolResult:
    content = raw.get("content")
    parts: tuple[Content, ...] = ()
    form: Form = ""
    if isinstance(content, str):
        parts = (Text(content),)
    elif content is not None:
        parts = content_parts(content, ".content", _read_content)
        form = "parts"
    elif "content" in raw:
        form = "null"
    is_bare = len(raw) == 3 and "content" in raw
    extras = NO_EXTRAS if is_bare else leftover(raw, _RESULT, NAME)
    is_error = raw.get("is_error") is True
    return ToolResult(string(raw, "tool_use_id"), parts, is_error, "", form, extras)


def _read_content(value: object) -> Content:
    part = read_block(value)
    if isinstance(part, Text | Media | Opaque):
        return part
    raise Misfit("", "a tool result holds text, media or provider items")


def _read_media(raw: Wire, kind: Kind, source: Wire) -> Content:
    extras: Extras = {NAME: {key: entry for key, entry in raw.items() if key not in _SOURCE}}
    match source:
        case {"type": "base64", "media_type": str() as mime, "data": str() as payload, **rest}:
            plain = Media(kind, mime, payload, extras=extras)
        case {"type": "url", "url": str() as url, **rest}:
            plain = Media(kind, url=url, extras=extras)
        case {"type": "file", "file_id": str() as file_id, **rest}:
            plain = Media(kind, url=file_id, extras=extras)
        case _:
            return Opaque(NAME, raw, _readable(source))
    return (read_foreign(raw, NAME) or Opaque(NAME, raw)) if rest else plain


def _readable(raw: Wire) -> str:
    """Return what another model may know of an item: its plain words, where it has any."""
    match raw:
        case {"type": "server_tool_use" | "mcp_tool_use", "name": str() as name, "input": asked}:
            return f"{name}: {json.dumps(asked, ensure_ascii=False)}" if asked else ""
        case _:
            return "\n".join(_words(raw))


def _words(raw: Wire, depth: int = _DEEPEST) -> Iterator[str]:
    """Return the words of what the provider's own tools found, wherever they stand."""
    for key in _SAID:
        if found := known_string(raw, key):
            yield found
    if raw.get("media_type") == "text/plain" and (found := known_string(raw, "data")):
        yield found
    if found := known_string(raw, "content"):
        yield found
    for key in ("source", "content") if depth else ():
        inside = raw.get(key)
        several = cast("list[object]", inside) if isinstance(inside, list) else [inside]
        for piece in several:
            if isinstance(piece, dict):
                yield from _words(cast("Wire", piece), depth - 1)


def is_said(block: Wire) -> bool:
    """Say whether the block may be sent: the provider refuses text that is empty or blank."""
    text = block.get("text")
    return block.get("type") != "text" or (isinstance(text, str) and not _is_blank(text))


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def write_block(part: Part, identities: Identities) -> Wire:
    """Write a part of an assistant message."""
    match part:
        case Text(text=text, extras=extras):
            return {"type": "text", "text": text, **own(extras, NAME)}
        case Thinking(text=text, signature=signature, extras=extras):
            return _write_thinking(text, signature, extras)
        case ToolCall(id=call_id, name=name, arguments=arguments, extras=extras):
            block: Wire = {"type": "tool_use", "id": identities.open(call_id)}
            block |= {"name": plain_name(name), "input": as_object(arguments)}
            return block | own(extras, NAME)
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media():
            # An assistant message takes no media.
            return {"type": "text", "text": placeholder(part)}
        case _:
            raise TypeError(f"{type(part).__name__} does not stand in an assistant message")


def _write_thinking(text: str, signature: str | None, extras: Extras) -> Wire:
    rest = own(extras, NAME)
    if rest.get("type") == _REDACTED:
        return {**rest, "data": signature or ""}
    block: Wire = {"type": "thinking", "thinking": text, **rest}
    if signature is not None:
        block["signature"] = signature
    return block


def write_media(part: Part) -> Wire:
    """Write a part of a user message or of a tool result."""
    match part:
        case Text(text=text, extras=extras):
            return {"type": "text", "text": text, **own(extras, NAME)}
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media() if source := _source(part):
            kind = "image" if part.kind == "image" else "document"
            return {"type": kind, "source": source, **own(part.extras, NAME)}
        case Media():
            return {"type": "text", "text": placeholder(part)}
        case _:
            raise TypeError(f"{type(part).__name__} does not stand in a user message")


def _source(media: Media) -> Wire | None:
    """Return where the media comes from, in the ways the provider accepts."""
    if media.kind not in ("image", "file") or not is_reachable(media, NAME):
        return None
    media_type, payload, address = media.media_type, media.data, media.url
    if address.startswith("data:"):
        media_type, payload, address = read_url(address)
    if payload:
        taken = _IMAGES if media.kind == "image" else {_PDF}
        if media_type not in taken and NAME not in media.extras:
            return None
        return {"type": "base64", "media_type": media_type, "data": payload}
    if "://" in address:
        return {"type": "url", "url": address}
    return {"type": "file", "file_id": address}


def write_result(result: ToolResult, parts: tuple[Part, ...], identities: Identities) -> Wire:
    """Write a tool result from the parts of it that may be said."""
    block: Wire = {"type": "tool_result", "tool_use_id": identities.answer(result.call_id)}
    blocks = [write for write in map(write_media, parts) if is_said(write)]
    match result:
        case ToolResult(content=(), form="null"):
            block["content"] = None
        case ToolResult(content=(), form="parts"):
            block["content"] = []
        case ToolResult(content=()):
            pass
        case ToolResult(content=(Text(text=text, extras=extras),), form=form) if (
            form != "parts" and NAME not in extras
        ):
            block["content"] = text
        case _:
            block["content"] = blocks
    block |= own(result.extras, NAME)
    if result.is_error:
        block["is_error"] = True
    elif block.get("is_error") is True:
        del block["is_error"]
    return block
