"""OpenAI chat messages.

What this dialect cannot say: whether a result is an error, the order of words and calls in one
message (words come first), and the reasoning of another provider, which is left out.
Reasoning that vendors put beside the content is read as thinking and written back to the same
field. Calls of the old kind (`function_call`, role `function`) get ids that never reach the wire.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from holdfast.transcript import (
    NO_EXTRAS,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire.body import Body
from holdfast.wire.fields import (
    Misfit,
    Wire,
    content_parts,
    each,
    known_string,
    leftover,
    own,
    read_all,
    record,
    string,
)
from holdfast.wire.openai_parts import (
    NAME,
    envelope_of,
    joined,
    read_call,
    read_content,
    write_call,
    write_parts,
)
from holdfast.wire.words import SIGNS, as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Content, Extras, Form, Part, Transcript

__all__ = ["NAME", "decode", "encode"]

_SPOKEN = frozenset({"role", "content"})
_ASSISTANT = frozenset({"role", "content", "tool_calls", "function_call"})
_ANSWERED = frozenset({"role", "content", "tool_call_id"})
_RESULT = f"{NAME}:result"
"""How a result without content was written, so that it is written that way again."""
_REASONING = ("reasoning_content", "reasoning")
_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
}


def decode(body: Body) -> Transcript:
    """Read a list of OpenAI chat messages."""
    unnamed = _UnnamedCalls()
    return tuple(read_all(NAME, "messages", body.messages, partial(_message, unnamed)))


def encode(transcript: Transcript) -> Body:
    """Write OpenAI chat messages.

    Neighbors of one role stay apart, as the API accepts them, but for an assistant message
    after calls that wait for their results: results must stand right after the calls.
    """
    messages: list[Wire] = []
    for message in transcript:
        for written in _written(message):
            last = messages[-1] if messages else None
            if last and written["role"] == "assistant" and last.get("tool_calls"):
                messages[-1] = joined(last, written)
            else:
                messages.append(written)
    return Body(messages)


class _UnnamedCalls:
    """Gives ids to calls of the old kind, which have none, so that results find them."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[str] = []

    def open(self, name: str) -> str:
        self._count += 1
        call_id = f"function_{self._count}_{name}"
        self._open.append(call_id)
        return call_id

    def answer(self, name: str) -> str:
        return self._open.pop() if self._open else f"function_0_{name}"


def _message(unnamed: _UnnamedCalls, value: object) -> Message:
    raw = record(value)
    name = raw.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    content = raw.get("content")
    if role is Role.USER and type(content) is str and len(raw) == 2:
        if not content.startswith(SIGNS):
            return Message(role, (Text(content),))
    elif role is Role.TOOL:
        call_id = raw.get("tool_call_id")
        if name == "tool" and len(raw) == 3 and type(content) is str and type(call_id) is str:
            return Message(role, (ToolResult(call_id, (Text(content),)),))
        return _answered(unnamed, raw)
    elif role is Role.ASSISTANT:
        return _assistant(unnamed, raw)
    if role is None:
        raise Misfit(".role", f"unknown role {name!r}")
    extras = leftover(raw, _SPOKEN, NAME)
    if name == "developer":
        extras = {NAME: {**own(extras, NAME), "role": name}}
    parts, form = _content(raw)
    return compose(role, parts, form, extras)


def _content(raw: Wire) -> tuple[tuple[Content, ...], Form]:
    content = raw.get("content")
    if type(content) is str:
        return (Text(content),), ""
    if content is None:
        return (), "null" if "content" in raw else "absent"
    return content_parts(content, ".content", read_content), "parts"


def _assistant(unnamed: _UnnamedCalls, raw: Wire) -> Message:
    parts: list[Part] = []
    extras = NO_EXTRAS
    if len(raw) > 2 or "content" not in raw:
        parts, extras = _reasoned(leftover(raw, _ASSISTANT, NAME))
    content, form = _content(raw)
    parts += content
    if form == "parts" and not content:
        extras = _noted(extras, "content", [])
    calls = raw.get("tool_calls")
    if calls:
        parts += each(calls, ".tool_calls", read_call)
        form = "" if form == "null" else form
    elif "tool_calls" in raw:
        extras = _noted(extras, "tool_calls", calls)
    single = raw.get("function_call")
    if isinstance(single, dict):
        parts.append(_unnamed_call(unnamed, cast("Wire", single)))
        form = "" if form == "null" else form
    elif "function_call" in raw:
        extras = _noted(extras, "function_call", single)
    return compose(Role.ASSISTANT, tuple(parts), form, extras)


