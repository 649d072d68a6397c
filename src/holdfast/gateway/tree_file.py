"""The tree of messages in a file beside the store, so that a restart forgets no conversation.

It is an index: what was said is in the store. A tree that is lost or cannot be read is begun anew,
and conversations that go on are then taken for new ones.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.recognition.atoms import Atom, AtomKind
from holdfast.recognition.tree import Node

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest

__all__ = ["TreeFile"]

_PATIENCE_S = 5.0
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    tools INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS sessions_by_identity ON sessions(identity);
CREATE TABLE IF NOT EXISTS nodes (
    id INTEGER PRIMARY KEY,
    parent INTEGER,
    depth INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    call TEXT NOT NULL,
    session INTEGER NOT NULL,
    message INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS nodes_by_parent ON nodes(parent);
CREATE INDEX IF NOT EXISTS nodes_by_call ON nodes(call) WHERE call != '';
CREATE TABLE IF NOT EXISTS prefixes (
    hash BLOB NOT NULL,
    node INTEGER NOT NULL,
    PRIMARY KEY (hash, node)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS visits (
    node INTEGER NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (node, identity)
) WITHOUT ROWID;
"""
_NODES = """
SELECT n.id, n.parent, n.depth, n.kind, n.digest, n.call, s.id, n.message
FROM nodes n JOIN sessions s ON s.key = n.session
"""
_CHILD = """
SELECT n.id FROM prefixes p JOIN nodes n ON n.id = p.node WHERE p.hash = ? AND n.parent IS ?
"""
_FEW, _MANY = 4, 64
"""Prefixes that one statement looks for, at the end of a request and before it, and rows that one
writes."""


