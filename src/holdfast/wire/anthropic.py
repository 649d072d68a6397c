"""Anthropic messages.

A user message that answers tool calls is read as a tool message, and what follows the results in
it as a user message; neighbors of one role become one message again when they are written. So
does what this dialect demands: a user speaks first, no text is blank, the last words of the
assistant do not end with a space, results come first, ids are unique and of plain letters.

What it cannot say: system messages inside the conversation that came from another dialect (they
become user messages), sounds and videos (a placeholder), reasoning of another provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import DecodeError
from holdfast.transcript import NO_EXTRAS, Message, Role, Text, ToolResult
from holdfast.wire.anthropic_blocks import (
    NAME,
    is_said,
    read_block,
    read_user_block,
    write_block,
    write_media,
    write_result,
)
from holdfast.wire.body import Body
from holdfast.wire.fields import Misfit, Wire, content_parts, each, leftover, own, read_all, record
from holdfast.wire.identity import Identities
from holdfast.wire.turns import CONTINUES, NO_CONTENT, Turn, grouped
from holdfast.wire.words import as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Extras, Part, Transcript

__all__ = ["NAME", "decode", "encode", "read_said"]

_KNOWN = frozenset({"role", "content"})
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_Blocks: TypeAlias = "list[Wire]"


def decode(body: Body) -> Transcript:
    """Read Anthropic messages and the system prompt beside them."""
    messages = [
        message
        for messages in read_all(NAME, "messages", body.messages, _messages)
        for message in messages
    ]
    if body.system is not None:
        messages.insert(0, _system(body.system))
    return tuple(messages)


def _system(system: object) -> Message:
    if isinstance(system, str):
        return Message(Role.SYSTEM, (Text(system),))
    try:
        parts = each(system, "", read_user_block)
    except Misfit as misfit:
        raise DecodeError(NAME, f"system{misfit.path}", misfit.problem) from None
    return Message(Role.SYSTEM, parts, "parts")


def _messages(value: object) -> list[Message]:
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
    while start < len(transcript) and _is_prompt(transcript[start]):
        start += 1
    identities = Identities()
    turns = [turn for message in transcript[start:] if (turn := _turn(message, identities))]
    messages = [_finished(turn) for turn in grouped(turns)]
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": CONTINUES})
    if messages and messages[-1]["role"] == "assistant":
        messages[-1] = _trimmed(messages[-1])
    return Body(messages, _written_system(transcript[:start]))


def _is_prompt(message: Message) -> bool:
    return message.role is Role.SYSTEM and "role" not in own(message.extras, NAME)


def _written_system(prompts: Transcript) -> object | None:
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


def _turn(message: Message, identities: Identities) -> Turn | None:
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
        blocks = _user_blocks(message, parts, identities)
    string = as_string(message, parts, NAME)
    fields = {key: value for key, value in noted.items() if key != "role"}
    return Turn(role, blocks, string, fields)


def _user_blocks(message: Message, parts: tuple[Part, ...], identities: Identities) -> _Blocks:
    results: _Blocks = []
    for part in parts:
        if isinstance(part, ToolResult):
            carrier = Message(Role.TOOL, part.content)
            results.append(write_result(part, portable(carrier, NAME), identities))
    said = [part for part in parts if not isinstance(part, ToolResult)]
    return results + [write_media(part) for part in marked_texts(message, said)]


def _finished(turn: Turn) -> Wire:
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
