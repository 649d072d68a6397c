"""Anthropic messages.

A user message that answers tool calls is read as a tool message, and what follows the results in
it as a user message; neighbors of one role become one message again when they are written. So
does what this dialect demands: a user speaks first, no text is blank, the last words of the
assistant do not end with a space, results come first, ids are unique and of plain letters.

What it cannot say: system messages inside the conversation that came from another dialect (they
become user messages), sounds and videos (a placeholder), reasoning of another provider.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import DecodeError
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
from holdfast.wire.common import (
    CONTINUES,
    NO_CONTENT,
    Body,
    Identities,
    Misfit,
    Wire,
    WireTurn,
    content_parts,
    each,
    grouped,
    is_reachable,
    known_string,
    leftover,
    own,
    placeholder,
    plain_name,
    read_all,
    read_url,
    record,
    string,
)
from holdfast.wire.foreign_media import read_foreign, write_foreign
from holdfast.wire.json_text import as_object, written
from holdfast.wire.message_text import as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Content, Extras, Form, Part, Transcript
    from holdfast.wire.common import MediaKind

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
_KNOWN = frozenset({"role", "content"})
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_Blocks: TypeAlias = "list[Wire]"


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
            content = raw.get("content")
            parts: tuple[Content, ...] = ()
            form: Form = ""
            if isinstance(content, str):
                parts = (Text(content),)
            elif content is not None:
                parts = content_parts(content, ".content", read_result_block)
                form = "parts"
            elif "content" in raw:
                form = "null"
            is_bare = len(raw) == 3 and "content" in raw
            extras = NO_EXTRAS if is_bare else leftover(raw, _RESULT, NAME)
            is_error = raw.get("is_error") is True
            return ToolResult(string(raw, "tool_use_id"), parts, is_error, "", form, extras)
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


def read_result_block(value: object) -> Content:
    """Read one block of a tool result."""
    part = read_block(value)
    if isinstance(part, Text | Media | Opaque):
        return part
    raise Misfit("", "a tool result holds text, media or provider items")


def _read_media(raw: Wire, kind: MediaKind, source: Wire) -> Content:
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
    return block.get("type") != "text" or (
        isinstance(text, str) and not (not text or text.isspace())
    )


def write_block(part: Part, identities: Identities) -> Wire:
    """Write a part of an assistant message."""
    match part:
        case Text(text=text, extras=extras):
            return {"type": "text", "text": text, **own(extras, NAME)}
        case Thinking(text=text, signature=signature, extras=extras):
            rest = own(extras, NAME)
            if rest.get("type") == _REDACTED:
                return {**rest, "data": signature or ""}
            block: Wire = {"type": "thinking", "thinking": text, **rest}
            return block if signature is None else {**block, "signature": signature}
        case ToolCall(id=call_id, name=name, arguments=arguments, extras=extras):
            block = {"type": "tool_use", "id": identities.open(call_id)}
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


def decode(body: Body) -> Transcript:
    """Read Anthropic messages and the system prompt beside them."""
    messages = [
        message
        for messages in read_all(NAME, "messages", body.messages, read_message)
        for message in messages
    ]
    if body.system is not None:
        messages.insert(0, read_system(body.system))
    return tuple(messages)


def read_system(system: object) -> Message:
    """Read the system prompt: text or blocks."""
    if isinstance(system, str):
        return Message(Role.SYSTEM, (Text(system),))
    try:
        parts = each(system, "", read_user_block)
    except Misfit as misfit:
        raise DecodeError(NAME, f"system{misfit.path}", misfit.problem) from None
    return Message(Role.SYSTEM, parts, "parts")


def read_message(value: object) -> list[Message]:
    """Read one message; results of tools in it are a message of their own."""
    raw = record(value)
    name = raw.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise Misfit(".role", f"unknown role {name!r}")
    extras = leftover(raw, _KNOWN, NAME) if len(raw) > 2 else NO_EXTRAS
    if role is Role.SYSTEM:
        # Told apart from the system prompt, which stands beside the messages.
        extras = {NAME: {**own(extras, NAME), "role": name}}
    return read_said(role, raw.get("content"), extras)


def read_said(role: Role, content: object, extras: Extras = NO_EXTRAS) -> list[Message]:
    """Read the content of one message: the results of tools in it are a message of their own.

    Raises:
        Misfit: when it cannot be read, with the path below the message.
    """
    if isinstance(content, str):
        return [compose(role, (Text(content),), "", extras)]
    read = read_block if role is Role.ASSISTANT else read_user_block
    parts = content_parts(content, ".content", read)
    results = [part for part in parts if isinstance(part, ToolResult)]
    if not results:
        return [compose(role, parts, "parts", extras)]
    answered = Message(Role.TOOL, tuple(results), extras=extras)
    if len(results) == len(parts):
        return [answered]
    rest = tuple(part for part in parts if not isinstance(part, ToolResult))
    return [answered, compose(role, rest, "parts")]


def encode(transcript: Transcript) -> Body:
    """Write Anthropic messages that the API accepts, given that calls and results are paired."""
    start = 0
    for message in transcript:
        # A system message that stood among the others is told apart from the prompt beside them.
        if message.role is not Role.SYSTEM or "role" in own(message.extras, NAME):
            break
        start += 1
    identities = Identities()
    turns = [turn for message in transcript[start:] if (turn := write_turn(message, identities))]
    messages = [write_message(turn) for turn in grouped(turns)]
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": CONTINUES})
    if messages and messages[-1]["role"] == "assistant":
        messages[-1] = _trimmed(messages[-1])
    return Body(messages, write_system(transcript[:start]))


def write_system(prompts: Transcript) -> object | None:
    """Write the system prompts at the start: as text, where one text says it."""
    if not prompts:
        return None
    if len(prompts) == 1:
        text = as_string(prompts[0], prompts[0].parts, NAME)
        if text is not None:
            return text
    identities = Identities()
    blocks = [
        write_block(part, identities)
        for prompt in prompts
        for part in marked_texts(prompt, portable(prompt, NAME))
    ]
    return [block for block in blocks if is_said(block)]


def write_turn(message: Message, identities: Identities) -> WireTurn | None:
    """Return what a message adds to the conversation; None when nothing of it can be said."""
    parts = portable(message, NAME)
    if message.parts and not parts:
        return None
    noted = own(message.extras, NAME)
    if message.role is Role.ASSISTANT:
        role = "assistant"
        blocks = [write_block(part, identities) for part in marked_texts(message, parts)]
    else:
        role = "system" if noted.get("role") == "system" else "user"
        blocks = [
            write_result(part, portable(Message(Role.TOOL, part.content), NAME), identities)
            for part in parts
            if isinstance(part, ToolResult)
        ]
        said = [part for part in parts if not isinstance(part, ToolResult)]
        blocks += [write_media(part) for part in marked_texts(message, said)]
    string = as_string(message, parts, NAME)
    fields = {key: value for key, value in noted.items() if key != "role"}
    return WireTurn(role, blocks, string, fields)


def write_message(turn: WireTurn) -> Wire:
    """Write a turn as one message, in which no text is blank and results come first."""
    if turn.text is not None and turn.text.strip():
        return {"role": turn.role, "content": turn.text, **turn.fields}
    blocks: Sequence[Wire] = [block for block in turn.blocks if is_said(block)]
    if turn.role == "user":
        # Stable, so that results keep their order and words theirs.
        blocks = sorted(blocks, key=lambda block: block.get("type") != "tool_result")
    content: object = blocks or NO_CONTENT
    return {"role": turn.role, "content": content, **turn.fields}


def _trimmed(message: Wire) -> Wire:
    """Return the last message without space at its end, which the API refuses."""
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": content.rstrip()}
    blocks = cast("_Blocks", content)
    last = blocks[-1]
    text = last.get("text")
    if last.get("type") != "text" or not isinstance(text, str) or text == text.rstrip():
        return message
    return {**message, "content": [*blocks[:-1], {**last, "text": text.rstrip()}]}
