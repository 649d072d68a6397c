"""What every file that Pi writes satisfies, so that a file of ours is one that it takes.

Checked against its sessions of version 3 and against everything that we write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.events import Problem
from holdfast.formats.json_access import JsonObject, mapping, mappings, milliseconds, string

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.source import SourceRecord

_FIELDS: Mapping[str, Mapping[str, type]] = {
    "message": {"message": dict},
    "model_change": {"provider": str, "modelId": str},
    "thinking_level_change": {"thinkingLevel": str},
    "compaction": {"summary": str, "firstKeptEntryId": str, "tokensBefore": int},
    "branch_summary": {"fromId": str, "summary": str},
    "custom": {"customType": str},
    "custom_message": {"customType": str, "content": object, "display": bool},
    "label": {"targetId": str},
    "session_info": {"name": str},
}
_MESSAGES: Mapping[str, Mapping[str, type]] = {
    "user": {"content": object, "timestamp": int},
    "assistant": {
        "content": list,
        "api": str,
        "provider": str,
        "model": str,
        "usage": dict,
        "stopReason": str,
        "timestamp": int,
    },
    "toolResult": {
        "toolCallId": str,
        "toolName": str,
        "content": list,
        "isError": bool,
        "timestamp": int,
    },
    "bashExecution": {
        "command": str,
        "output": str,
        "cancelled": bool,
        "truncated": bool,
        "timestamp": int,
    },
    "custom": {"customType": str, "content": object, "display": bool, "timestamp": int},
}
_BLOCKS: Mapping[str, Mapping[str, type]] = {
    "text": {"text": str},
    "thinking": {"thinking": str},
    "image": {"data": str, "mimeType": str},
    "toolCall": {"id": str, "name": str, "arguments": dict},
}
_USAGE = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_REASONS = frozenset(["stop", "length", "toolUse", "error", "aborted"])


def violations(records: Iterable[SourceRecord]) -> Iterator[Problem]:
    """Return where a file is not one that Pi writes."""
    ids: set[str] = set()
    calls: set[str] = set()
    for place, record in enumerate(records):
        entry = mapping(record.value)
        found = _header(entry) if place == 0 else _entry(entry, ids, calls)
        for reason in found:
            yield Problem(record.line, reason, record.file)


def _header(entry: JsonObject) -> Iterator[str]:
    if entry.get("type") != "session" or entry.get("version") != 3:
        yield "the first line is no header of version 3"
    if not string(entry.get("id")):
        yield "the header has no id"
    if milliseconds(entry.get("timestamp")) is None:
        yield "the header has no time"
    if not isinstance(entry.get("cwd"), str):
        yield "the header has no working directory"


def _entry(entry: JsonObject, ids: set[str], calls: set[str]) -> Iterator[str]:
    kind, name, parent = string(entry.get("type")), string(entry.get("id")), entry.get("parentId")
    if kind not in _FIELDS:
        yield f"an entry of the unknown type {kind!r}"
    if not name or name in ids:
        yield f"the id {name!r} is missing or was used before"
    if "parentId" not in entry or (parent is not None and string(parent) not in ids):
        yield f"the parent {parent!r} is not above"
    if milliseconds(entry.get("timestamp")) is None:
        yield "an entry has no time"
    ids.add(name)
    yield from _missing(entry, _FIELDS.get(kind, {}), kind)
    match kind:
        case "message":
            message = mapping(entry.get("message"))
            role = string(message.get("role"))
            if role not in _MESSAGES:
                yield f"a message of the unknown role {role!r}"
                return
            yield from _missing(message, _MESSAGES[role], f"a message of the role {role}")
            for block in mappings(message.get("content")):
                kind = string(block.get("type"))
                if kind not in _BLOCKS:
                    yield f"a block of the unknown type {kind!r}"
                yield from _missing(block, _BLOCKS.get(kind, {}), f"a block of the type {kind}")
                if kind == "toolCall":
                    calls.add(string(block.get("id")))
            if role == "assistant":
                if message.get("stopReason") not in _REASONS:
                    yield f"an answer ended for the unknown reason {message.get('stopReason')!r}"
                usage = mapping(message.get("usage"))
                if any(not isinstance(usage.get(name), int) for name in _USAGE):
                    yield "an answer does not say how many tokens it took"
                if not isinstance(mapping(usage.get("cost")).get("total"), int | float):
                    yield "an answer does not say what it cost"
            if role == "toolResult" and message.get("toolCallId") not in calls:
                yield f"a result answers the call {message.get('toolCallId')!r}, which is not above"
        case "compaction" if string(entry.get("firstKeptEntryId")) not in ids:
            yield "a compaction keeps an entry that is not above"
        case "label" if string(entry.get("targetId")) not in ids:
            yield "a label stands at an entry that is not above"
        case _:
            return


def _missing(fields: JsonObject, wanted: Mapping[str, type], name: str) -> Iterator[str]:
    for key, kind in wanted.items():
        if key not in fields or not isinstance(fields[key], kind):
            yield f"{name} has no {key} of the right kind"
