"""Items of the OpenAI Responses API: each item is one message.

Reasoning items are thinking, replayed whole or left out; one that nothing follows is left out,
because the API refuses it. Items that only this API understands (compaction, web search, ...)
travel as they are. What it cannot say: whether a result is an error.

A call and its result are items of their own. Functions carry JSON text, custom tools free text,
and the tools built into the API an action; all of them become tool calls here, and each is
written back as the kind of item it was.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, cast

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
    Violation,
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
from holdfast.wire.foreign_media import read_foreign, write_foreign
from holdfast.wire.json_text import free_text, is_json, value_of, wrapped, written
from holdfast.wire.message_text import as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Content, Extras, Form, Part, Transcript

NAME = "responses"
_ITEM = f"{NAME}:item"
ACTIONS = {
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
}
"""Calls of tools that the API brings, with the field that says what to do."""
OUTPUTS = frozenset(
    [
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
    ]
)
_FUNCTION = frozenset({"type", "call_id", "name", "arguments"})
_CUSTOM = frozenset({"type", "call_id", "name", "input"})
_OUTPUT = frozenset({"type", "call_id", "output"})
_TEXT = frozenset({"type", "text"})
_MESSAGE = f"{NAME}:message"
_KNOWN = frozenset({"type", "role", "content"})
_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
_CALLS = frozenset({"function_call", "custom_tool_call", *ACTIONS})


def is_content(kind: object) -> bool:
    """Say whether a type is one of message content, rather than of an item."""
    return isinstance(kind, str) and (kind.startswith(("input_", "output_")) or kind == "refusal")


def read_content(value: object, *, usual: str = "input_text") -> Content:
    """Read one part of a message or of an output; a kind that is not known is kept."""
    raw = record(value)
    match raw:
        case {"type": "input_text" | "output_text" as kind, "text": str() as text}:
            extras = leftover(raw, _TEXT, NAME) if len(raw) > 2 else NO_EXTRAS
            return Text(text, extras if kind == usual else {**extras, _ITEM: {"type": kind}})
        case {"type": "input_image", "image_url": str() as url}:
            return _read_media(raw, "image_url", url, "image")
        case {"type": "input_file", "file_data": str() as url}:
            return _read_media(raw, "file_data", url, "file")
        case {"type": "input_image" | "input_file" as kind, "file_id": str() as file_id}:
            rest = {key: entry for key, entry in raw.items() if key not in ("type", "file_id")}
            image = kind == "input_image"
            return Media("image" if image else "file", url=file_id, extras={NAME: rest})
        case _ if media := read_foreign(raw, NAME):
            return media
        case {"type": str()}:
            return Opaque(NAME, raw, known_string(raw, "refusal") or known_string(raw, "text"))
        case _:
            raise Misfit(".type", "a content part needs a type")


def _read_media(raw: Wire, key: str, url: str, kind: str) -> Content:
    media_type, payload, address = read_url(url)
    rest = {name: entry for name, entry in raw.items() if name not in ("type", key)}
    extras: Extras = {NAME: rest} if rest else NO_EXTRAS
    if kind == "image":
        return Media("image", media_type, payload, address, extras)
    return Media("file", media_type, payload, address, extras)


def write_content(part: Part, *, speaker: str) -> Wire:
    """Write one part of a message or of an output."""
    kind = "output_text" if speaker == "assistant" else "input_text"
    match part:
        case Text(text=text, extras=extras):
            noted = own(extras, _ITEM).get("type")
            return {"type": noted if noted else kind, "text": text, **own(extras, NAME)}
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media() if speaker != "assistant" and is_reachable(part, NAME):
            rest = own(part.extras, NAME)
            is_file_id = bool(part.url) and ":" not in part.url
            if part.kind == "image":
                place = "file_id" if is_file_id else "image_url"
                return {"type": "input_image", place: part.url or location(part), **rest}
            if part.kind != "file":
                return {"type": "input_text", "text": placeholder(part)}
            if is_file_id:
                return {"type": "input_file", "file_id": part.url, **rest}
            place = "file_data" if part.data or part.url.startswith("data:") else "file_url"
            return {"type": "input_file", place: location(part), **rest}
        case Media():
            return {"type": kind, "text": placeholder(part)}
        case unreachable:
            raise TypeError(f"{unreachable!r} is not content")


def read_call(raw: Wire) -> ToolCall:
    """Read the call of a function or of a tool that takes free text."""
    if raw.get("type") == "custom_tool_call":
        extras: Extras = {**leftover(raw, _CUSTOM, NAME), _ITEM: {"type": "custom_tool_call"}}
        arguments = wrapped(string(raw, "input"))
    else:
        extras = leftover(raw, _FUNCTION, NAME) if len(raw) > 4 else NO_EXTRAS
        arguments = string(raw, "arguments")
    return ToolCall(string(raw, "call_id"), string(raw, "name"), arguments, extras)


def read_action(raw: Wire) -> ToolCall:
    """Read the call of a tool that the API brings."""
    kind = string(raw, "type")
    place = ACTIONS[kind]
    known = frozenset({"type", "call_id", place})
    extras = {**leftover(raw, known, NAME), _ITEM: {"type": kind, "absent": place not in raw}}
    arguments = written(raw.get(place))
    return ToolCall(string(raw, "call_id"), kind.removesuffix("_call"), arguments, extras)


def write_call(call: ToolCall) -> Wire:
    """Write a call as the kind of item it was; one from another dialect calls a function."""
    noted = own(call.extras, _ITEM)
    kind = known_string(noted, "type")
    rest = own(call.extras, NAME)
    if kind == "custom_tool_call":
        free = free_text(call.arguments)
        return {"type": kind, "call_id": call.id, "name": call.name, "input": free, **rest}
    if kind in ACTIONS:
        item: Wire = {"type": kind, "call_id": call.id, **rest}
        return item if noted.get("absent") else item | {ACTIONS[kind]: value_of(call.arguments)}
    function: Wire = {"type": "function_call", "call_id": call.id, "name": call.name}
    return function | {"arguments": call.arguments} | rest


def read_output(raw: Wire) -> ToolResult:
    """Read the result of a call."""
    kind = string(raw, "type")
    place = "call_id" if isinstance(raw.get("call_id"), str) else "id"
    known = _OUTPUT if place == "call_id" else frozenset({"type", "id", "output"})
    extras = leftover(raw, known, NAME)
    if kind != "function_call_output" or place == "id":
        extras = {**extras, _ITEM: {"type": kind, "place": place}}
    output = raw.get("output")
    parts: tuple[Content, ...] = ()
    form: Form = ""
    if isinstance(output, str):
        parts = (Text(output),)
    elif isinstance(output, dict):
        parts = (Opaque(NAME, cast("Wire", output)),)
        form = "string"
    elif isinstance(output, list):
        parts = each(cast("object", output), ".output", read_output_part)
        form = "parts"
    else:
        form = "null" if "output" in raw else "absent"
    return ToolResult(string(raw, place), parts, form=form, extras=extras)


def read_output_part(value: object) -> Content:
    """Read one part of an output; streams of a shell have no type."""
    raw = record(value)
    if isinstance(raw.get("type"), str):
        return read_content(raw)
    if media := read_foreign(raw, NAME):
        return media
    streams = (known_string(raw, "stdout"), known_string(raw, "stderr"))
    return Opaque(NAME, raw, "\n".join(filter(None, streams)))


def write_output(result: ToolResult, parts: tuple[Part, ...]) -> Wire:
    """Write a result from the parts of it that may be said."""
    noted = own(result.extras, _ITEM)
    kind = known_string(noted, "type") or "function_call_output"
    item: Wire = {"type": kind, known_string(noted, "place") or "call_id": result.call_id}
    match result.form, parts:
        case "absent", ():
            pass
        case "null", ():
            item["output"] = None
        case "string", (Opaque(value=value),):
            item["output"] = dict(value)
        case "", (Text(text=text),):
            item["output"] = text
        case form, () if form != "parts":
            item["output"] = ""
        case _:
            item["output"] = [write_content(part, speaker="tool") for part in parts]
    return item | own(result.extras, NAME)


def decode(body: Body) -> Transcript:
    """Read the items of an input and the instructions beside them."""
    messages = read_all(NAME, "input", body.messages, read_item)
    if isinstance(body.system, str):
        messages.insert(0, Message(Role.SYSTEM, (Text(body.system),)))
    elif body.system is not None:
        raise DecodeError(NAME, "instructions", "expected text")
    return tuple(messages)


def read_item(value: object) -> Message:
    """Read one item.

    Raises:
        Misfit: when it cannot be read, with the path below the item.
    """
    raw = record(value)
    kind = raw.get("type")
    match kind:
        case "message" | None:
            return read_message(raw)
        case "function_call" | "custom_tool_call":
            return Message(Role.ASSISTANT, (read_call(raw),))
        case "reasoning":
            summaries = each(raw.get("summary") or [], ".summary", record)
            texts = [known_string(entry, "text") for entry in summaries]
            content = each(raw.get("content") or [], ".content", record)
            texts += [known_string(entry, "text") for entry in content]
            seal = raw.get("encrypted_content")
            text = "\n\n".join(filter(None, texts))
            return Message(
                Role.ASSISTANT,
                (Thinking(text, seal if isinstance(seal, str) else None, {NAME: raw}),),
            )
        case str() if kind in OUTPUTS:
            return Message(Role.TOOL, (read_output(raw),))
        case str() if kind in ACTIONS and isinstance(raw.get("call_id"), str):
            return Message(Role.ASSISTANT, (read_action(raw),))
        case str():
            return Message(Role.ASSISTANT, (Opaque(NAME, raw, _readable(raw)),))
        case _:
            raise Misfit(".type", "expected text")


def read_message(raw: Wire) -> Message:
    """Read an item that is a message."""
    name = raw.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise Misfit(".role", f"unknown role {name!r}")
    extras: dict[str, object] = dict(leftover(raw, _KNOWN, NAME)) if len(raw) > 2 else {}
    if "type" not in raw or role is Role.SYSTEM:
        # A system message among the items is told apart from the instructions beside them.
        extras[_MESSAGE] = {"role": name, "untyped": "type" not in raw}
    content = raw.get("content")
    if isinstance(content, str):
        return compose(role, (Text(content),), "", extras)
    usual = "output_text" if role is Role.ASSISTANT else "input_text"
    parts = content_parts(content, ".content", partial(read_content, usual=usual))
    if any(isinstance(part, Opaque) and not is_content(part.value["type"]) for part in parts):
        texts = [part.text for part in parts if isinstance(part, Text)]
        return Message(role, (Opaque(NAME, raw, "\n\n".join(filter(None, texts))),))
    return compose(role, parts, "parts", extras)


def _readable(raw: Wire) -> str:
    match raw:
        case {"output": str() as text} | {"code": str() as text} | {"text": str() as text}:
            return text
        case {"action": {"query": str() as query}} | {"arguments": {"query": str() as query}}:
            return f"searched: {query}"
        case {"action": {"url": str() as url}}:
            return f"opened: {url}"
        case {"revised_prompt": str() as text}:
            return text
        case _:
            return ""


def encode(transcript: Transcript) -> Body:
    """Write the items of an input; a system prompt at the start becomes the instructions."""
    system: str | None = None
    first = transcript[0] if transcript else None
    if first is not None and first.role is Role.SYSTEM and _MESSAGE not in first.extras:
        system = as_string(first, first.parts, NAME)
    start = 0 if system is None else 1
    items = [item for message in transcript[start:] for item in write_message(message)]
    left = set(_unfollowed(items))
    return Body([item for index, item in enumerate(items) if index not in left], system)


def write_message(message: Message) -> list[Wire]:
    """Write a message as items: words together, everything else by itself."""
    parts = portable(message, NAME)
    if not parts:
        return [] if message.parts else [_spoken(message, (), own(message.extras, NAME))]
    items: list[Wire] = []
    fields = own(message.extras, NAME)
    for is_item, run in groupby(parts, _is_item):
        if is_item:
            items += [write_item(part) for part in run]
        else:
            # The fields of a message belong to its first words: an id names one item.
            items.append(_spoken(message, tuple(run), fields))
            fields = {}
    return items


def _is_item(part: Part) -> bool:
    if isinstance(part, Opaque):
        return not is_content(part.value.get("type"))
    return isinstance(part, Thinking | ToolCall | ToolResult)


def write_item(part: Part) -> Wire:
    """Write one part that is an item of its own."""
    match part:
        case ToolCall():
            return write_call(part)
        case ToolResult():
            carrier = Message(Role.TOOL, part.content)
            return write_output(part, portable(carrier, NAME))
        case Thinking(extras=extras):
            return dict(own(extras, NAME))
        case Opaque(value=value):
            return dict(value)
        case unreachable:
            raise TypeError(f"{unreachable!r} is not an item")


def _spoken(message: Message, parts: Sequence[Part], fields: Wire) -> Wire:
    noted = own(message.extras, _MESSAGE)
    speaker = "user" if message.role is Role.TOOL else str(message.role)
    content: object = as_string(message, parts, NAME)
    if content is None or any(
        (isinstance(part, Text) and f"{NAME}:item" in part.extras) for part in parts
    ):
        written = marked_texts(message, parts)
        content = [write_content(part, speaker=speaker) for part in written]
    item: Wire = {"type": "message", "role": noted.get("role") or speaker, "content": content}
    if noted.get("untyped"):
        del item["type"]
    return item | fields


def _unfollowed(items: list[Wire]) -> list[int]:
    """Return the places of reasoning that is not followed by what it reasoned for."""
    found: list[int] = []
    is_followed = False
    for index in range(len(items) - 1, -1, -1):
        if _kind(items[index]) != "reasoning":
            is_followed = not _is_heard(items[index])
        elif not is_followed:
            found.append(index)
    return found


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every item that the API would refuse, and the rule it breaks."""
    found = [*_pairing(body.messages)]
    problem = "a reasoning item is not followed by what it reasoned for"
    found += (
        Violation(index, "reasoning-successor", problem) for index in _unfollowed(body.messages)
    )
    for index, item in enumerate(body.messages):
        found += _check_item(index, item)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _kind(item: Wire) -> object:
    return item.get("type", "message")


