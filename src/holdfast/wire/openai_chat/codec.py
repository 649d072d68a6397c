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
    Body,
    Misfit,
    Wire,
    content_parts,
    each,
    is_reachable,
    known_string,
    leftover,
    location,
    own,
    placeholder,
    read_all,
    read_url,
    record,
    records,
    string,
)
from holdfast.wire.foreign_media import envelope_of, read_foreign, write_foreign
from holdfast.wire.json_text import free_text, value_of, wrapped, written
from holdfast.wire.message_text import SIGNS, as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.transcript import Content, Extras, Form, Part, Transcript

NAME = "openai"
_CALL = f"{NAME}:call"
_INNER = f"{NAME}:inner"
_TEXT = frozenset({"type", "text"})
_IMAGE = frozenset({"type", "image_url"})
_AUDIO = frozenset({"type", "input_audio"})
_FILE = frozenset({"type", "file"})
_FUNCTION = frozenset({"id", "type", "function"})
_CUSTOM = frozenset({"id", "type", "custom"})
_FREE = frozenset({"name", "input"})
_SOUND = frozenset({"data", "format"})
_INSIDE = frozenset({"name", "arguments"})
_SPOKEN = frozenset({"role", "content"})
_ASSISTANT_FIELDS = frozenset({"role", "content", "tool_calls", "function_call"})
_ANSWERED = frozenset({"role", "content", "tool_call_id"})
_RESULT = f"{NAME}:result"
"""How a result without content was written, so that it is written that way again."""
_REASONING = ("reasoning_content", "reasoning")
# Looked up once: a member of an enumeration is found slowly, and each message asks for three.
_USER, _ASSISTANT, _TOOL = Role.USER, Role.ASSISTANT, Role.TOOL
ROLES = {
    "user": _USER,
    "assistant": _ASSISTANT,
    "tool": _TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
}
"""Who speaks, by the names on the wire."""


def read_content(value: object) -> Content:
    """Read one content part; a kind that is not known is kept as it is."""
    raw = record(value)
    match raw:
        case {"type": "text", "text": str() as text}:
            return Text(text, leftover(raw, _TEXT, NAME) if len(raw) > 2 else NO_EXTRAS)
        case {"type": "image_url", "image_url": {"url": str() as url}}:
            media_type, data, address = read_url(url)
            extras = _nested(raw, "image_url", _IMAGE, frozenset({"url"}))
            return Media("image", media_type, data, address, extras)
        case {"type": "input_audio"}:
            sound = record(raw.get("input_audio"), ".input_audio")
            media_type = f"audio/{string(sound, 'format', '.input_audio')}"
            extras = _nested(raw, "input_audio", _AUDIO, _SOUND)
            data = string(sound, "data", ".input_audio")
            return Media("audio", media_type, data, extras=extras)
        case {"type": "file", "file": {"file_data": str() as url}}:
            media_type, data, address = read_url(url)
            extras = _nested(raw, "file", _FILE, frozenset({"file_data"}))
            return Media("file", media_type, data, address, extras)
        case {"type": "file", "file": {"file_id": str() as file_id}}:
            extras = _nested(raw, "file", _FILE, frozenset({"file_id"}))
            # The dialect's name says whose file id it is, even when there is nothing else to say.
            return Media("file", url=file_id, extras={**extras, NAME: own(extras, NAME)})
        case _ if media := read_foreign(raw, NAME):
            return media
        case {"type": str()}:
            return Opaque(NAME, raw, known_string(raw, "refusal") or known_string(raw, "text"))
        case _:
            raise Misfit(".type", "a content part needs a type")


def read_call(value: object) -> ToolCall:
    """Read one tool call, of a function or of a tool that takes free text."""
    raw = record(value)
    plain = cast("Wire", raw.get("function"))
    if len(raw) == 3 and "type" in raw and type(plain) is dict and len(plain) == 2:
        # Nearly all are written so.
        id_, name, text = raw.get("id"), plain.get("name"), plain.get("arguments")
        if type(id_) is str and type(name) is str and type(text) is str:
            return ToolCall(id_, name, text)
    call_id = string(raw, "id")
    if raw.get("type") == "custom":
        custom = record(raw.get("custom"), ".custom")
        noted: Extras = {**_nested(raw, "custom", _CUSTOM, _FREE), _CALL: {"custom": True}}
        arguments = wrapped(string(custom, "input", ".custom"))
        return ToolCall(call_id, string(custom, "name", ".custom"), arguments, noted)
    function = record(raw.get("function"), ".function")
    arguments = function.get("arguments")
    extras = NO_EXTRAS
    if len(raw) != 3 or len(function) != 2 or not isinstance(arguments, str):
        shape = {"untyped": "type" not in raw, "parsed": not isinstance(arguments, str)}
        extras = _nested(raw, "function", _FUNCTION, _INSIDE)
        extras = {**extras, _CALL: shape} if any(shape.values()) else extras
    text = arguments if isinstance(arguments, str) else written(arguments)
    return ToolCall(call_id, string(function, "name", ".function"), text, extras)


