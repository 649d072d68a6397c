"""Gemini contents.

Neighbors of one role become one turn, a user speaks first, and no text is empty. Calls may come
without an id: they get one from their order and name, which is never written, and responses
find their call by id or by the order of calls to the same function.

What this dialect cannot say: system messages inside the conversation (they become user turns)
and reasoning of another provider. Recent models ask for a signature on the calls of the current
turn; calls that another model made have none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby, starmap
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.transcript import Media, Message, Opaque, Role, Text, ToolCall, ToolResult
from holdfast.wire.body import Body
from holdfast.wire.fields import Misfit, Wire, each, leftover, own, read_all, record
from holdfast.wire.gemini_parts import NAME, is_own, read_part, write_part
from holdfast.wire.turns import CONTINUES, NO_CONTENT, Turn, grouped
from holdfast.wire.words import compose, marked_texts, portable

if TYPE_CHECKING:
    from holdfast.transcript import Extras, Part, Transcript

__all__ = ["NAME", "decode", "encode"]

_SYSTEM = f"{NAME}:system"
_KNOWN = frozenset({"role", "parts"})
_ROLES = {"user": Role.USER, "model": Role.ASSISTANT, "function": Role.USER}


def decode(body: Body) -> Transcript:
    """Read Gemini contents and the system instruction beside them."""
    names = _Names()
    turns = read_all(NAME, "contents", body.messages, partial(_messages, names))
    messages = [message for turn in turns for message in turn]
    if body.system is not None:
        messages.insert(0, _system(body.system, names))
    return tuple(messages)


class _Names:
    """Gives ids to calls without one, and finds the call that a response answers."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, list[str]] = {}

    def call(self, wire_id: str, name: str) -> str:
        self._count += 1
        call_id = wire_id or f"{NAME}_{self._count}_{name}"
        self._open.setdefault(name, []).append(call_id)
        return call_id

    def answer(self, wire_id: str, name: str) -> str:
        waiting = self._open.get(name, [])
        if wire_id:
            if wire_id in waiting:
                waiting.remove(wire_id)
            return wire_id
        return waiting.pop(0) if waiting else f"{NAME}_0_{name}"


def _system(system: object, names: _Names) -> Message:
    try:
        if isinstance(system, str):
            return Message(Role.SYSTEM, (Text(system),), extras={_SYSTEM: {"text": True}})
        raw = record(system)
        parts = _parts(raw, names, Role.SYSTEM)
    except Misfit as misfit:
        raise DecodeError(NAME, f"systemInstruction{misfit.path}", misfit.problem) from None
    fields = {key: value for key, value in raw.items() if key != "parts"}
    return Message(Role.SYSTEM, parts, extras={NAME: fields} if fields else {})


def _parts(raw: Wire, names: _Names, role: Role) -> tuple[Part, ...]:
    read = partial(read_part, name_call=names.call, name_answer=names.answer)
    parts = each(raw.get("parts"), ".parts", read)
    if role is Role.ASSISTANT or not any(isinstance(part, ToolCall) for part in parts):
        return parts
    # Nobody but the model calls tools.
    values = each(raw.get("parts"), ".parts", record)
    return tuple(starmap(_without_call, zip(parts, values, strict=True)))


def _without_call(part: Part, raw: Wire) -> Part:
    if not isinstance(part, ToolCall):
        return part
    return Opaque(NAME, raw, f"{part.name}: {part.arguments}")


def _messages(names: _Names, value: object) -> list[Message]:
    raw = record(value)
    name = raw.get("role", "user")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise Misfit(".role", f"unknown role {name!r}")
    extras: Extras = leftover(raw, _KNOWN, NAME)
    if "role" not in raw or name == "function":
        extras = {NAME: {**own(extras, NAME), "role": raw.get("role")}}
    parts = _parts(raw, names, role)
    messages: list[Message] = []
    for is_answer, run in groupby(parts, lambda part: isinstance(part, ToolResult)):
        if is_answer:
            messages.append(Message(Role.TOOL, tuple(run), extras=extras))
        else:
            messages.append(compose(role, tuple(run), "parts", extras))
        extras = {}
    return messages or [Message(role, (), "parts", extras=extras)]


def encode(transcript: Transcript) -> Body:
    """Write Gemini contents that the API accepts, given that calls and results are paired."""
    start = 0
    while start < len(transcript) and transcript[start].role is Role.SYSTEM:
        start += 1
    names: dict[str, str] = {}
    turns = [turn for message in transcript[start:] if (turn := _turn(message, names))]
    contents = [_finished(turn) for turn in grouped(turns)]
    if contents and contents[0].get("role") == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": CONTINUES}]})
    return Body(contents, _written_system(transcript[:start]))


def _written_system(prompts: Transcript) -> object | None:
    if not prompts:
        return None
    first = prompts[0]
    if len(prompts) == 1 and own(first.extras, _SYSTEM).get("text"):
        return first.text
    parts = [
        write_part(part)
        for prompt in prompts
        for part in marked_texts(prompt, portable(prompt, NAME))
    ]
    return {"parts": parts, **own(first.extras, NAME)}


def _turn(message: Message, names: dict[str, str]) -> Turn | None:
    """Return what a message adds to the conversation; None when nothing of it can be said."""
    parts = portable(message, NAME)
    if message.parts and not parts:
        return None
    for call in message.calls:
        names[call.id] = call.name
    role = "model" if message.role is Role.ASSISTANT else "user"
    written = [
        write_part(_sayable(part, names) if isinstance(part, ToolResult) else part)
        for part in marked_texts(message, parts)
    ]
    return Turn(role, written, None, own(message.extras, NAME))


def _sayable(result: ToolResult, names: dict[str, str]) -> ToolResult:
    content = portable(Message(Role.TOOL, result.content), NAME)
    said = tuple(part for part in content if isinstance(part, Text | Media | Opaque))
    known = names.get(result.call_id, "")
    # Agents may log another name with a result; here it has to be that of the call.
    name = result.name or known if is_own(result) else known or result.name
    return replace(result, content=said, name=name)


def _finished(turn: Turn) -> Wire:
    # An empty text is refused, unless a signature came with it.
    parts = [part for part in turn.blocks if part != {"text": ""}]
    content: Wire = {"role": turn.role, "parts": parts or [{"text": NO_CONTENT}], **turn.fields}
    if content["role"] is None:
        del content["role"]
    return content
