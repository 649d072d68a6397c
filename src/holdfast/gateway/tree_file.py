"""The tree of messages in a file beside the store, so that a restart forgets no conversation.

It is an index: what was said is in the store. A tree that is lost or cannot be used is begun anew,
and conversations that go on are then taken for new ones. Several processes may use one file, and
whoever adds to a conversation claims it first.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sqlite3
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from holdfast.errors import StoreBusy, StoreDamaged, reason_of
from holdfast.gateway.byte_locks import lock_within, unlock
from holdfast.recognition.atoms import Atom, AtomKind, token_of
from holdfast.recognition.tree import Node, SessionEnvelope
from holdfast.stores.sqlite.opening import PAGES, checkpoint

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest

_PATIENCE_S = 5.0
_VERSION = 2
"""Of the tables; a file with others is begun anew."""
_IN_MEMORY = ":memory:"
_UNUSABLE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""What SQLite says of a file that is damaged, foreign, not to be written or not there any more."""
_LOG = logging.getLogger("holdfast.gateway")
_TABLES = """
CREATE TABLE IF NOT EXISTS origin (id TEXT NOT NULL);
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
_KINDS = {str(kind): kind for kind in AtomKind}
_NODE = """
    n.id, n.parent, n.depth, n.kind, n.digest, n.call, s.id, n.message,
    NOT EXISTS (SELECT 1 FROM nodes c WHERE c.parent = n.id)
"""
_NODES = f"SELECT {_NODE} FROM nodes n JOIN sessions s ON s.key = n.session"
_HEARD_OF = """
SELECT value FROM json_each(?) WHERE value != '' AND (
    EXISTS (SELECT 1 FROM nodes WHERE call = value AND call != '')
    OR EXISTS (SELECT 1 FROM issued WHERE call = value)
)
"""
_SESSION = """
INSERT INTO sessions (id, identity, tools, schema, tool_names, prompt, tip)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    tools = max(tools, excluded.tools), schema = schema OR excluded.schema,
    tool_names = excluded.tool_names, prompt = excluded.prompt, tip = excluded.tip,
    identity = CASE identity WHEN '' THEN excluded.identity ELSE identity END