def write_call(call: ToolCall) -> Wire:
    """Write one tool call."""
    if not call.extras:
        function: Wire = {"name": call.name, "arguments": call.arguments}
        return {"id": call.id, "type": "function", "function": function}
    noted = own(call.extras, _CALL)
    if noted.get("custom"):
        free: Wire = {"name": call.name, "input": free_text(call.arguments)}
        custom: Wire = {"id": call.id, "type": "custom", "custom": free | own(call.extras, _INNER)}
        return custom | own(call.extras, NAME)
    arguments = value_of(call.arguments) if noted.get("parsed") else call.arguments
    function = {"name": call.name, "arguments": arguments, **own(call.extras, _INNER)}
    raw: Wire = {"id": call.id, "type": "function", "function": function}
    if noted.get("untyped"):
        del raw["type"]
    return raw | own(call.extras, NAME)


def merged_roles(messages: Iterable[Wire]) -> list[Wire]:
    """Return messages of which no two in a row have the same role, as strict servers demand.

    Words are joined by a blank line. Results of tools stay apart: each answers a call of its own.
    """
    merged: list[Wire] = []
    for message in messages:
        role = message.get("role")
        if not merged or role == "tool" or role != merged[-1].get("role"):
            merged.append(message)
            continue
        both = joined(merged[-1], message)
        if not both["tool_calls"]:
            del both["tool_calls"]
        merged[-1] = both
    return merged


def joined(first: Wire, second: Wire) -> Wire:
    """Return two messages of one role as one; of an assistant's, results follow their calls."""
    merged: Wire = {**first, **second}
    contents = [one for one in (first.get("content"), second.get("content")) if one]
    match contents:
        case [str() as one, str() as other]:
            merged["content"] = f"{one}\n\n{other}"
        case [one, other]:
            merged["content"] = [*_listed(one), *_listed(other)]
        case _:
            merged["content"] = contents[0] if contents else None
    merged["tool_calls"] = [
        call for one in (first, second) for call in records(one.get("tool_calls"))
    ]
    return merged


def _listed(content: object) -> list[object]:
    if isinstance(content, list):
        return cast("list[object]", content)
    return [{"type": "text", "text": content}]


def write_content(part: Part, role: Role) -> Wire:
    """Write one content part; media stand in messages of the user and of tools."""
    match part:
        case Text(text=text, extras=extras):
            return {"type": "text", "text": text, **own(extras, NAME)}
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media() if role in (Role.USER, Role.TOOL) and is_reachable(part, NAME):
            inner = own(part.extras, _INNER)
            outer = own(part.extras, NAME)
            match part.kind:
                case "image":
                    image = {"url": location(part), **inner}
                    return {"type": "image_url", "image_url": image, **outer}
                case "audio" if part.data:
                    name = part.media_type.rpartition("/")[2]
                    sound = {"data": part.data, "format": name, **inner}
                    return {"type": "input_audio", "input_audio": sound, **outer}
                case "file" if (
                    part.url and "://" not in part.url and not part.url.startswith("data:")
                ):
                    return {"type": "file", "file": {"file_id": part.url, **inner}, **outer}
                case "file" if part.data or part.url.startswith("data:"):
                    return {"type": "file", "file": {"file_data": location(part), **inner}, **outer}
                case _:
                    return {"type": "text", "text": placeholder(part)}
        case Media():
            return {"type": "text", "text": placeholder(part)}
        case _:
            raise TypeError(f"{type(part).__name__} is not content")


def _nested(raw: Wire, key: str, outside: frozenset[str], inside: frozenset[str]) -> Extras:
    """Return the unknown fields of a part, and those of the object inside it."""
    extras: dict[str, object] = dict(leftover(raw, outside, NAME)) if len(raw) > 2 else {}
    found = cast("Wire", raw[key])
    rest = {name: value for name, value in found.items() if name not in inside}
    if rest:
        extras[_INNER] = rest
    return extras or NO_EXTRAS


def decode(body: Body) -> Transcript:
    """Read a list of OpenAI chat messages."""
    unnamed = _UnnamedCalls()
    return tuple(read_all(NAME, "messages", body.messages, partial(read_message, unnamed)))


def encode(transcript: Transcript) -> Body:
    """Write OpenAI chat messages.

    Neighbors of one role stay apart, as the API accepts them, but for an assistant message
    after calls that wait for their results: results must stand right after the calls.
    """
    messages: list[Wire] = []
    for message in transcript:
        for raw in write_message(message):
            last = messages[-1] if messages else None
            if last and raw["role"] == "assistant" and last.get("tool_calls"):
                messages[-1] = joined(last, raw)
            else:
                messages.append(raw)
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


