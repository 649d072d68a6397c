"""Reads the sessions of Grok's command line, each a folder of files.

Files show `chat_history.jsonl`, what the model sees, and beside it `summary.json` with id, title,
folder, branch, model and times. Messages have no time and no id of their own. The wording of a
thought comes with a sealed form, as Responses has it; tools that ran at the provider have no
result. What other readers say and no file shows: a folder `subagents` in the session of a parent
holds a `meta.json` for each child. How a compaction looks is not known. A session is held whole
while it is read, because what is known about it comes last; its files are small.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Native, Told
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import as_json, is_object, mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.decoding import decoded
from holdfast.formats.sessions.keys import Keys
from holdfast.formats.sessions.reader import LIKELY, SessionReader, Sign, contents
from holdfast.session import Fork
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["GROK"]

_TRANSCRIPT = "chat_history.jsonl"
_MORE = ("session_kind", "agent_name", "reasoning_effort")
_ANSWERS = frozenset(["reasoning", "assistant", "backend_tool_call"])


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if _is_summary(entry):
            return Sign("what Grok knows about a session, beside its chat_history.jsonl")
        if _is_link(entry):
            return Sign("what Grok knows about a sub-agent, beside its parent's session")
        match entry.get("type"):
            case "backend_tool_call" if is_object(entry.get("kind")):
                return Sign("a line of type backend_tool_call")
            case "assistant" if "model_fingerprint" in entry or "model_id" in entry:
                return Sign("an answer with a model_id")
            case "user" if "prompt_index" in entry or "synthetic_reason" in entry:
                return Sign("a user's line with its place among the prompts", LIKELY)
            case _:
                continue
    return None


def _is_summary(entry: Mapping[str, object]) -> bool:
    return is_object(entry.get("info")) and "chat_format_version" in entry


def _is_link(entry: Mapping[str, object]) -> bool:
    return "parent_session_id" in entry and "subagent_type" in entry


def _read(records: Iterable[Record]) -> Iterator[Event]:
    parents: dict[str, str] = {}
    held: list[_Folder] = []
    for record in records:
        folder = _folder(record.file)
        while held and not _is_in(folder, held[-1].name):
            yield from held.pop().tell(parents)
        if not held or held[-1].name != folder:
            held.append(_Folder(folder))
        held[-1].take(record, parents)
    while held:
        yield from held.pop().tell(parents)


class _Folder:
    """The files of one session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._summaries: list[Mapping[str, object]] = []
        self._transcripts: dict[str, list[Record]] = {}

    def take(self, record: Record, parents: dict[str, str]) -> None:
        """Keep a line, or what it says about the session or a sub-agent of it."""
        entry = mapping(record.value)
        if _is_summary(entry):
            self._summaries.append(entry)
        elif _is_link(entry):
            parents[_child(record.file)] = string(entry.get("parent_session_id"))
        else:
            self._transcripts.setdefault(record.file, []).append(record)

    def tell(self, parents: Mapping[str, str]) -> Iterator[Event]:
        """Tell the session; of several in one folder, nothing says which is which."""
        is_one = len(self._transcripts) == len(self._summaries) == 1
        for file, lines in self._transcripts.items():
            known = _about(self._summaries[0]) if is_one else About(id=_named(file, self.name))
            if parent := parents.get(known.id, known.parent):
                known = replace(known, parent=parent, fork=Fork.DELEGATION)
            yield from _tell(file or MAIN, lines, known)


def _is_in(folder: str, above: str) -> bool:
    return not above or f"{folder}/".startswith(f"{above}/")


def _folder(file: str) -> str:
    """Return the folder of the session that a file belongs to."""
    *folders, _ = file.replace("\\", "/").split("/")
    is_link = folders[-2:-1] == ["subagents"]
    return "/".join(folders[:-2] if is_link else folders)


def _child(file: str) -> str:
    match file.replace("\\", "/").split("/"):
        case [*_, own, _]:
            return own
        case _:
            return ""


def _named(file: str, folder: str) -> str:
    """Return the id that the folder of a transcript gives it, where Grok itself put it there."""
    is_own = file.replace("\\", "/").endswith(f"/{_TRANSCRIPT}")
    return folder.rpartition("/")[2] if is_own else ""


def _about(summary: Mapping[str, object]) -> About:
    own = mapping(summary.get("info"))
    return About(
        id=string(own.get("id")),
        title=string(summary.get("generated_title")) or string(summary.get("session_summary")),
        model=string(summary.get("current_model_id")),
        cwd=string(own.get("cwd")),
        git_branch=string(summary.get("head_branch")),
        started=moment(summary.get("created_at")),
        parent=string(summary.get("parent_session_id")),
        more={key: found for key in _MORE if (found := string(summary.get(key)))},
    )


def _tell(strand: str, records: Sequence[Record], about: About) -> Iterator[Event]:
    yield Begun(strand=strand, line=records[0].line, about=about)
    keys, reply = Keys(), ""
    for record in records:
        entry = mapping(record.value)
        key = f"{strand}{keys.take('', record.line)}"
        # A thought, an answer and what ran at the provider are one until somebody else speaks.
        reply = (reply or key) if string(entry.get("type")) in _ANSWERS else ""
        message = _message(entry)
        if isinstance(message, str):
            yield Problem(record.line, message, record.file)
        elif message is not None and message.parts:
            native = Native(
                id=string(entry.get("id")),
                reply=reply,
                model=string(entry.get("model_id")),
                more={
                    name: entry[name]
                    for name in ("prompt_index", "synthetic_reason")
                    if isinstance(entry.get(name), int | str)
                },
            )
            yield Told(strand=strand, line=record.line, key=key, message=message, native=native)


def _message(entry: Mapping[str, object]) -> Message | str | None:
    match entry.get("type"):
        case "system":
            return Message(Role.SYSTEM, contents(entry.get("content")))
        case "user":
            return Message(Role.USER, contents(entry.get("content")))
        case "assistant":
            return Message(Role.ASSISTANT, (*contents(entry.get("content")), *_calls(entry)))
        case "tool_result":
            return Message(Role.TOOL, (_result(entry),))
        case "reasoning":
            return _item(entry)
        case "backend_tool_call":
            call = mapping(entry.get("kind"))
            kind = f"{string(call.get('tool_type'))}_call"
            return _item({"type": kind, **{k: v for k, v in call.items() if k != "tool_type"}})
        case kind if entry.get("content"):
            return f"a line of type {kind!r} is not known"
        case _:
            return None


def _item(item: Mapping[str, object]) -> Message | str | None:
    """Read what Responses has an item for, so that nothing of it is lost."""
    found = decoded("responses", item)
    return found if isinstance(found, str) else next(iter(found), None)


def _calls(entry: Mapping[str, object]) -> Iterator[ToolCall]:
    for call in mappings(entry.get("tool_calls")):
        arguments = as_json(call.get("arguments"))
        yield ToolCall(string(call.get("id")), string(call.get("name")), arguments)


def _result(entry: Mapping[str, object]) -> ToolResult:
    pictures = [{"url": url} for url in sequence(entry.get("images"))]
    said = contents(entry.get("content")) or (Text(""),)
    return ToolResult(string(entry.get("tool_call_id")), (*said, *contents(pictures)))


GROK = SessionReader(
    format=Format("grok", "Grok CLI session, a folder", "responses", writable=False),
    recognize=_recognize,
    read=_read,
    spread=True,
)
