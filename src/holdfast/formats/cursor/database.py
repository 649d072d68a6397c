"""Reads the database of a chat of Cursor's command line: one session, its messages as JSON.

The table `blobs` holds everything by the hash of its content: messages, and the states that list
them. The table `meta` names the newest state. The program is closed; this is what databases hold,
as other readers of them say. Messages have no times, and nothing says what an answer cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from holdfast.formats.content import contents, speaker_of, thought
from holdfast.formats.events import About, MessageEvent, Problem, SourceMetadata, StrandStarted
from holdfast.formats.json_access import (
    as_json,
    is_object,
    mapping,
    mappings,
    milliseconds,
    parsed,
    string,
)
from holdfast.formats.reader import LIKELY, DatabaseReader, Format, KeyAllocator, Sign
from holdfast.transcript import Media, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.reader import DatabaseQuery, Tables

_MESSAGE = 1
_FOLDER = 9
_NAME_SIZE = 32
_FILE = "file://"
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST = 10
"""How many bytes a number has at most."""


@dataclass(frozen=True, slots=True)
class ChatRoot:
    """The newest state of a chat, as far as it can be read."""

    messages: tuple[str, ...]
    """The names of the messages, as the table has them."""
    cwd: str


def root_of(content: bytes) -> ChatRoot:
    """Return what a state says, as far as it can be read."""
    names: list[str] = []
    cwd = ""
    for field, value in _fields(content):
        if field == _MESSAGE and len(value) == _NAME_SIZE:
            names.append(value.hex())
        elif field == _FOLDER and not cwd:
            text = value.decode("utf-8", "replace")
            cwd = unquote(text.removeprefix(_FILE)) if text.startswith(_FILE) else ""
    return ChatRoot(tuple(names), cwd)


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the fields that hold bytes; nothing more after what is no protobuf."""
    at = 0
    while at < len(content):
        tag, at = _number(content, at)
        kind = tag & 7
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind, 0)
        if kind == _VARINT:
            _, at = _number(content, at)
        elif kind == _BYTES:
            size, at = _number(content, at)
        elif not size:
            return
        if at + size > len(content):
            return
        if kind == _BYTES:
            yield tag >> 3, content[at : at + size]
        at += size


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; where none ends, one that ends everything."""
    value = 0
    for place, byte in enumerate(content[at : at + _LONGEST]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    return 7, len(content)


_TABLES = {"blobs": frozenset(["id", "data"]), "meta": frozenset(["key", "value"])}
_ROLES = {role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)}
_UNNAMED = "New Agent"


def recognize(tables: Tables) -> Sign | None:
    """Say why tables are those of Cursor; None when they are not."""
    if all(tables.get(name) == columns for name, columns in _TABLES.items()):
        return Sign("the tables blobs and meta of a chat of Cursor", LIKELY)
    return None


def read(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of Cursor."""
    known = _known(query)
    own = string(known.get("agentId"))
    content = _blob(query, string(known.get("latestRootBlobId")))
    if content is None:
        return
    root = root_of(content)
    title, model = string(known.get("name")), string(known.get("lastUsedModel"))
    about = About(
        id=own,
        title="" if title == _UNNAMED else title,
        model=model,
        cwd=root.cwd,
        started=milliseconds(known.get("createdAt")),
    )
    yield StrandStarted(strand=own, line=1, about=about)
    keys = KeyAllocator()
    for place, name in enumerate(root.messages, 1):
        found = parsed(_blob(query, name))
        if not is_object(found):
            yield Problem(place, f"message {place} of the chat is missing, or no JSON object")
            continue
        role, content = _ROLES.get(string(found.get("role"))), found.get("content")
        if role is None:
            message = None
        elif isinstance(content, str):
            message = Message(role, (Text(content),) if content else ())
        else:
            options = mapping(mapping(found.get("providerOptions")).get("cursor"))
            failed = mapping(options.get("highLevelToolCallResult")).get("isError") is True
            parts = [part for block in mappings(content) for part in _parts(block, failed=failed)]
            results = tuple(part for part in parts if isinstance(part, ToolResult))
            if results:
                message = Message(Role.TOOL, results)
            else:
                message = Message(speaker_of(parts, role), tuple(parts))
        if message is not None and message.parts:
            key = keys.take(name, place)
            native = SourceMetadata(id=name, model=model if message.role is Role.ASSISTANT else "")
            yield MessageEvent(strand=own, line=place, key=key, message=message, native=native)


def _known(query: DatabaseQuery) -> JsonObject:
    """Return what is known of the chat: JSON, which is written as hexadecimal digits."""
    for row in query.rows("meta", ("key", "value"), order=("key",)):
        text = row.get("value")
        try:
            found = parsed(bytes.fromhex(string(text)))
        except ValueError:
            found = parsed(text)
        if "latestRootBlobId" in mapping(found):
            return mapping(found)
    return {}


def _blob(query: DatabaseQuery, name: str) -> bytes | None:
    for row in query.rows("blobs", ("data",), where={"id": name}):
        content = row.get("data")
        content = content.encode() if isinstance(content, str) else content
        return content if isinstance(content, bytes) else None
    return None


def _parts(block: JsonObject, *, failed: bool) -> Iterator[Part]:
    kind = string(block.get("type"))
    if kind == "reasoning":
        text = string(block.get("text"))
        options = mapping(mapping(block.get("providerOptions")).get("anthropic"))
        seal = string(block.get("signature")) or string(options.get("signature"))
        yield thought(text, seal)
    elif kind == "redacted-reasoning":
        yield Thinking("", string(block.get("data")) or None)
    elif kind == "tool-call":
        asked = block.get("args") if "args" in block else block.get("input")
        name = string(block.get("toolName"))
        yield ToolCall(string(block.get("toolCallId")), name, as_json(asked))
    elif kind == "tool-result":
        shown = [
            part for each in mappings(block.get("experimental_content")) for part in _shown(each)
        ]
        if shown:
            said = tuple(shown)
        else:
            result = block.get("result")
            if result is None and is_object(output := block.get("output")):
                result = output.get("value")
            said = (Text(result if isinstance(result, str) else as_json(result)),)
        yield ToolResult(
            string(block.get("toolCallId")),
            said,
            is_error=failed or block.get("isError") is True,
            name=string(block.get("toolName")),
        )
    else:
        yield from _shown(block)


def _shown(block: JsonObject) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a block; a picture may be an address or its bytes."""
    picture = string(block.get("image"))
    if not picture:
        return contents([block])
    kind = string(block.get("mimeType")) or string(block.get("mediaType"))
    if picture.startswith(("data:", "http:", "https:")):
        return contents([{"url": picture, "mimeType": kind}])
    return (Media(media_type=kind, data=picture),)


CURSOR_CHAT = DatabaseReader(
    format=Format("cursor-chat", "Cursor CLI chat, SQLite", "openai", writable=False),
    recognize=recognize,
    read=read,
)
