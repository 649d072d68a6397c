"""Reads the database of a chat of Cursor's command line: one session, its messages as JSON.

The table `blobs` holds everything by the hash of its content: messages, and the states that list
them. The table `meta` names the newest state. The program is closed; this is what databases hold,
as other readers of them say. Messages have no times, and nothing says what an answer cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About, Begun, Native, Told
from holdfast.formats.cursor.root import root_of
from holdfast.formats.database_reader import DatabaseReader
from holdfast.formats.document import Format, Problem
from holdfast.formats.keys import Keys
from holdfast.formats.loose import as_json, is_object, mapping, mappings, parsed, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import LIKELY, Sign, contents, speaker_of, thought
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.database_reader import Query, Tables
    from holdfast.transcript import Part

__all__ = ["CURSOR_CHAT"]

_TABLES = {"blobs": frozenset(["id", "data"]), "meta": frozenset(["key", "value"])}
_ROLES = {role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)}
_UNNAMED = "New Agent"


def _recognize(tables: Tables) -> Sign | None:
    if all(tables.get(name) == columns for name, columns in _TABLES.items()):
        return Sign("the tables blobs and meta of a chat of Cursor", LIKELY)
    return None


def _read(query: Query) -> Iterator[Event]:
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
        started=moment(known.get("createdAt")),
    )
    yield Begun(strand=own, line=1, about=about)
    keys = Keys()
    for place, name in enumerate(root.messages, 1):
        found = parsed(_blob(query, name))
        if not is_object(found):
            yield Problem(place, f"message {place} of the chat is missing, or no JSON object")
            continue
        message = _message(found)
        if message is not None and message.parts:
            key = keys.take(name, place)
            native = Native(id=name, model=model if message.role is Role.ASSISTANT else "")
            yield Told(strand=own, line=place, key=key, message=message, native=native)


def _known(query: Query) -> Mapping[str, object]:
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


def _blob(query: Query, name: str) -> bytes | None:
    for row in query.rows("blobs", ("data",), where={"id": name}):
        content = row.get("data")
        return content.encode() if isinstance(content, str) else _bytes(content)
    return None


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) else None


def _message(entry: Mapping[str, object]) -> Message | None:
    role, content = _ROLES.get(string(entry.get("role"))), entry.get("content")
    if role is None:
        return None
    if isinstance(content, str):
        return Message(role, (Text(content),) if content else ())
    options = mapping(mapping(entry.get("providerOptions")).get("cursor"))
    failed = mapping(options.get("highLevelToolCallResult")).get("isError") is True
    parts = [part for block in mappings(content) for part in _parts(block, failed=failed)]
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    if results:
        return Message(Role.TOOL, results)
    return Message(speaker_of(parts, role), tuple(parts))


def _parts(block: Mapping[str, object], *, failed: bool) -> Iterator[Part]:
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
        yield ToolResult(
            string(block.get("toolCallId")),
            _said(block),
            is_error=failed or block.get("isError") is True,
            name=string(block.get("toolName")),
        )
    else:
        yield from _shown(block)


def _shown(block: Mapping[str, object]) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a block; a picture may be an address or its bytes."""
    picture = string(block.get("image"))
    if not picture:
        return contents([block])
    kind = string(block.get("mimeType")) or string(block.get("mediaType"))
    if picture.startswith(("data:", "http:", "https:")):
        return contents([{"url": picture, "mimeType": kind}])
    return (Media(media_type=kind, data=picture),)


def _said(block: Mapping[str, object]) -> tuple[Text | Media, ...]:
    shown = [part for each in mappings(block.get("experimental_content")) for part in _shown(each)]
    if shown:
        return tuple(shown)
    result = block.get("result")
    if result is None and is_object(output := block.get("output")):
        result = output.get("value")
    return (Text(result if isinstance(result, str) else as_json(result)),)


CURSOR_CHAT = DatabaseReader(
    format=Format("cursor-chat", "Cursor CLI chat, SQLite", "openai", writable=False),
    recognize=_recognize,
    read=_read,
)
