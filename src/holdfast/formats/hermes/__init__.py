"""Hermes' `state.db`: every session that its gateway and its terminal ever had.

Columns were only ever added, so a row is read by the columns that it has. Each session is a
conversation of its own, told from its system prompt on; the session that it came from is named
by its id. Newer releases keep each prompt once, in a table of its own. Tokens and costs are known
per session only and are noted at its end.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.errors import DecodeError
from holdfast.formats.content import summarized
from holdfast.formats.events import (
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.hermes.window import MessageRow, RowFate, row_events
from holdfast.formats.json_access import (
    JsonObject,
    count,
    is_array,
    is_object,
    mapping,
    milliseconds,
    parsed,
    string,
    usage_in,
)
from holdfast.formats.reader import SURE, DatabaseReader, Format, Sign, parents_first
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, ToolResult
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.reader import DatabaseQuery, Row, Tables

_MARKS = (
    ("_branched_from", Fork.BRANCH),
    ("_delegate_from", Fork.DELEGATION),
    ("_reset_from", Fork.RESET),
)
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_UNDONE = ("none", "unknown")
"""What is written beside the result of a call that was not made, or not to its end."""
_FAILED = ("Error", '{"error":', '{"success": false', "[Tool execution cancelled")
"""How the words of a failure begin, also where the rest was cut off."""
_SHELL = "terminal"
_DECODER = json.JSONDecoder()
_EXPORTED = frozenset({"id", "source", "started_at", "parent_session_id", "end_reason"})


def settings_of(row: JsonObject) -> JsonObject:
    """Return the settings of a session, which are stored as text."""
    found = row.get("model_config")
    return mapping(parsed(found) if isinstance(found, str | bytes) else found)


def usage_of(row: JsonObject) -> Usage | None:
    """Return what a session cost."""
    whole = usage_in(row, _COUNTS, row.get("actual_cost_usd") or row.get("estimated_cost_usd"))
    return None if whole is None else replace(whole, calls=count(row.get("api_call_count")))


def is_failure(name: str, words: str, fields: JsonObject) -> bool:
    """Say whether a call failed, which Hermes tells its screen and does not store."""
    if fields.get("finish_reason") == "error" or fields.get("effect_disposition") in _UNDONE:
        return True
    if not words.startswith("{"):
        return words.startswith(_FAILED)
    answer = _first_object(words)
    if name == _SHELL:
        return answer.get("exit_code") not in (None, 0)
    if not answer:
        return words.startswith(_FAILED)
    is_done = answer.get("success") is True
    is_wrong = bool(answer.get("error")) or answer.get("status") == "error"
    return answer.get("success") is False or (is_wrong and not is_done)


def _first_object(words: str) -> JsonObject:
    """Return the object that words begin with; Hermes may have added a warning after it."""
    try:
        found, _ = _DECODER.raw_decode(words)
    except (ValueError, RecursionError):
        return mapping(None)
    return mapping(found)


def forks_marked(row: JsonObject) -> tuple[list[Fork], list[Fork]]:
    """Return how a session came from its parent as its marks say, and as inherited ones do.

    A session that goes on after a compaction inherits the marks of its parent, which name another
    session then.
    """
    settings, parent = settings_of(row), row.get("parent_session_id")
    marked = [(settings[name], fork) for name, fork in _MARKS if settings.get(name) is not None]
    own = [fork for origin, fork in marked if origin == parent]
    return own, [fork for origin, fork in marked if origin != parent]


def exported(about: About, row: JsonObject, messages: Iterable[Message]) -> About:
    """Return what is known of a session that Hermes exported; any other one as it is.

    The row of the parent is elsewhere: a summary at the beginning shows that it was compacted.
    """
    if not row.keys() >= _EXPORTED:
        return about
    known = replace(about, id=string(row.get("id")), usage=usage_of(row))
    parent = string(row.get("parent_session_id"))
    if not parent:
        return known
    own, inherited = forks_marked(row)
    if not own and any(message.summary is not None for message in messages):
        own = [Fork.COMPRESSION]
    fork = next(iter((*own, *inherited)), Fork.DELEGATION)
    return replace(known, parent=parent, fork=fork)


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
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
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
        role = string(row.get("role"))
        content = row.get("content")
        structured = content.removeprefix(_STRUCTURED) if isinstance(content, str) else ""
        found = parsed(structured) if structured != content else None
        found = found.get("content") if is_object(found) else found
        if not isinstance(found, list | str):
            found = None if content is None else _words(content)
        entry: dict[str, object] = {"role": role, "content": found}
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
        (message,) = DIALECTS["openai"].decode(Body([entry]))
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
        structs.replace(part, name=name, is_error=is_failure(name, part.text, row))
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    )
    return structs.replace(message, parts=parts), ""


def native_of(row: Row) -> SourceMetadata:
    """Return what the row says besides the message."""
    more = {name: _plain(row[name]) for name in _MORE if row.get(name) not in (None, "")}
    if row.get("observed"):
        more["observed"] = True
    return SourceMetadata(id=str(row.get("id")), at=milliseconds(row.get("timestamp")), more=more)


def fingerprint(row: Row) -> int:
    """Return what rows with the same message have in common, as long as the program runs.

    A session that Hermes opens again has its words without the space around them.
    """
    values = (row.get(name) for name in _SAME)
    return hash(tuple(each.strip() if isinstance(each, str) else each for each in values))


def _words(value: object) -> str:
    return str(_plain(value)) if value is not None else ""


def _plain(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


_KIN = (
    "id",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "model_config",
    "session_key",
)
_KNOWN = (
    *_KIN,
    "source",
    "model",
    "system_prompt",
    "system_prompt_hash",
    "title",
    "cwd",
    "git_branch",
    "billing_provider",
    "api_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "actual_cost_usd",
    "estimated_cost_usd",
)
_RESETS = frozenset(
    {"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"}
)
"""How a session ended after which its user began anew in the same chat."""


def recognize(tables: Tables) -> Sign | None:
    """Say why tables are those of Hermes; None when they are not."""
    sessions = tables.get("sessions", frozenset())
    messages = tables.get("messages", frozenset())
    if {"id", "source", "started_at", "system_prompt"} <= sessions and {
        "id",
        "session_id",
        "role",
        "content",
        "tool_calls",
        "tool_name",
    } <= messages:
        return Sign("the tables `sessions` and `messages` have the columns of Hermes", SURE)
    return None


def read(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of Hermes."""
    kin = {
        string(row.get("id")): row
        for row in query.rows("sessions", _KIN, order=("started_at", "id"))
        if string(row.get("id"))
    }
    parents = {id_: string(row.get("parent_session_id")) for id_, row in kin.items()}
    for id_ in parents_first(parents):
        for row in query.rows("sessions", _KNOWN, where={"id": id_}):
            parent = string(row.get("parent_session_id"))
            more = {
                name: row[name]
                for name in ("source", "end_reason", "billing_provider")
                if string(row.get(name))
            }
            about = About(
                id=string(row.get("id")),
                title=string(row.get("title")),
                model=string(row.get("model")),
                cwd=string(row.get("cwd")) or string(settings_of(row).get("cwd")),
                git_branch=string(row.get("git_branch")),
                started=milliseconds(row.get("started_at")),
                parent=parent,
                fork=_fork(row, kin.get(parent, {})) if parent else None,
                more=more,
            )
            yield from _session(query, row, about)
    orphans: dict[str, None] = {}
    for row in query.rows("messages", ("session_id",), order=("session_id",)):
        id_ = string(row.get("session_id"))
        if id_ and id_ not in kin:
            orphans[id_] = None
    for id_ in orphans:
        yield Problem(1, f"the messages of session {id_!r} have no session; they are kept alone")
        yield from _session(query, {"id": id_}, About(id=id_))