def _reasoned(extras: Extras) -> tuple[list[Part], Extras]:
    """Take reasoning out of the extras, as thinking that knows the field it came from."""
    if not extras:
        return [], extras
    fields = own(extras, NAME)
    found = [field for field in _REASONING if isinstance(fields.get(field), str)]
    parts: list[Part] = [
        Thinking(known_string(fields, field), extras={NAME: {"field": field}}) for field in found
    ]
    rest = {field: value for field, value in fields.items() if field not in found}
    return parts, {NAME: rest} if rest else NO_EXTRAS


def _noted(extras: Extras, field: str, value: object) -> Extras:
    return {NAME: {**own(extras, NAME), field: value}}


def _unnamed_call(unnamed: _UnnamedCalls, raw: Wire) -> ToolCall:
    name = string(raw, "name", ".function_call")
    arguments = string(raw, "arguments", ".function_call")
    return ToolCall(unnamed.open(name), name, arguments, {f"{NAME}:call": {"unnamed": True}})


def _answered(unnamed: _UnnamedCalls, raw: Wire) -> Message:
    name = known_string(raw, "name")
    envelope = envelope_of(raw.get("content"))
    content, form = _content({"content": envelope["content"]} if envelope else raw)
    silence: Extras = NO_EXTRAS if content else {_RESULT: {"form": form}}
    if envelope:
        silence = {_RESULT: {"form": form, "envelope": {**envelope, "content": None}}}
    if raw["role"] == "function":
        fields = {key: value for key, value in raw.items() if key != "content"}
        result = ToolResult(unnamed.answer(name), content, name=name, form=form)
        return Message(Role.TOOL, (result,), extras={NAME: fields, **silence})
    result = ToolResult(string(raw, "tool_call_id"), content, False, name, form)  # noqa: FBT003
    extras = leftover(raw, _ANSWERED, NAME)
    return Message(Role.TOOL, (result,), extras={**extras, **silence} if silence else extras)


def _written(message: Message) -> list[Wire]:
    if message.role is Role.TOOL or message.results:
        answers = [_written_result(message, result) for result in message.results]
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if rest:
            role = Role.USER if message.role is Role.TOOL else message.role
            answers += _written(Message(role, rest, message.form))
        return answers
    if message.role is Role.ASSISTANT:
        return _written_assistant(message)
    parts = portable(message, NAME)
    content = _written_content(message, parts)
    if message.form == "null" and not parts:
        content = None
    written: Wire = {"role": str(message.role), "content": content}
    if message.form == "absent" and not parts:
        del written["content"]
    return [written | own(message.extras, NAME)]


def _written_assistant(message: Message) -> list[Wire]:
    said: list[Part] = []
    written: Wire = {"role": "assistant", "content": None}
    written |= own(message.extras, NAME)
    calls: list[Wire] = []
    for part in portable(message, NAME):
        match part:
            case Thinking(text=text):
                field = known_string(own(part.extras, NAME), "field")
                before = written.get(field)
                written[field] = f"{before}\n\n{text}" if isinstance(before, str) else text
            case ToolCall() if own(part.extras, f"{NAME}:call").get("unnamed"):
                written["function_call"] = {"name": part.name, "arguments": part.arguments}
            case ToolCall():
                calls.append(write_call(part))
            case _:
                said.append(part)
    if calls:
        written["tool_calls"] = calls
    if said:
        written["content"] = _written_content(message, said)
        return [written]
    return _written_silence(message, written)


def _written_silence(message: Message, written: Wire) -> list[Wire]:
    """Write an assistant message without words; null is refused where nothing else is said."""
    match message.form:
        case "absent":
            del written["content"]
        case "null":
            pass
        case _ if written["content"] is not None:
            pass
        case _ if written.get("tool_calls") or written.get("function_call"):
            pass
        case _ if message.parts and len(written) == 2:
            # Another provider's reasoning was all there was, and none of it can be said.
            return []
        case _:
            written["content"] = ""
    return [written]


def _written_result(message: Message, result: ToolResult) -> Wire:
    noted = own(message.extras, NAME)
    content: object = ""
    if result.content:
        carrier = Message(Role.TOOL, result.content, result.form)
        content = _written_content(carrier, portable(carrier, NAME))
        envelope = own(own(message.extras, _RESULT), "envelope")
        if envelope and isinstance(content, list):
            content = {**envelope, "content": cast("object", content)}
    written: Wire = {"role": "tool", "tool_call_id": result.call_id, "content": content}
    if noted.get("role") == "function":
        del written["tool_call_id"]
    # Other providers take a result that says nothing; here it has to say so with empty text.
    match own(message.extras, _RESULT).get("form") if not result.content else None:
        case "parts":
            written["content"] = []
        case "null":
            written["content"] = None
        case "absent":
            del written["content"]
        case _:
            pass
    return written | noted


def _written_content(message: Message, parts: Sequence[Part]) -> object:
    text = as_string(message, parts, NAME)
    if text is not None:
        return text
    return write_parts(marked_texts(message, parts), message.role)
