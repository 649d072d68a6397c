"""Hermes' `state.db`: every session that its gateway and its terminal ever had.

Columns were only ever added, so a row is read by the columns that it has. Each session is a
conversation of its own, told from its system prompt on; the session that it came from is named
by its id. Tokens and costs are known per session only and are noted at its end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About, Begun, Native, Noted, Told
from holdfast.formats.databases.hermes_rows import (
    COLUMNS,
    ROLES,
    fingerprint,
    message_of,
    native_of,
)
from holdfast.formats.databases.hermes_window import Fate, Written, tell_rows
from holdfast.formats.databases.reader import DatabaseReader
from holdfast.formats.document import Format, Problem
from holdfast.formats.lineage import parents_first
from holdfast.formats.loose import mapping, parsed, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.figures import count, usage_in
from holdfast.formats.sessions.reader import SURE, Sign
from holdfast.session import Fork
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.databases.reader import Query, Row, Tables
    from holdfast.session import Usage

__all__ = ["HERMES_STATE"]

_KIN = ("id", "parent_session_id", "started_at", "ended_at", "end_reason", "model_config")
_KNOWN = (
    *_KIN,
    "source",
    "model",
    "system_prompt",
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
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def _recognize(tables: Tables) -> Sign | None:
    sessions = tables.get("sessions", frozenset())
    messages = tables.get("messages", frozenset())
    if {"id", "source", "started_at", "system_prompt"} <= sessions and {
        "session_id",
        "role",
        "content",
        "tool_calls",
        "tool_name",
    } <= messages:
        return Sign("the tables `sessions` and `messages` have the columns of Hermes", SURE)
    return None


def _read(query: Query) -> Iterator[Event]:
    kin = {
        string(row.get("id")): row
        for row in query.rows("sessions", _KIN, order=("started_at", "id"))
        if string(row.get("id"))
    }
    parents = {id_: string(row.get("parent_session_id")) for id_, row in kin.items()}
    for id_ in parents_first(parents):
        for row in query.rows("sessions", _KNOWN, where={"id": id_}):
            yield from _session(query, row, _about(row, kin))
    orphans: dict[str, None] = {}
    for row in query.rows("messages", ("session_id",), order=("session_id",)):
        id_ = string(row.get("session_id"))
        if id_ and id_ not in kin:
            orphans[id_] = None
    for id_ in orphans:
        yield Problem(1, f"the messages of session {id_!r} have no session; they are kept alone")
        yield from _session(query, {"id": id_}, About(id=id_))


def _about(row: Row, kin: Mapping[str, Row]) -> About:
    parent = string(row.get("parent_session_id"))
    settings = mapping(parsed(row.get("model_config")))
    more = {
        name: row[name]
        for name in ("source", "end_reason", "billing_provider")
        if string(row.get(name))
    }
    return About(
        id=string(row.get("id")),
        title=string(row.get("title")),
        model=string(row.get("model")),
        cwd=string(row.get("cwd")) or string(settings.get("cwd")),
        git_branch=string(row.get("git_branch")),
        started=moment(row.get("started_at")),
        parent=parent,
        fork=_fork(row, settings, kin.get(parent, {})) if parent else None,
        more=more,
    )


def _fork(row: Row, settings: Mapping[str, object], parent: Row) -> Fork:
    """Return how a session came from its parent, the marks of newer releases first."""
    if settings.get("_branched_from") is not None:
        return Fork.BRANCH
    if settings.get("_delegate_from") is not None:
        return Fork.DELEGATION
    match parent.get("end_reason"):
        case "compression":
            return Fork.COMPRESSION
        case "branched" if _is_after(row.get("started_at"), parent.get("ended_at")):
            return Fork.BRANCH
        case _:
            return Fork.DELEGATION


def _is_after(started: object, ended: object) -> bool:
    begin, end = moment(started), moment(ended)
    return begin is not None and end is not None and begin >= end


def _session(query: Query, row: Row, about: About) -> Iterator[Event]:
    strand = about.id
    yield Begun(strand=strand, line=1, about=about)
    system: list[str] = []
    if prompt := string(row.get("system_prompt")):
        key = f"{strand}/system"
        system.append(key)
        message = Message(Role.SYSTEM, (Text(prompt),))
        native = Native(at=about.started)
        yield Told(strand=strand, line=1, key=key, message=message, native=native)
    problems: list[Problem] = []
    for event in tell_rows(_written(query, strand, problems), system):
        yield event
        yield from problems
        problems.clear()
    yield from problems
    if (usage := _usage(row)) is not None:
        yield Noted(strand=strand, about=About(usage=usage))


def _written(query: Query, strand: str, problems: list[Problem]) -> Iterator[Written]:
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
        told = Told(
            strand=strand, line=line, key=str(number), message=message, native=native_of(row)
        )
        seconds = row.get("timestamp")
        at = float(seconds) if isinstance(seconds, int | float) else 0.0
        yield Written(told, fingerprint(row), at, _fate(row))


def _fate(row: Row) -> Fate:
    if row.get("active", 1) != 0:
        return Fate.LIVE
    return Fate.FOLDED if row.get("compacted") == 1 else Fate.TAKEN_BACK


def _usage(row: Row) -> Usage | None:
    whole = usage_in(row, _COUNTS, row.get("actual_cost_usd") or row.get("estimated_cost_usd"))
    return None if whole is None else replace(whole, calls=count(row.get("api_call_count")))


HERMES_STATE = DatabaseReader(
    format=Format("hermes-state", "Hermes state.db, SQLite", "openai", writable=False),
    recognize=_recognize,
    read=_read,
)