def read_message(unnamed: _UnnamedCalls, value: object) -> Message:
    """Read one message; the plain ones, which most are, first."""
    raw = record(value)
    name = raw.get("role")
    role = ROLES.get(name) if isinstance(name, str) else None
    content = raw.get("content")
    if role is _TOOL:
        call_id = raw.get("tool_call_id")
        if name == "tool" and len(raw) == 3 and type(content) is str and type(call_id) is str:
            return Message(role, (ToolResult(call_id, (Text(content),)),))
        return read_tool_message(unnamed, raw)
    if role is _ASSISTANT:
        return read_assistant(unnamed, raw)
    if type(content) is str and role is _USER and len(raw) == 2 and not content.startswith(SIGNS):
        return Message(role, (Text(content),))
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


def read_assistant(unnamed: _UnnamedCalls, raw: Wire) -> Message:
    """Read a message of the assistant: reasoning, content and calls."""
    parts: list[Part] = []
    extras = NO_EXTRAS
    if not _ASSISTANT_FIELDS.issuperset(raw):
        extras = leftover(raw, _ASSISTANT_FIELDS, NAME)
        # Reasoning leaves the extras as thinking that knows the field it came from.
        fields = own(extras, NAME)
        found = [field for field in _REASONING if isinstance(fields.get(field), str)]
        parts += [
            Thinking(known_string(fields, field), extras={NAME: {"field": field}})
            for field in found
        ]
        rest = {field: value for field, value in fields.items() if field not in found}
        extras = {NAME: rest} if rest else NO_EXTRAS
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
        function = cast("Wire", single)
        name = string(function, "name", ".function_call")
        arguments = string(function, "arguments", ".function_call")
        shape: Extras = {_CALL: {"unnamed": True}}
        parts.append(ToolCall(unnamed.open(name), name, arguments, shape))
        form = "" if form == "null" else form
    elif "function_call" in raw:
        extras = _noted(extras, "function_call", single)
    return compose(_ASSISTANT, tuple(parts), form, extras)


def _noted(extras: Extras, field: str, value: object) -> Extras:
    return {NAME: {**own(extras, NAME), field: value}}


def read_tool_message(unnamed: _UnnamedCalls, raw: Wire) -> Message:
    """Read a message of a tool, or of a function of the old kind."""
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


def write_message(message: Message) -> list[Wire]:
    """Write one message: each result in it becomes a message of its own."""
    if len(message.parts) == 1 and not message.extras and message.form != "parts":
        # Nearly all messages are plain words or the plain words of a tool.
        part = message.parts[0]
        if isinstance(part, ToolResult) and len(part.content) == 1 and part.form != "parts":
            said = part.content[0]
            if isinstance(said, Text) and not said.extras and message.role is Role.TOOL:
                return [{"role": "tool", "tool_call_id": part.call_id, "content": said.text}]
        elif isinstance(part, Text) and not part.extras and message.role is not Role.TOOL:
            return [{"role": str(message.role), "content": part.text}]
    if message.role is Role.TOOL or message.results:
        answers = [write_result(message, result) for result in message.results]
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if rest:
            role = Role.USER if message.role is Role.TOOL else message.role
            answers += write_message(Message(role, rest, message.form))
        return answers
    if message.role is Role.ASSISTANT:
        return write_assistant(message)
    parts = portable(message, NAME)
    content = _write_content(message, parts)
    if message.form == "null" and not parts:
        content = None
    written: Wire = {"role": str(message.role), "content": content}
    if message.form == "absent" and not parts:
        del written["content"]
    return [written | own(message.extras, NAME)]


def write_assistant(message: Message) -> list[Wire]:
    """Write a message of the assistant; none when nothing of it can be said."""
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
            case ToolCall() if own(part.extras, _CALL).get("unnamed"):
                written["function_call"] = {"name": part.name, "arguments": part.arguments}
            case ToolCall():
                calls.append(write_call(part))
            case _:
                said.append(part)
    if calls:
        written["tool_calls"] = calls
    if said:
        written["content"] = _write_content(message, said)
        return [written]
    # Nothing is said in words; null is refused where nothing else is said either.
    says_more = any(written.get(field) for field in ("content", "tool_calls", "function_call"))
    if message.form == "absent":
        del written["content"]
    elif message.form != "null" and not says_more and written["content"] is None:
        if message.parts and len(written) == 2:
            # Another provider's reasoning was all there was, and none of it can be said.
            return []
        written["content"] = ""
    return [written]


def write_result(message: Message, result: ToolResult) -> Wire:
    """Write one result as a message of a tool."""
    noted = own(message.extras, NAME)
    content: object = ""
    if result.content:
        carrier = Message(Role.TOOL, result.content, result.form)
        content = _write_content(carrier, portable(carrier, NAME))
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


def _write_content(message: Message, parts: Sequence[Part]) -> object:
    text = as_string(message, parts, NAME)
    if text is not None:
        return text
    return [write_content(part, message.role) for part in marked_texts(message, parts)]