RETURNING key
"""
_FEW, _MANY = 4, 64
"""Prefixes that one statement looks for, at the end of a request and before it, and rows that one
writes."""


class PlaceTaken(StoreBusy):
    """Another process goes on with a conversation at this moment."""


class TreeFile:
    """A tree in an SQLite file, or in memory for `:memory:`; any thread may use it."""

    def __init__(self, place: str) -> None:
        """Open the file; it is made if it is not there, or cannot be used.

        Raises:
            StoreBusy: when another process keeps it for itself.
        """
        self.id = ""
        """Names this tree: one that is begun anew has another."""
        self._place = place
        self._lock = threading.RLock()
        self._is_filed = False
        self._inode: tuple[int, int] | None = None
        self._claims: int | None = None
        if place != _IN_MEMORY:
            with suppress(OSError):
                self._claims = os.open(f"{place}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        self._open()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
            if self._claims is not None:
                os.close(self._claims)
                self._claims = None

    def checkpoint(self) -> None:
        """Move what waits beside the file into it, while others read and write."""
        if self._is_filed:
            checkpoint(Path(self._place))

    @contextmanager
    def claimed(self, place: bytes) -> Generator[None]:
        """Keep other processes from going on at a place; whoever dies lets go of it.

        In one process, several may claim a place at once.

        Raises:
            PlaceTaken: when another process has it; nobody is waited for.
        """
        self._look()
        at = 1 + int.from_bytes(place[:3])
        if not lock_within(self._claims, at, 0):
            raise PlaceTaken(f"{self._place} is in use by another process; try again")
        try:
            yield
        finally:
            unlock(self._claims, at)

    def _look(self) -> None:
        """Open the file that is in place now, where that is another: it was moved or replaced."""
        if self._inode is not None and self._inode != _inode(self._place):
            with self._lock:
                self._connection.close()
                self._open()

    def _open(self, damage: str = "") -> None:
        """Open the file; one that cannot be used is set aside, and one process does that.

        Args:
            damage: What is wrong with the file that was open until now.
        """
        if not lock_within(self._claims, 0, _PATIENCE_S):
            raise StoreBusy(f"{self._place} is in use by another process; try again")
        try:
            is_same = self._is_filed and self._inode == _inode(self._place)
            self._connection = self._opened(damage if is_same else "")
        finally:
            unlock(self._claims, 0)
        self._inode = _inode(self._place) if self._is_filed else None
        ((self.id,),) = self._connection.execute("SELECT id FROM origin").fetchall()

    def _opened(self, damage: str) -> sqlite3.Connection:
        self._is_filed = self._place != _IN_MEMORY
        try:
            if not damage:
                return _connected(self._place)
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, sqlite3.Error) and not _is_unusable(error, sqlite3.SQLITE_ERROR):
                raise StoreBusy(f"{self._place} cannot be opened now: {error}") from error
            damage = str(error) if isinstance(error, sqlite3.Error) else reason_of(error)
        aside, kept = f"{self._place}.unusable", "it is kept as"
        try:
            for end in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{self._place}{end}", f"{aside}{end}")
            connection = _connected(self._place)
        except (sqlite3.Error, OSError):
            kept, aside = "a tree in memory serves until the end, instead of", self._place
            self._is_filed = False
            connection = _connected(_IN_MEMORY)
        _LOG.warning(
            "the tree of messages cannot be used (%s) and is begun anew, %s %s; conversations that "
            "go on are taken for new ones, and everything that was said is in the store",
            damage, kept, aside,
        )  # fmt: skip
        return connection

    def longest(
        self, prefixes: Sequence[bytes], identity: str
    ) -> tuple[int, Sequence[Node]] | None:
        """Return how many prefixes are known, and the nodes of the longest, the newest first."""
        end = len(prefixes)
        # What is new is short in most requests, and long where nothing is known.
        for size in (_FEW, *[_MANY] * (1 + end // _MANY)):
            if end <= 0:
                break
            some = prefixes[max(end - size, 0) : end]
            end = max(end - size, 0)
            places = {prefix: place for place, prefix in enumerate(some, end + 1)}
            # As many values each time, so that the statement is prepared once.
            values = [*some, *[some[0]] * (size - len(some))]
            query = f"""
                SELECT p.hash, {_NODE} FROM prefixes p JOIN nodes n ON n.id = p.node
                JOIN sessions s ON s.key = n.session
                WHERE p.hash IN ({", ".join("?" * size)}) AND (? = '' OR EXISTS (
                    SELECT 1 FROM visits v WHERE v.node = n.id AND v.identity = ?
                ))
            """
            told = self._rows(query, *values, identity, identity)
            found = [(places[hash_], row) for hash_, *row in told]
            if found:
                last = max(place for place, _ in found)
                rows = sorted((row for place, row in found if place == last), reverse=True)
                return last, [_node(*row) for row in rows]
        return None

    def heard_of(self, calls: Collection[str]) -> Collection[str]:
        """Return those of some ids of calls that a node or an answer has."""
        return {call for (call,) in self._rows(_HEARD_OF, json.dumps([*calls]))}

    def called(self, call: str) -> Sequence[Node]:
        """Return the nodes that are the result of a call, the newest first."""
        # What the index leaves out is named, or SQLite would not use it and look at every node.
        query = f"{_NODES} WHERE n.call = ? AND n.call != '' AND n.kind = ? ORDER BY n.id DESC"
        return self._nodes(query, call, str(AtomKind.RESULT))

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
        return next((str(found) for (found,) in self._rows(query, identity)), "")

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

    def envelope(self, session: str) -> SessionEnvelope:
        """Return what the requests of a session came with."""
        query = "SELECT identity, tools, schema, tool_names, prompt FROM sessions WHERE id = ?"
        for identity, tools, schema, names, prompt in self._rows(query, session):
            return SessionEnvelope(identity, tools, bool(schema), names, prompt)
        return SessionEnvelope()

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
            ((last,),) = self._rows("SELECT coalesce(max(id), 0) FROM nodes")
            at, depth = (found.node.id, found.node.depth) if found.node else (None, 0)
            ((key,),) = self._rows(
                _SESSION, session, identity, request.tools, request.has_schema,
                request.tool_names, request.prompt, last + len(messages) if messages else at,
            )  # fmt: skip
            names: list[tuple[bytes, int]] = []
            if at is not None and found.known:
                names.append((found.prefixes[found.known - 1], at))
                self._visit(at, identity)
            nodes: list[tuple[object, ...]] = []
            new = zip(request.atoms[found.known :], found.prefixes[found.known :], strict=True)
            for (atom, prefix), message in zip(new, messages, strict=True):
                last, depth = last + 1, depth + 1
                told = (str(atom.kind), atom.digest, atom.call, key, message)
                nodes.append((last, at, depth, *told))
                names.append((prefix, last))
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

    def _visit(self, node: int | None, identity: str) -> None:
        """Note that an identity was at a node and at all before it."""
        while identity and node is not None and not self.was_seen(node, identity):
            self._connection.execute("INSERT INTO visits VALUES (?, ?)", (node, identity))
            ((node,),) = self._rows("SELECT parent FROM nodes WHERE id = ?", node)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                self._begin_anew_if_damaged(error)
                raise

    def _begin_anew_if_damaged(self, error: sqlite3.Error) -> None:
        """Set a file aside that turns out to be damaged.

        Raises:
            StoreDamaged: when it was; whoever tries again finds the new one.
        """
        if _is_unusable(error):
            self._connection.close()
            self._open(str(error))
            raise StoreDamaged(f"{self._place} was damaged: {error}") from error

    def _nodes(self, query: str, *values: object) -> list[Node]:
        return [_node(*row) for row in self._rows(query, *values)]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                self._begin_anew_if_damaged(error)
                raise


def _node(
    id_: int, parent: int | None, depth: int, kind: str, digest: bytes, call: str, *told: Any
) -> Node:
    return Node(id_, parent, depth, Atom(_KINDS[kind], digest, call), *told)


def _connected(place: str) -> sqlite3.Connection:
    """Return a connection to a file that can be written, with all tables."""
    if place != _IN_MEMORY:
        # Made here, so that nobody else may read it.
        os.close(os.open(place, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        place, check_same_thread=False, isolation_level=None, timeout=_PATIENCE_S
    )
    try:
        _set_up(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if version != _VERSION and connection.execute("SELECT 1 FROM sqlite_master").fetchall():
        raise OSError(errno.EINVAL, "it was written by another version of holdfast")
    connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_VERSION};")
    connection.execute(
        "INSERT INTO origin SELECT ? WHERE NOT EXISTS (SELECT 1 FROM origin)", (uuid4().hex,)
    )
    connection.execute("COMMIT")


def _is_unusable(error: sqlite3.Error, *more: int) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (*_UNUSABLE, *more)


def _inode(place: str) -> tuple[int, int] | None:
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_dev, found.st_ino
