"""What the database of OpenClaw says of a session besides its events: its name, where it is from.

A conversation is known by a key, and has a session for each time that it was begun anew. A caller
is named by its key, so the session is meant that was its newest when the other one began. That a
session follows another one of its key is no descent: it began with nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.figures import count
from holdfast.formats.loose import mapping, parsed, string
from holdfast.formats.moments import moment
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.formats.database_reader import Query, Row

__all__ = ["WINDOWS", "abouts"]

WINDOWS = ("session_windows", "sessions")
"""Where sessions stand: in newer releases, and in the first that had them in a database."""
_NODES = ("session_nodes", "session_entries")
"""Where conversations stand, in the same order."""
_WINDOW = (
    "session_id",
    "session_key",
    "created_at",
    "started_at",
    "model",
    "display_name",
    "parent_session_key",
    "spawned_by",
)
_NODE = (
    "session_key",
    "entry_json",
    "label",
    "display_name",
    "parent_session_key",
    "spawned_by",
    "fork_source_session_id",
)


def abouts(query: Query) -> Mapping[str, About]:
    """Return what is known of each session, by its id, in the order in which they began."""
    nodes: dict[str, Row] = {
        string(row.get("session_key")): _node(row)
        for table in _NODES
        for row in query.rows(table, _NODE)
    }
    windows: dict[str, Row] = {}
    for table in WINDOWS:
        for row in query.rows(table, _WINDOW, order=("created_at", "session_id")):
            windows.setdefault(string(row.get("session_id")), row)
    families: dict[str, list[Row]] = {}
    for row in windows.values():
        families.setdefault(string(row.get("session_key")), []).append(row)
    found: dict[str, About] = {}
    for own, row in windows.items():
        node = nodes.get(string(row.get("session_key")), {})
        about = _about(row, node)
        parent, fork = _origin(row, node, families)
        known = bool(parent) and parent != own
        found[own] = replace(about, parent=parent, fork=fork) if known else about
    return found


def _node(row: Row) -> Row:
    """Return a conversation, with what only its JSON says where there is no column for it."""
    entry = mapping(parsed(row.get("entry_json")))
    names = {
        "label": "label",
        "display_name": "displayName",
        "parent_session_key": "parentSessionKey",
        "spawned_by": "spawnedBy",
        "model": "model",
    }
    said = {name: entry.get(key) for name, key in names.items()}
    return {**said, **{name: value for name, value in row.items() if value is not None}}


def _about(row: Row, node: Row) -> About:
    return About(
        id=string(row.get("session_id")),
        title=string(node.get("label"))
        or string(node.get("display_name"))
        or string(row.get("display_name")),
        model=string(row.get("model")) or string(node.get("model")),
        started=moment(row.get("started_at")) or moment(row.get("created_at")),
        more={"session_key": key} if (key := string(row.get("session_key"))) else {},
    )


def _origin(row: Row, node: Row, families: Mapping[str, Iterable[Row]]) -> tuple[str, Fork | None]:
    own = string(row.get("session_key"))
    first = next(iter(families.get(own, ())), row)
    if (source := string(node.get("fork_source_session_id"))) and first is row:
        return source, Fork.BRANCH
    caller = string(row.get("spawned_by")) or string(node.get("spawned_by"))
    elder = string(row.get("parent_session_key")) or string(node.get("parent_session_key"))
    born = count(row.get("created_at"))
    found = list(families.get(caller or elder, ()))
    before = [each for each in found if count(each.get("created_at")) <= born]
    parents = before[-1:] or found[:1]
    ids = [string(parent.get("session_id")) for parent in parents]
    return "".join(ids), Fork.DELEGATION if caller else Fork.BRANCH
