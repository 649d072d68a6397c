"""The tree of messages in a file beside the store, so that a restart forgets no conversation.

It is an index: what was said is in the store. A tree that is lost or cannot be read is begun anew,
and conversations that go on are then taken for new ones.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.recognition.atoms import Atom, AtomKind, token_of
from holdfast.recognition.tree import Envelope, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest

__all__ = ["TreeFile"]

_PATIENCE_S = 5.0
_VERSION = 2
_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    tools INTEGER NOT NULL DEFAULT 0,
    schema INTEGER NOT NULL DEFAULT 0,
    tool_names BLOB NOT NULL DEFAULT x'',
    prompt BLOB NOT NULL DEFAULT x'',
    tip INTEGER
);
CREATE INDEX IF NOT EXISTS sessions_by_identity ON sessions(identity);
CREATE INDEX IF NOT EXISTS sessions_by_tip ON sessions(tip);
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
CREATE TABLE IF NOT EXISTS issued (
    node INTEGER NOT NULL,
    session INTEGER NOT NULL,
    call TEXT NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (node, session, call)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS issued_by_call ON issued(call);
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
        with self._transaction():
            ((version,),) = self._rows("PRAGMA user_version")
            if version != _VERSION:
                # Of another version: it is an index, and is begun anew.
                for table in ("sessions", "nodes", "prefixes", "issued", "visits"):
                    self._connection.execute(f"DROP TABLE IF EXISTS {table}")
                for statement in _TABLES.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def longest(
        self, prefixes: Sequence[bytes], identity: str
    ) -> tuple[int, Sequence[Node]] | None:
        """Return how many prefixes are known, and the nodes of the longest, the newest first."""
        query = f"""
            {_NODES} JOIN prefixes p ON p.node = n.id WHERE p.hash = ?1 AND (?2 = '' OR EXISTS (
                SELECT 1 FROM visits v WHERE v.node = n.id AND v.identity = ?2
            )) ORDER BY n.id DESC
        """
        # What is new is short in most requests, and long where nothing is known.
        for count in range(len(prefixes), 0, -1):
            if found := self._nodes(query, prefixes[count - 1], identity):
                return count, found
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

    def issued(self, session: str) -> Collection[str]:
        """Return the tokens of the answers to the last request of a session."""
        query = """
            SELECT i.call FROM sessions s JOIN issued i ON i.node = s.tip AND i.session = s.key
            WHERE s.id = ?
        """
        return {call for (call,) in self._rows(query, session)}

    def issuer(self, call: Atom) -> Node | None:
        """Return the last node of the request whose answer had a call."""
        query = f"""
            {_NODES} JOIN issued i ON i.node = n.id
            WHERE i.call = ? AND i.digest = ? ORDER BY n.id DESC LIMIT 1
        """
        return next(iter(self._nodes(query, call.call, call.digest)), None)

    def issue(self, session: str, answer: Sequence[Atom]) -> None:
        """Take in an answer to the last request of a session, to know it again.

        Where providers leave the ids of calls to clients nothing can be known of it.
        """
        if not all(map(token_of, answer)):
            return
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO issued SELECT tip, key, ?2, ?3 FROM sessions "
                "WHERE id = ?1 AND tip IS NOT NULL",
                [(session, token_of(atom), atom.digest) for atom in answer],
            )

    def session_of(self, identity: str) -> str:
        """Return the newest session of an identity."""
        query = "SELECT id FROM sessions WHERE identity = ? ORDER BY key DESC LIMIT 1"
        found = self._rows(query, identity)
        return str(found[0][0]) if found else ""

    def ends_at(self, id_: int, identity: str) -> Sequence[str]:
        """Return the sessions whose last request ended at a node, the newest first."""
        query = """
            SELECT id FROM sessions WHERE tip = ?1 AND (?2 = '' OR identity IN (?2, ''))
            ORDER BY key DESC
        """
        return [str(found) for (found,) in self._rows(query, id_, identity)]

    def tip_of(self, session: str) -> Node | None:
        """Return where the last request of a session ended."""
        query = f"{_NODES} WHERE n.id = (SELECT tip FROM sessions WHERE id = ?)"
        return next(iter(self._nodes(query, session)), None)

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

    def envelope(self, session: str) -> Envelope:
        """Return what the requests of a session came with."""
        query = "SELECT identity, tools, schema, tool_names, prompt FROM sessions WHERE id = ?"
        for identity, tools, schema, names, prompt in self._rows(query, session):
            return Envelope(identity, tools, bool(schema), names, prompt)
        return Envelope()

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
            self._connection.execute(
                "INSERT INTO sessions (id, identity, tools, schema, tool_names, prompt) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "tools = max(tools, excluded.tools), schema = schema OR excluded.schema, "
                "tool_names = excluded.tool_names, prompt = excluded.prompt, "
                "identity = iif(identity = '', excluded.identity, identity)",
                (
                    session,
                    identity,
                    request.tools,
                    request.has_schema,
                    request.tool_names,
                    request.prompt,
                ),
            )
            ((key,),) = self._rows("SELECT key FROM sessions WHERE id = ?", session)
            at = found.node
            depth = at.depth if at else 0
            parent = at.id if at else None
            if parent is not None and found.known:
                self._name(found.prefixes[found.known - 1], parent)
            self._visit(parent, identity)
            for place, message in zip(
                range(found.known, len(request.atoms)), messages, strict=True
            ):
                atom, prefix = request.atoms[place], found.prefixes[place]
                depth += 1
                cursor = self._connection.execute(
                    "INSERT INTO nodes (parent, depth, kind, digest, call, session, message) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (parent, depth, atom.kind, atom.digest, atom.call, key, message),
                )
                parent = cursor.lastrowid
                self._name(prefix, parent)
                self._visit(parent, identity)
            self._connection.execute("UPDATE sessions SET tip = ? WHERE key = ?", (parent, key))

    def _name(self, prefix: bytes, node: int | None) -> None:
        self._connection.execute("INSERT OR IGNORE INTO prefixes VALUES (?, ?)", (prefix, node))

    def _visit(self, node: int | None, identity: str) -> None:
        """Note that an identity was at a node and at all before it."""
        while node is not None and not self.was_seen(node, identity):
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
