"""Reads the rollouts of Codex: the items of the Responses API, in an envelope or, long ago, bare.

Only items are what the model saw; the events beside them repeat it for the screen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import mapping, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, summarized
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record

__all__ = ["CODEX"]

_LINES = frozenset(["session_meta", "response_item", "event_msg", "turn_context", "compacted"])
_ITEMS = frozenset(
    [
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "message",
        "reasoning",
        "web_search_call",
    ]
)


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        if string(entry.get("type")) in _LINES and isinstance(entry.get("payload"), dict):
            return f"a line of type {entry['type']} with a payload"
    first = mapping(records[0].value if records else None)
    if "type" not in first and {"id", "timestamp", "instructions"} <= first.keys():
        return "a line with id, timestamp and instructions before bare items"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    said: list[Said] = []
    problems: list[Problem] = []
    for record in records:
        entry = mapping(record.value)
        try:
            said.extend(Said(record.line, message) for message in _messages(entry, first=not said))
        except DecodeError as error:
            problems.append(Problem(record.line, f"{error.path}: {error.problem}"))
    return arrange(_merged(said), problems)


def _merged(said: Sequence[Said]) -> list[Said]:
    """Put the items of one answer together: thoughts, words and parallel calls.

    Words end up in one message with what surrounds them, never with other words: each has
    fields of its own.
    """
    merged: list[Said] = []
    for each in said:
        last = merged[-1].message if merged else None
        if last is None or not _goes_on(last, each.message):
            merged.append(each)
            continue
        speaker = each.message if _speaks(each.message) else last
        parts = (*last.parts, *each.message.parts)
        merged[-1] = Said(merged[-1].line, replace(speaker, parts=parts))
    return merged


def _goes_on(last: Message, message: Message) -> bool:
    both = last.role is Role.ASSISTANT and message.role is Role.ASSISTANT
    return both and not (_speaks(message) and (_speaks(last) or last.calls))


def _speaks(message: Message) -> bool:
    return any(not isinstance(part, Thinking | ToolCall) for part in message.parts)


def _messages(entry: Mapping[str, object], *, first: bool) -> Iterator[Message]:
    payload = mapping(entry.get("payload"))
    match entry.get("type"):
        case "session_meta" if first:
            # A resumed session repeats this line; the first is the file's own.
            prompt = string(mapping(payload.get("base_instructions")).get("text"))
            yield Message(Role.SYSTEM, (Text(prompt),) if prompt else ())
        case "compacted":
            if summary := string(payload.get("message")):
                yield summarized(summary, "codex")
        case "response_item":
            yield from _item(payload)
        case _ if "payload" not in entry:
            yield from _item(entry)
        case _:
            return


def _item(item: Mapping[str, object]) -> Iterator[Message]:
    if string(item.get("type")) in _ITEMS:
        yield from DIALECTS["responses"].decode(Body([dict(item)], None))


CODEX = SessionReader(
    Format("codex", "Codex rollout, JSONL", "responses", writable=False), _recognize, _read
)