def _fork(row: Row, parent: Row) -> Fork:
    """Return how a session came from its parent, the marks of newer releases first."""
    own, inherited = forks_marked(row)
    goes_on = parent.get("end_reason") == "compression" and row.get("source") != "tool"
    if own or (inherited and not goes_on):
        return own[0] if own else inherited[0]
    key = string(row.get("session_key"))
    begin, end = milliseconds(row.get("started_at")), milliseconds(parent.get("ended_at"))
    match parent.get("end_reason"):
        case "compression" if goes_on:
            return Fork.COMPRESSION
        case "branched" if begin is not None and end is not None and begin >= end:
            return Fork.BRANCH
        case reason if reason in _RESETS and key and key == string(parent.get("session_key")):
            return Fork.RESET
        case _:
            return Fork.DELEGATION


def _session(query: DatabaseQuery, row: Row, about: About) -> Iterator[Event]:
    strand = about.id
    yield StrandStarted(strand=strand, line=1, about=about)
    system: list[str] = []
    mark, prompt = string(row.get("system_prompt_hash")), string(row.get("system_prompt"))
    if mark:
        prompts = query.rows("system_prompts", ("prompt",), where={"hash": mark})
        prompt = next((string(found.get("prompt")) for found in prompts), prompt)
    if prompt:
        key = f"{strand}/system"
        system.append(key)
        message = Message(Role.SYSTEM, (Text(prompt),))
        native = SourceMetadata(at=about.started)
        yield MessageEvent(strand=strand, line=1, key=key, message=message, native=native)
    problems: list[Problem] = []
    for event in row_events(_written(query, strand, problems), system):
        yield event
        yield from problems
        problems.clear()
    yield from problems
    if (usage := usage_of(row)) is not None:
        yield MetadataUpdated(strand=strand, about=About(usage=usage))


def _written(query: DatabaseQuery, strand: str, problems: list[Problem]) -> Iterator[MessageRow]:
    """Return the rows of a session; what is wrong with one goes to the problems."""
    rows = query.rows("messages", COLUMNS, where={"session_id": strand}, order=("id",))
    for row in rows:
        number = row.get("id")
        line = number if isinstance(number, int) else 1
        role = string(row.get("role"))
        if role not in ROLES:
            # Marks of the session itself have no words.
            if row.get("content"):
                problems.append(Problem(line, f"message {number} has the unknown role {role!r}"))
            continue
        message, problem = message_of(row)
        if problem:
            reason = f"message {number} is told by its words only: {problem}"
            problems.append(Problem(line, reason))
        told = MessageEvent(
            strand=strand, line=line, key=str(number), message=message, native=native_of(row)
        )
        seconds = row.get("timestamp")
        at = float(seconds) if isinstance(seconds, int | float) else 0.0
        if row.get("active", 1) != 0:
            fate = RowFate.LIVE
        else:
            fate = RowFate.FOLDED if row.get("compacted") == 1 else RowFate.TAKEN_BACK
        yield MessageRow(told, fingerprint(row), at, fate)


HERMES_STATE = DatabaseReader(
    format=Format("hermes-state", "Hermes state.db, SQLite", "openai", writable=False),
    recognize=recognize,
    read=read,
)
