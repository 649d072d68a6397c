"""Reads one message of Hermes' database from its row.

A row is an OpenAI chat message with its lists as JSON text, so the codec of that dialect reads
it. What was sent to the model in place of the stored words (`api_content`) is not read: it is
the same message with what memory added for one request.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.chronicle import Native
from holdfast.formats.hermes.session import is_failure
from holdfast.formats.loose import is_array, is_object, parsed, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import summarized
from holdfast.transcript import Message, Role, Text, ToolResult
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from holdfast.formats.database_reader import Row

__all__ = ["COLUMNS", "ROLES", "fingerprint", "message_of", "native_of"]

COLUMNS = (
    "id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "effect_disposition",
    "timestamp",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "platform_message_id",
    "observed",
    "_compressed_summary",
    "display_kind",
    "active",
    "compacted",
)
ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}
_STRUCTURED = "\0json:"
"""How content begins that was a list of parts."""
_ITEMS = ("reasoning_details", "codex_reasoning_items", "codex_message_items")
_MORE = (
    "finish_reason",
    "token_count",
    "platform_message_id",
    "effect_disposition",
    "display_kind",
)
_SAME = ("role", "content", "tool_calls", "tool_call_id", "tool_name")


def message_of(row: Row) -> tuple[Message, str]:
    """Return the message of a row, and what is wrong with it, if anything.

    A row with a call or a part that cannot be read is told by its words.
    """
    try:
        (message,) = DIALECTS["openai"].decode(Body([_wire(row)]))
        calls = row.get("tool_calls")
        if calls and not is_array(parsed(calls)):
            return message, "its tool calls are no JSON list"
    except DecodeError as error:
        role = ROLES.get(string(row.get("role")), Role.USER)
        spoken = Role.USER if role is Role.TOOL else role
        return Message(spoken, (Text(_words(row.get("content"))),)), error.problem
    if row.get("_compressed_summary") and message.summary is None and message.text:
        # A summary whose first sentence is none that we know.
        return summarized(message.text, "hermes"), ""
    if message.role is not Role.TOOL:
        return message, ""
    name = string(row.get("tool_name"))
    parts = tuple(
        replace(part, name=name, is_error=is_failure(name, part.text, row))
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    )
    return replace(message, parts=parts), ""


def native_of(row: Row) -> Native:
    """Return what the row says besides the message."""
    more = {name: _plain(row[name]) for name in _MORE if row.get(name) not in (None, "")}
    if row.get("observed"):
        more["observed"] = True
    return Native(id=str(row.get("id")), at=moment(row.get("timestamp")), more=more)


def fingerprint(row: Row) -> int:
    """Return what rows with the same message have in common, as long as the program runs.

    A session that Hermes opens again has its words without the space around them.
    """
    values = (row.get(name) for name in _SAME)
    return hash(tuple(each.strip() if isinstance(each, str) else each for each in values))


def _wire(row: Row) -> dict[str, object]:
    role = string(row.get("role"))
    entry: dict[str, object] = {"role": role, "content": _content(row.get("content"))}
    if role == "tool":
        entry["tool_call_id"] = string(row.get("tool_call_id"))
    if role == "assistant":
        calls = parsed(row.get("tool_calls"))
        if is_array(calls) and calls:
            entry["tool_calls"] = calls
        thought, shown = string(row.get("reasoning")), string(row.get("reasoning_content"))
        # Both hold the same words for most providers.
        entry |= {"reasoning": thought} if thought and thought != shown else {}
        entry |= {"reasoning_content": shown} if shown else {}
        entry |= {name: found for name in _ITEMS if (found := parsed(row.get(name)))}
    return entry


def _content(value: object) -> object:
    if isinstance(value, str) and value.startswith(_STRUCTURED):
        found = parsed(value.removeprefix(_STRUCTURED))
        if is_object(found):
            found = found.get("content")
        if is_array(found) or isinstance(found, str):
            return found
    return _words(value) if value is not None else None


def _words(value: object) -> str:
    return str(_plain(value)) if value is not None else ""


def _plain(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
