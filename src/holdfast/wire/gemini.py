"""Gemini contents.

Neighbors of one role become one turn, a user speaks first, and no text is empty. Calls may come
without an id: they get one from their order and name, which is never written, and responses
find their call by id or by the order of calls to the same function.

What this dialect cannot say: system messages inside the conversation (they become user turns)
and reasoning of another provider. Recent models ask for a signature on the calls of the current
turn; calls that another model made have none.
The API accepts field names in two spellings (`functionCall`, `function_call`); a part remembers the
one it came with. Signatures belong to their part and stay with it.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

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
    CONTINUES,
    NO_CONTENT,
    Body,
    Misfit,
    Wire,
    WireTurn,
    each,
    grouped,
    kind_of,
    known_string,
    leftover,
    own,
    placeholder,
    read_all,
    read_url,
    record,
    records,
    string,
)
from holdfast.wire.foreign_media import read_foreign, write_foreign
from holdfast.wire.json_text import as_object, object_in, written
from holdfast.wire.message_text import compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.transcript import Content, Extras, Part, Transcript

NAME = "gemini"
Reader: TypeAlias = "Callable[[str, str], str]"
"""Gives an id to what came without: from the id on the wire, perhaps empty, and the name."""
_SHAPE = f"{NAME}:shape"
_CALL = ("functionCall", "function_call")
_ANSWER = ("functionResponse", "function_response")
_INLINE = ("inlineData", "inline_data")
_FILE = ("fileData", "file_data")
_SEAL = ("thoughtSignature", "thought_signature")
_RUN = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")
_PLACES = ("data", "fileUri", "file_uri")
_WORDS = ("output", "result", "error")
_SYSTEM = f"{NAME}:system"
_KNOWN = frozenset({"role", "parts"})
_ROLES = {"user": Role.USER, "model": Role.ASSISTANT, "function": Role.USER}


def read_part(value: object, name_call: Reader, name_answer: Reader) -> Part:
    """Read one part; a kind that is not known is kept as it is."""
    raw = record(value)
    match raw:
        case {"text": str() as text, "thought": True}:
            seal = next((raw[key] for key in _SEAL if isinstance(raw.get(key), str)), None)
            # The part is replayed whole, so nothing has to be put together again.
            return Thinking(text, seal if isinstance(seal, str) else None, {NAME: raw})
        case {"text": str() as text}:
            return Text(text, _rest(raw, "text") if len(raw) > 1 else NO_EXTRAS)
        case _ if key := call_key(raw):
            call = record(raw[key], f".{key}")
            name = string(call, "name", f".{key}")
            shape: Wire = {"key": key, "id": "id" in call, "args": "args" in call}
            shape["rest"] = {
                field: call[field] for field in call if field not in ("name", "args", "id")
            }
            arguments = written(record(call.get("args") or {}, f".{key}.args"))
            call_id = name_call(known_string(call, "id"), name)
            return ToolCall(call_id, name, arguments, {**_rest(raw, key), _SHAPE: shape})
        case _ if key := answer_key(raw):
            return read_answer(raw, key, name_answer)
        case _:
            return read_media(raw)


def call_key(raw: Wire) -> str:
    """Return the field that holds a call, or nothing."""
    return next((key for key in _CALL if key in raw), "")


def answer_key(raw: Wire) -> str:
    """Return the field that holds a response, or nothing."""
    return next((key for key in _ANSWER if key in raw), "")


def _rest(raw: Wire, *known: str) -> Extras:
    rest = {key: value for key, value in raw.items() if key not in known}
    return {NAME: rest} if rest else NO_EXTRAS


def read_answer(raw: Wire, key: str, name_answer: Reader) -> ToolResult:
    """Read a response to a call, with the shape that it is written back in."""
    answer = record(raw[key], f".{key}")
    name = string(answer, "name", f".{key}")
    response = record(answer.get("response"), f".{key}.response")
    word = next(iter(response), "")
    words = response.get(word)
    is_plain = len(response) == 1 and word in _WORDS and isinstance(words, str)
    known = ("name", "response", "id", "parts")
    shape: Wire = {
        "key": key,
        "id": "id" in answer,
        "word": word if is_plain else "",
        "rest": {field: answer[field] for field in answer if field not in known},
    }
    plain = words if isinstance(words, str) and is_plain else written(response)
    content: list[Content] = [Text(plain)]
    if "parts" in answer:
        content += each(answer["parts"], f".{key}.parts", read_media)
        shape["parts"] = True
    call_id = name_answer(known_string(answer, "id"), name)
    is_error = is_plain and word == "error"
    extras: Extras = {**_rest(raw, key), _SHAPE: shape}
    return ToolResult(call_id, tuple(content), is_error, name, "", extras)


def read_media(value: object) -> Media | Opaque:
    """Read media, or keep a part of another kind as it is."""
    raw = record(value)
    for key in (*_INLINE, *_FILE):
        if key not in raw or "type" in raw:
            continue
        media = record(raw[key], f".{key}")
        mime = "mime_type" if "mime_type" in media else "mimeType"
        place = next((place for place in _PLACES if isinstance(media.get(place), str)), "")
        if not place:
            break
        media_type, payload = known_string(media, mime), known_string(media, place)
        shape: Wire = {"key": key, "mime": mime if mime in media else "", "place": place}
        shape["rest"] = {field: media[field] for field in media if field not in (mime, place)}
        extras: Extras = {**_rest(raw, key), _SHAPE: shape}
        if place == "data":
            return Media(kind_of(media_type), media_type, payload, "", extras)
        return Media(kind_of(media_type), media_type, "", payload, extras)
    if foreign := read_foreign(raw, NAME):
        return foreign
    nothing: Wire = {}
    inner = next((found for key in _RUN if (found := own(raw, key))), nothing)
    return Opaque(NAME, raw, known_string(inner, "code") or known_string(inner, "output"))


def write_part(part: Part) -> Wire:
    """Write one part of a turn; a result comes with the content that may be said of it."""
    match part:
        case Text(text=text, extras=extras):
            return {"text": text, **own(extras, NAME)}
        case Thinking(extras=extras):
            return dict(own(extras, NAME))
        case ToolCall():
            shape = own(part.extras, _SHAPE)
            arguments = as_object(part.arguments)
            inner: Wire = {"name": part.name, "args": arguments, "id": part.id}
            if shape and not shape["id"]:
                del inner["id"]
            if shape and not shape["args"] and not arguments:
                del inner["args"]
            key = known_string(shape, "key") or _CALL[0]
            return {key: inner | own(shape, "rest"), **own(part.extras, NAME)}
        case ToolResult():
            return write_answer(part)
        case Opaque(value=value):
            return dict(value)
        case Media():
            return write_foreign(part, NAME) or write_media(part)
        case unreachable:
            raise TypeError(f"{unreachable!r} must be marked before it is written")


def is_own(result: ToolResult) -> bool:
    """Say whether a result was read from this dialect, and is written back as it was."""
    return bool(own(result.extras, _SHAPE))


def write_answer(result: ToolResult) -> Wire:
    """Write a response to a call."""
    shape = own(result.extras, _SHAPE)
    texts = [part.text for part in result.content if isinstance(part, Text)]
    text = texts[0] if len(texts) == 1 else "\n".join(texts)
    word = known_string(shape, "word")
    response: Wire | None = None
    if shape and not word:
        response = object_in(text)
    if response is None:
        usual = "output" if word in ("", "error") else word
        response = {"error" if result.is_error else usual: text}
    inner: Wire = {"name": result.name or "unknown", "response": response, "id": result.call_id}
    if shape and not shape["id"]:
        del inner["id"]
    media = [write_part(part) for part in result.content if not isinstance(part, Text)]
    if media or shape.get("parts"):
        inner["parts"] = media
    key = known_string(shape, "key") or _ANSWER[0]
    return {key: inner | own(shape, "rest"), **own(result.extras, NAME)}


def write_media(media: Media) -> Wire:
    """Write media in the shape that it came in, or as data or an address."""
    shape = own(media.extras, _SHAPE)
    media_type, payload, address = media.media_type, media.data, media.url
    if address.startswith("data:"):
        media_type, payload, address = read_url(address)
    if shape:
        mime = known_string(shape, "mime")
        inner: Wire = {mime: media_type} if mime else {}
        inner |= {known_string(shape, "place"): payload or address, **own(shape, "rest")}
        return {known_string(shape, "key"): inner, **own(media.extras, NAME)}
    if payload and media_type:
        return {"inlineData": {"mimeType": media_type, "data": payload}}
    if "://" in address:
        typed: Wire = {"mimeType": media_type} if media_type else {}
        return {"fileData": {**typed, "fileUri": address}}
    return {"text": placeholder(media)}


def decode(body: Body) -> Transcript:
    """Read Gemini contents and the system instruction beside them."""
    names = _Names()
    turns = read_all(NAME, "contents", body.messages, partial(read_content, names))
    messages = [message for turn in turns for message in turn]
    if body.system is not None:
        messages.insert(0, read_system(body.system, names))
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


def read_system(system: object, names: _Names) -> Message:
    """Read the system instruction: text, or content with parts."""
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
    return tuple(
        Opaque(NAME, value, f"{part.name}: {part.arguments}")
        if isinstance(part, ToolCall)
        else part
        for part, value in zip(parts, values, strict=True)
    )


def read_content(names: _Names, value: object) -> list[Message]:
    """Read one turn; responses in it are messages of their own."""
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
    turns = [turn for message in transcript[start:] if (turn := write_turn(message, names))]
    contents = [write_content(turn) for turn in grouped(turns)]
    if contents and contents[0].get("role") == "model":
        contents.insert(0, {"role": "user", "parts": [{"text": CONTINUES}]})
    return Body(contents, write_system(transcript[:start]))


def write_system(prompts: Transcript) -> object | None:
    """Write the system prompts at the start as the system instruction."""
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


def write_turn(message: Message, names: dict[str, str]) -> WireTurn | None:
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
    return WireTurn(role, written, None, own(message.extras, NAME))


def _sayable(result: ToolResult, names: dict[str, str]) -> ToolResult:
    content = portable(Message(Role.TOOL, result.content), NAME)
    said = tuple(part for part in content if isinstance(part, Text | Media | Opaque))
    known = names.get(result.call_id, "")
    # Agents may log another name with a result; here it has to be that of the call.
    name = result.name or known if is_own(result) else known or result.name
    return replace(result, content=said, name=name)


def write_content(turn: WireTurn) -> Wire:
    """Write a turn, in which no text is empty."""
    # An empty text is refused, unless a signature came with it.
    parts = [part for part in turn.blocks if part != {"text": ""}]
    content: Wire = {"role": turn.role, "parts": parts or [{"text": NO_CONTENT}], **turn.fields}
    if content["role"] is None:
        del content["role"]
    return content


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every turn that the API would refuse, and the rule it breaks."""
    contents = body.messages
    found: list[Violation] = []
    if contents and contents[0].get("role") == "model":
        found.append(Violation(0, "first-role", "the first turn must be the user's"))
    found += _check_pairing(contents)
    for index, content in enumerate(contents):
        found += _check_content(index, content)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _check_content(index: int, content: Wire) -> Iterator[Violation]:
    role, parts = content.get("role", "user"), content.get("parts")
    if role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")
    if not isinstance(parts, list):
        yield Violation(index, "shape", "a turn has a list of parts")
    elif not parts:
        yield Violation(index, "empty-text", "a turn needs at least one part")
    known = records(content.get("parts"))
    if any(part == {"text": ""} or not part for part in known):
        yield Violation(index, "empty-text", "a part is empty")
    for part in known:
        answer = answer_key(part)
        for key in filter(None, (call_key(part), answer)):
            inner = own(part, key)
            name = known_string(inner, "name")
            if not name:
                yield Violation(index, "shape", f"a {key} has no name")
            arguments = inner.get("response" if key == answer else "args", {})
            if not isinstance(arguments, dict):
                problem = f"what {name!r} takes or gives is not an object"
                yield Violation(index, "arguments-json", problem)


def _check_pairing(contents: list[Wire]) -> Iterator[Violation]:
    """Yield turns with calls that the next turn does not answer, name by name.

    Calls of the last turn are no violation: their tools may still be running.
    """
    at, calls = 0, list[str]()
    for index, content in enumerate(contents):
        parts = records(content.get("parts"))
        answers = [
            known_string(own(part, key), "name") for part in parts if (key := answer_key(part))
        ]
        if sorted(calls) != sorted(answers):
            place = at if len(calls) > len(answers) else index
            called, answered = (", ".join(names) or "nothing" for names in (calls, answers))
            problem = f"calls of {called} are followed by results of {answered}"
            yield Violation(place, "pairing", problem)
        at = index
        calls = [known_string(own(part, key), "name") for part in parts if (key := call_key(part))]
