"""The parts of Gemini content.

The API accepts field names in two spellings (`functionCall`, `function_call`); a part remembers
the one it came with. Signatures belong to their part and stay with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.transcript import NO_EXTRAS, Media, Opaque, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.arguments import as_object, object_in, written
from holdfast.wire.fields import Wire, each, known_string, own, record, string
from holdfast.wire.media import kind_of, placeholder, read_foreign, read_url, write_foreign

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.transcript import Content, Extras, Part

__all__ = ["NAME", "Reader", "answer_key", "call_key", "is_own", "read_part", "write_part"]

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
            return _read_call(raw, key, name_call)
        case _ if key := answer_key(raw):
            return _read_answer(raw, key, name_answer)
        case _:
            return _read_media(raw)


def call_key(raw: Wire) -> str:
    """Return the field that holds a call, or nothing."""
    return next((key for key in _CALL if key in raw), "")


def answer_key(raw: Wire) -> str:
    """Return the field that holds a response, or nothing."""
    return next((key for key in _ANSWER if key in raw), "")


def _rest(raw: Wire, *known: str) -> Extras:
    rest = {key: value for key, value in raw.items() if key not in known}
    return {NAME: rest} if rest else NO_EXTRAS


def _read_call(raw: Wire, key: str, name_call: Reader) -> ToolCall:
    call = record(raw[key], f".{key}")
    name = string(call, "name", f".{key}")
    shape: Wire = {"key": key, "id": "id" in call, "args": "args" in call}
    shape["rest"] = {field: call[field] for field in call if field not in ("name", "args", "id")}
    arguments = written(record(call.get("args") or {}, f".{key}.args"))
    call_id = name_call(known_string(call, "id"), name)
    return ToolCall(call_id, name, arguments, {**_rest(raw, key), _SHAPE: shape})


def _read_answer(raw: Wire, key: str, name_answer: Reader) -> ToolResult:
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
        content += each(answer["parts"], f".{key}.parts", _read_media)
        shape["parts"] = True
    call_id = name_answer(known_string(answer, "id"), name)
    is_error = is_plain and word == "error"
    extras: Extras = {**_rest(raw, key), _SHAPE: shape}
    return ToolResult(call_id, tuple(content), is_error, name, "", extras)


def _read_media(value: object) -> Media | Opaque:
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
    return read_foreign(raw, NAME) or Opaque(NAME, raw, _readable(raw))


def _readable(raw: Wire) -> str:
    for key in _RUN:
        inner = own(raw, key)
        if inner:
            return known_string(inner, "code") or known_string(inner, "output")
    return ""


def write_part(part: Part) -> Wire:
    """Write one part of a turn; a result comes with the content that may be said of it."""
    match part:
        case Text(text=text, extras=extras):
            return {"text": text, **own(extras, NAME)}
        case Thinking(extras=extras):
            return dict(own(extras, NAME))
        case ToolCall():
            return _write_call(part)
        case ToolResult():
            return _write_answer(part)
        case Opaque(value=value):
            return dict(value)
        case Media():
            return write_foreign(part, NAME) or _write_media(part)
        case unreachable:
            raise TypeError(f"{unreachable!r} must be marked before it is written")


def _write_call(call: ToolCall) -> Wire:
    shape = own(call.extras, _SHAPE)
    arguments = as_object(call.arguments)
    inner: Wire = {"name": call.name, "args": arguments, "id": call.id}
    if shape and not shape["id"]:
        del inner["id"]
    if shape and not shape["args"] and not arguments:
        del inner["args"]
    key = known_string(shape, "key") or _CALL[0]
    return {key: inner | own(shape, "rest"), **own(call.extras, NAME)}


def is_own(result: ToolResult) -> bool:
    """Say whether a result was read from this dialect, and is written back as it was."""
    return bool(own(result.extras, _SHAPE))


def _write_answer(result: ToolResult) -> Wire:
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


def _write_media(media: Media) -> Wire:
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