def _check_item(index: int, item: Wire) -> Iterator[Violation]:
    kind, role, content = _kind(item), item.get("role"), item.get("content")
    if not isinstance(kind, str):
        yield Violation(index, "unknown-type", "an item needs a type")
    if kind == "function_call" and not is_json(known_string(item, "arguments")):
        name = known_string(item, "name")
        yield Violation(index, "arguments-json", f"the arguments of {name!r} are not JSON text")
    if kind != "message":
        return
    if role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")
    if not isinstance(content, str | list):
        yield Violation(index, "shape", "content is text or a list of parts")
    for part in records(item.get("content")):
        kind = part.get("type")
        is_theirs = kind in ("output_text", "refusal")
        if not is_content(kind) or is_theirs is not (role == "assistant"):
            problem = f"a message of the {role} cannot hold a part of type {kind!r}"
            yield Violation(index, "unknown-type", problem)


def _pairing(items: list[Wire]) -> Iterator[Violation]:
    """Yield calls without an output and outputs without a call.

    An output may stand anywhere after its call. Calls of the last turn of the model are no
    violation: their tools may still be running.
    """
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for index, item in enumerate(items):
        kind = _kind(item)
        call_id = known_string(item, "call_id")
        if kind in _CALLS and call_id:
            if call_id in waiting:
                yield Violation(index, "pairing", f"call id {call_id!r} is used twice")
            waiting[call_id] = index
        elif kind in OUTPUTS:
            call_id = call_id or known_string(item, "id")
            if waiting.pop(call_id, None) is None:
                problem = "has its result already" if call_id in answered else "does not exist"
                message = f"a result answers call {call_id!r}, which {problem}"
                yield Violation(index, "pairing", message)
            answered.add(call_id)
    # Where the last items of the model begin, the results after them left aside.
    last = len(items)
    while last and _kind(items[last - 1]) in OUTPUTS:
        last -= 1
    while last and not _is_heard(items[last - 1]):
        last -= 1
    for call_id, index in waiting.items():
        if index < last:
            yield Violation(index, "pairing", f"call {call_id!r} has no result")


def _is_heard(item: Wire) -> bool:
    kind = item.get("type", "message")
    return kind in OUTPUTS or (kind == "message" and item.get("role") != "assistant")