class TreeFile:
    """A tree in an SQLite file, or in memory for `:memory:`; any thread may use it."""

    def __init__(self, place: str) -> None:
        """Open the file; it is made if it is not there."""
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            place, check_same_thread=False, isolation_level=None, timeout=_PATIENCE_S
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def longest(self, prefixes: Sequence[bytes], identity: str) -> tuple[int, Node] | None:
        """Return how many prefixes are known, and the node of the longest."""
        places = {prefix: place for place, prefix in enumerate(prefixes, 1)}
        end = len(prefixes)
        # What is new is short in most requests, and long where nothing is known.
        for size in (_FEW, *[_MANY] * (1 + end // _MANY)):
            if end <= 0:
                break
            some = prefixes[max(end - size, 0) : end]
            end -= size
            # As many values each time, so that the statement is prepared once.
            values = [*some, *[some[0]] * (size - len(some))]
            query = f"""
                SELECT p.hash, n.id FROM prefixes p JOIN nodes n ON n.id = p.node
                WHERE p.hash IN ({", ".join("?" * size)}) AND (? = '' OR EXISTS (
                    SELECT 1 FROM visits v WHERE v.node = n.id AND v.identity = ?
                ))
            """
            found = [
                (-places[hash_], id_)
                for hash_, id_ in self._rows(query, *values, identity, identity)
            ]
            if found:
                place, id_ = min(found)
                return -place, self.node(id_)
        return None

    def called(self, call: str) -> Sequence[Node]:
        """Return the nodes that are the result of a call, the newest first."""
        return self._nodes(
            f"{_NODES} WHERE n.call = ? AND n.kind = ? ORDER BY n.id DESC", call, AtomKind.RESULT
        )

    def node(self, id_: int) -> Node:
        """Return a node."""
        return self._nodes(f"{_NODES} WHERE n.id = ?", id_)[0]

    def children(self, id_: int, identity: str) -> Sequence[Node]:
        """Return what was said after a node, by one identity or by anybody."""
        found = self._nodes(f"{_NODES} WHERE n.parent = ? ORDER BY n.id", id_)
        return [each for each in found if not identity or self.was_seen(each.id, identity)]

    def was_seen(self, id_: int, identity: str) -> bool:
        """Say whether an identity was at a node."""
        query = "SELECT 1 FROM visits WHERE node = ? AND identity = ?"
        return bool(self._rows(query, id_, identity))

    def session_of(self, identity: str) -> str:
        """Return the newest session of an identity."""
        query = "SELECT id FROM sessions WHERE identity = ? ORDER BY key DESC LIMIT 1"
        found = self._rows(query, identity)
        return str(found[0][0]) if found else ""

    def identity_of(self, session: str) -> str:
        """Return who began a session."""
        found = self._rows("SELECT identity FROM sessions WHERE id = ?", session)
        return str(found[0][0]) if found else ""

    def path_to(self, node: Node) -> list[tuple[str, str, int]]:
        """Return kind, call and message of each node up to this one, the first one first."""
        query = """
            WITH RECURSIVE up(id, parent, depth, kind, call, message) AS (
                SELECT id, parent, depth, kind, call, message FROM nodes WHERE id = ?
                UNION ALL
                SELECT n.id, n.parent, n.depth, n.kind, n.call, n.message
                FROM nodes n JOIN up ON n.id = up.parent
            )
            SELECT kind, call, message FROM up ORDER BY depth
        """
        return [(kind, call, message) for kind, call, message in self._rows(query, node.id)]

    def has_tools(self, session: str) -> bool:
        """Say whether a session was ever given tools."""
        return bool(self._rows("SELECT 1 FROM sessions WHERE id = ? AND tools", session))

    def record(
        self, request: WireRequest, found: Recognition, session: str, messages: Sequence[int]
    ) -> None:
        """Take in what is new in a request.

        A history that its client tells otherwise is known by those words, too, from then on.

        Args:
            request: The request.
            found: Where it belongs.
            session: The session that it is recorded in.
            messages: For each new atom the id of its message in the store.
        """
        identity = request.identity.key
        with self._transaction():
            key = self._session(session, identity, has_tools=request.has_tools)
            at = found.node.id if found.node else None
            names: list[tuple[bytes, int]] = []
            if at is not None:
                names.append((found.prefixes[found.known - 1], at))
                self._visit(at, identity)
            place = found.known
            while place < len(request.atoms):
                # Others may have said the same after the same.
                same = self._rows(_CHILD, found.prefixes[place], at)
                if not same:
                    break
                at, place = int(same[0][0]), place + 1
                self._visit(at, identity)
            ((last,),) = self._rows("SELECT coalesce(max(id), 0) FROM nodes")
            depth = (found.node.depth if found.node else 0) + place - found.known
            nodes: list[tuple[object, ...]] = []
            for atom, message in zip(
                request.atoms[place:], messages[place - found.known :], strict=True
            ):
                last, depth = last + 1, depth + 1
                told = (atom.kind, atom.digest, atom.call, key, message)
                nodes.append((last, at, depth, *told))
                names.append((found.prefixes[place + len(nodes) - 1], last))
                at = last
            self._insert("INSERT INTO nodes VALUES", nodes)
            self._insert("INSERT OR IGNORE INTO prefixes VALUES", names)
            if identity:
                seen = [(node[0], identity) for node in nodes]
                self._insert("INSERT OR IGNORE INTO visits VALUES", seen)

    def _insert(self, into: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows, many by one statement: each lets other threads go first."""
        for start in range(0, len(rows), _MANY):
            some = rows[start : start + _MANY]
            marks = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
            self._connection.execute(f"{into} {marks}", [value for row in some for value in row])

    def _session(self, id_: str, identity: str, *, has_tools: bool) -> int:
        """Return the key of a session, which is added if it is new."""
        known = self._rows("SELECT key, tools FROM sessions WHERE id = ?", id_)
        if known and (known[0][1] or not has_tools):
            return known[0][0]
        self._connection.execute(
            "INSERT INTO sessions (id, identity, tools) VALUES (?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET tools = tools OR excluded.tools",
            (id_, identity, has_tools),
        )
        ((key,),) = self._rows("SELECT key FROM sessions WHERE id = ?", id_)
        return key

    def _visit(self, node: int | None, identity: str) -> None:
        """Note that an identity was at a node and at all before it."""
        while identity and node is not None and not self.was_seen(node, identity):
            self._connection.execute("INSERT INTO visits VALUES (?, ?)", (node, identity))
            ((node,),) = self._rows("SELECT parent FROM nodes WHERE id = ?", node)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _nodes(self, query: str, *values: object) -> list[Node]:
        return [
            Node(id_, parent, depth, Atom(AtomKind(kind), digest, call), session, message)
            for id_, parent, depth, kind, digest, call, session, message in self._rows(
                query, *values
            )
        ]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()
