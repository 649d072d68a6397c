"""The parts of opencode's messages, taken apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.figures import count, usage_in
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import contents
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.session import Usage
    from holdfast.transcript import Content, Part

__all__ = ["KINDS", "is_settled", "pieces", "said", "usage_of", "words_of"]

KINDS = frozenset(
    "text reasoning tool file step-start step-finish patch snapshot agent subtask retry "
    "compaction".split()
)
"""Every kind of part that the agent writes."""
_DONE = frozenset(["completed", "success", "error"])
_NAMES = ("input", "output", "read", "write")


def said(parts: Iterable[Mapping[str, object]]) -> tuple[Part, ...]:
    """Return what a message of the user says: words, files, and tasks for a sub-agent."""
    found: list[Part] = []
    for part in parts:
        match part.get("type"):
            case "text" if text := string(part.get("text")):
                found.append(Text(text))
            case "subtask" if text := string(part.get("prompt")):
                found.append(Text(text))
            case "file":
                found += _file(part)
            case _:
                continue
    return tuple(found)


def words_of(parts: Iterable[Mapping[str, object]]) -> str:
    """Return the words of a message."""
    return "\n\n".join(part.text for part in said(parts) if isinstance(part, Text))


def is_settled(part: Mapping[str, object]) -> bool:
    """Say whether a part will not change any more, though its message is not finished."""
    if part.get("type") == "tool":
        return string(mapping(part.get("state")).get("status")) in _DONE
    return "end" in mapping(part.get("time")) or "time" not in part


def pieces(part: Mapping[str, object]) -> Iterator[tuple[str, int | None, Message]]:
    """Return the messages of one part of an answer, with an ending for their names and a time."""
    at = moment(mapping(part.get("time")).get("start"))
    match part.get("type"):
        case "text" if text := string(part.get("text")):
            yield "", at, Message(Role.ASSISTANT, (Text(text),))
        case "reasoning" if text := string(part.get("text")):
            yield "", at, Message(Role.ASSISTANT, (Thinking(text),))
        case "file" if media := tuple(_file(part)):
            yield "", at, Message(Role.ASSISTANT, media)
        case "tool":
            yield from _tool(part)
        case _:
            return


def usage_of(fields: Mapping[str, object]) -> Usage | None:
    """Return what a step or a message cost."""
    tokens = mapping(fields.get("tokens"))
    cached = mapping(tokens.get("cache"))
    output = count(tokens.get("output")) + count(tokens.get("reasoning"))
    counts = {"input": tokens.get("input"), "output": output, **cached}
    return usage_in(counts, _NAMES, fields.get("cost"))


def _tool(part: Mapping[str, object]) -> Iterator[tuple[str, int | None, Message]]:
    state = mapping(part.get("state"))
    time = mapping(state.get("time"))
    call_id, name = string(part.get("callID")), string(part.get("tool"))
    call = ToolCall(call_id, name, as_json(state.get("input")))
    yield "", moment(time.get("start")), Message(Role.ASSISTANT, (call,))
    status = string(state.get("status"))
    if status not in _DONE:
        return
    failed = status == "error"
    text = string(state.get("error")) if failed else string(state.get("output"))
    attached = [media for each in mappings(state.get("attachments")) for media in _file(each)]
    content: tuple[Content, ...] = (Text(text), *attached)
    result = ToolResult(call_id, content, is_error=failed, name=name)
    yield "/result", moment(time.get("end")), Message(Role.TOOL, (result,))


def _file(part: Mapping[str, object]) -> Iterator[Media]:
    kind = string(part.get("mime"))
    found = contents([{"url": part.get("url"), "mimeType": kind}])
    media = (each for each in found if isinstance(each, Media))
    if kind.startswith("image/"):
        yield from media
    else:
        yield from (replace(each, kind="file", media_type=kind) for each in media)
