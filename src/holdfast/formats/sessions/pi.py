"""Reads the sessions of Pi and of OpenClaw, which took over Pi's format.

Version 1 is a list; later versions are a tree of entries, and the conversation is the path from
the newest entry to its root. A compaction's summary is put before the first entry it kept, so
that the messages from the newest summary on are what the model saw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, sequence, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents, summarized, thought, words
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["OPENCLAW", "PI"]

_ORIGIN = "pi"
_MIRRORS = frozenset(["delivery-mirror", "gateway-injected"])


def _recognize_pi(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        if entry.get("type") == "session" and "cwd" in entry:
            return "a session header with a working directory"
    return ""


def _recognize_openclaw(records: Sequence[Record]) -> str:
    if not _recognize_pi(records):
        return ""
    for record in records:
        entry = mapping(record.value)
        message = mapping(entry.get("message"))
        marks = (entry.get("customType"), entry.get("provider"), message.get("provider"))
        if any(string(mark).startswith("openclaw") for mark in marks):
            return "a Pi session with entries of OpenClaw"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    path = _path([mapping(record.value) for record in records])
    said: list[Said] = []
    starts: dict[int, int] = {}
    summarized_until = 0
    for index in path:
        entry = mapping(records[index].value)
        starts[index] = len(said)
        message = _message(entry)
        if message is None:
            continue
        if message.summary is None:
            said.append(Said(records[index].line, message))
            continue
        kept = _first_kept(entry, records)
        at = max(starts.get(kept, len(said)), summarized_until)
        said.insert(at, Said(records[index].line, message))
        starts = {each: start + (start >= at) for each, start in starts.items()}
        summarized_until = at + 1
    return arrange(said)


def _path(entries: Sequence[Mapping[str, object]]) -> list[int]:
    """Return the entries from the root to the newest, as positions.

    A parent that is not in the file was on a damaged line, or is a tool call's id: then the
    entry before stands in for it, because files are written in order.
    """
    places = {string(entry.get("id")): place for place, entry in enumerate(entries)}
    roots = {place for place, entry in enumerate(entries) if entry.get("type") == "session"}
    path: list[int] = []
    index = len(entries) - 1
    while index >= 0:
        path.append(index)
        entry = entries[index]
        if "parentId" in entry:
            parent = entry["parentId"]
            above = places.get(string(parent), index - 1)
            if parent is None or above in roots:
                break
            index = above if above < index else index - 1
        else:
            index -= 1
    return path[::-1]


def _first_kept(entry: Mapping[str, object], records: Sequence[Record]) -> int:
    wanted = entry.get("firstKeptEntryId")
    if isinstance(wanted, str):
        found = (i for i, each in enumerate(records) if mapping(each.value).get("id") == wanted)
        return next(found, -1)
    index = entry.get("firstKeptEntryIndex")
    return index if isinstance(index, int) else -1


def _message(entry: Mapping[str, object]) -> Message | None:
    match entry.get("type"):
        case "message":
            return _spoken(mapping(entry.get("message")))
        case "compaction":
            return summarized(string(entry.get("summary")), _ORIGIN)
        case "branch_summary":
            return Message(Role.USER, (Text(string(entry.get("summary"))),))
        case "custom_message":
            return Message(Role.USER, contents(entry.get("content")))
        case _:
            return None


def _spoken(message: Mapping[str, object]) -> Message | None:
    content = message.get("content")
    match message.get("role"):
        case "user" | "custom" | "hookMessage":
            return Message(Role.USER, contents(content))
        case "system":
            return Message(Role.SYSTEM, contents(content))
        case "assistant":
            # OpenClaw logs what it sent to a chat channel as if the model had said it again.
            if string(message.get("model")) in _MIRRORS:
                return None
            sealed = message.get("api") == "anthropic-messages"
            return Message(Role.ASSISTANT, tuple(_parts(content, sealed=sealed)))
        case "toolResult":
            return Message(Role.TOOL, (_result(message),))
        case "bashExecution":
            return _command(message)
        case "branchSummary":
            return Message(Role.USER, (Text(string(message.get("summary"))),))
        case "compactionSummary":
            return summarized(string(message.get("summary")), _ORIGIN)
        case _:
            return None


def _parts(content: object, *, sealed: bool) -> Iterator[Part]:
    if not sequence(content):
        yield from contents(content)
    for block in mappings(content):
        match block.get("type"):
            case "thinking":
                # Other providers' seals have a shape of Pi's own that nobody else reads.
                musing = string(block.get("thinking"))
                signature = string(block.get("thinkingSignature")) if sealed else ""
                if musing or signature:
                    yield thought(musing, signature)
            case "toolCall":
                call_id, name = string(block.get("id")), string(block.get("name"))
                yield ToolCall(call_id, name, as_json(block.get("arguments")))
            case _:
                yield from contents([block])


def _result(message: Mapping[str, object]) -> ToolResult:
    return ToolResult(
        string(message.get("toolCallId")),
        contents(message.get("content")),
        is_error=message.get("isError") is True,
        name=string(message.get("toolName")),
    )


def _command(message: Mapping[str, object]) -> Message | None:
    """Return a command that the user ran in the chat; the model reads it as the user's words."""
    if message.get("excludeFromContext") is True:
        return None
    lines = [f"I ran `{string(message.get('command'))}`:", words(message.get("output"))]
    code = message.get("exitCode")
    if isinstance(code, int) and code != 0:
        lines.append(f"(exit code {code})")
    return Message(Role.USER, (Text("\n".join(lines)),))


PI = SessionReader(
    Format("pi", "Pi session, JSONL", "anthropic", writable=False), _recognize_pi, _read
)
OPENCLAW = SessionReader(
    Format("openclaw", "OpenClaw session, JSONL", "anthropic", writable=False),
    _recognize_openclaw,
    _read,
)
