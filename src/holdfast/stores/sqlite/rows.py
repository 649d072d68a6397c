"""Rows and blobs as values: the columns of each table and what they mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from holdfast.errors import StoreDamaged
from holdfast.session import (
    Cause,
    CompactionRecord,
    EndReason,
    Fork,
    Head,
    Kind,
    Session,
    SessionState,
    Span,
    Usage,
    View,
    blob_hashes,
    unsqueeze,
)
from holdfast.session.sessions import check_live, unknown_session
from holdfast.transcript import Role

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

Row: TypeAlias = tuple[Any, ...]
MessageRow: TypeAlias = tuple[
    int, int, int, int, int, int, int, str | bytes, bytes | None, int | None
]

_read_json = msgspec.json.Decoder().decode
_write_json = json.JSONEncoder(separators=(",", ":"), default=str).encode
ROLES: tuple[Role, ...] = (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
"""Roles by the number that stands for them."""
KINDS: tuple[Kind, ...] = tuple(Kind)

_SESSION_COLUMNS = """
    s.id, s.source, s.started, s.title, s.model, s.goal, p.id, s.fork, r.id, s.ended,
        s.end_reason, s.trashed, s.touched, s.size, s.generation, s.calls, s.input_tokens,
        s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.cost, s.metadata,
        k.name
"""
_FROM_SESSIONS = """
    FROM sessions AS s
    JOIN sessions AS r ON r.key = s.root
    LEFT JOIN sessions AS p ON p.key = s.parent
    LEFT JOIN caller_keys AS k ON k.session = s.key
    WHERE s.purged IS NULL
"""
SELECT_SESSIONS = f"SELECT {_SESSION_COLUMNS} {_FROM_SESSIONS}"
"""Sessions by their columns; a condition can be added with AND."""
_SELECT_SESSION = f"{SELECT_SESSIONS} AND s.id = ?"
_SELECT_KEYED = f"""
    {SELECT_SESSIONS} AND s.trashed IS NULL
        AND s.key = (SELECT session FROM caller_keys WHERE name = ?)
"""
_SELECT_STATE = f"""
    SELECT {_SESSION_COLUMNS}, s.key, s.view, s.tip,
        (SELECT count(*) FROM compactions AS c WHERE c.session = s.key),
        (SELECT json_group_array(message) FROM pins WHERE session = s.key)
    {_FROM_SESSIONS} AND s.id = ?
"""
_UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a row may raise that is not as it was written."""


class _Reading:
    """Lets a row be read; a class, because a generator takes longer than a row."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Raise what went wrong as damage."""
        if isinstance(error, _UNREADABLE):
            raise StoreDamaged(
                f"{self._place} cannot be read ({error!r}); run `holdfast doctor --repair`"
            ) from error


def reading(place: str) -> _Reading:
    """Turn what goes wrong while a row is read into a sentence that names it."""
    return _Reading(place)


def session_from(row: Row) -> Session:
    """Return the session that a row of `SELECT_SESSIONS` tells of."""
    with reading(f"session {row[0]}"):
        return Session(
            id=row[0],
            source=text_from(row[1]),
            started=row[2],
            title=text_from(row[3]),
            model=text_from(row[4]),
            goal=text_from(row[5]),
            parent=row[6],
            fork=None if row[7] is None else Fork(row[7]),
            root=row[8],
            ended=row[9],
            end_reason=None if row[10] is None else EndReason(row[10]),
            trashed=row[11],
            touched=row[12],
            size=row[13],
            generation=row[14],
            usage=Usage(*row[15:21]),
            metadata=from_json(row[21]),
            key=None if row[22] is None else text_from(row[22]),
        )


def session_of(connection: sqlite3.Connection, id_: str) -> Session:
    """Return a session; one that is not there raises `UnknownSession`."""
    row = connection.execute(_SELECT_SESSION, (to_text(id_),)).fetchone()
    if row is None:
        raise unknown_session(id_)
    return session_from(row)


def keyed_session(connection: sqlite3.Connection, key: str) -> Session | None:
    """Return the session outside the trash that has a key."""
    row = connection.execute(_SELECT_KEYED, (to_text(key),)).fetchone()
    return None if row is None else session_from(row)


def state_of(connection: sqlite3.Connection, id_: str) -> tuple[SessionState, int]:
    """Return everything about a session but its messages, and the key of its row.

    It is one statement, so that it needs no transaction around it.
    """
    row: Row | None = connection.execute(_SELECT_STATE, (to_text(id_),)).fetchone()
    if row is None:
        raise unknown_session(id_)
    session = session_from(row)
    key, view, tip, compactions, pinned = row[-5:]
    head = Head(session.generation, view, session.size)
    pins = frozenset(cast("list[int]", _read_json(pinned)))
    state = SessionState(session=session, head=head, tip=tip, pins=pins, compactions=compactions)
    return state, key


def pins_of(connection: sqlite3.Connection, key: int) -> frozenset[int]:
    """Return the ids of the messages that are pinned in a session."""
    rows = connection.execute("SELECT message FROM pins WHERE session = ?", (key,))
    return frozenset(message for (message,) in rows)


def lineage_of(connection: sqlite3.Connection, id_: str) -> tuple[Session, ...]:
    """Return every session with the same root, which comes first, then the oldest."""
    (root,) = keys_of(connection, id_, "root")
    # One that was found to have come from another later may be as old as that.
    rows = connection.execute(
        f"{SELECT_SESSIONS} AND s.root = ? ORDER BY s.key != s.root, s.started, s.key", (root,)
    )
    return tuple(session_from(row) for row in rows)


def key_of(connection: sqlite3.Connection, id_: str) -> int:
    """Return the number under which a session's rows stand."""
    (key,) = keys_of(connection, id_, "key")
    return key


def keys_of(connection: sqlite3.Connection, id_: str, columns: str) -> Row:
    """Return columns of a session; one that is not there raises `UnknownSession`."""
    found: Row | None = connection.execute(
        f"SELECT {columns} FROM sessions WHERE id = ? AND purged IS NULL", (to_text(id_),)
    ).fetchone()
    if found is None:
        raise unknown_session(id_)
    return found


def live_key_of(
    connection: sqlite3.Connection, id_: str, columns: str = "key, size, generation, view"
) -> Row:
    """Return columns of a session to which something may be added."""
    *found, ended, trashed = keys_of(connection, id_, f"{columns}, ended, trashed")
    if trashed is not None or ended is not None:
        check_live(session_of(connection, id_), lambda: lineage_of(connection, id_))
    return tuple(found)


def names_of(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, str]:
    """Return the ids of sessions by their keys."""
    with reading("what a view shows"):
        # Written out, because there may be more than a statement takes values.
        listed = ", ".join({f"{key:d}" for key in keys})
    return dict(connection.execute(f"SELECT key, id FROM sessions WHERE key IN ({listed})"))


def view_from(row: Row, names: Mapping[int, str]) -> View:
    """Return the view of a row (id, session, parent, cause, spans, upto, at)."""
    id_, session, parent, cause, spans, upto, at = row
    with reading(f"view {id_}"):
        return View(
            id=id_,
            session=names[session],
            parent=parent,
            cause=Cause(cause),
            spans=tuple(Span(names.get(key, ""), *ends) for key, *ends in json.loads(spans)),
            upto=upto,
            at=at,
        )


def compaction_from(row: Row, session: str) -> CompactionRecord:
    """Return the pass that a row tells of."""
    id_, before, after, at, trigger, strategy, focus, summary, report, lasted, cost, cache = row
    with reading(f"compaction {id_}"):
        return CompactionRecord(
            id=id_,
            session=session,
            before=before,
            after=after,
            at=at,
            trigger=trigger,
            strategy=strategy,
            focus=text_from(focus),
            summary=text_from(summary),
            report=from_json(report),
            duration_ms=lasted,
            cost=cost,
            cache_cost=cache,
        )


def to_text(text: str) -> str | bytes:
    """Return what is bound for a text: half a pair of surrogates can only be stored as bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def text_from(stored: str | bytes) -> str:
    """Return the text that `to_text` stored."""
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


def to_json(value: Mapping[str, object]) -> str:
    """Return values as ASCII, so that no character is beyond a text column."""
    return _write_json(value)


def from_json(text: str) -> dict[str, object]:
    """Return what `to_json` wrote."""
    try:
        return _read_json(text)
    except ValueError:
        # What is not a number, and half a pair of surrogates, are not for `msgspec`.
        return cast("dict[str, object]", json.loads(text))


_BARE = b"t"
"""Marks a whole message that is its text; other whole messages begin as packed ones do."""
_AT_ONCE = 500
"""Blobs that one statement reads; old builds of SQLite take up to 999 values."""


def put_blobs(connection: sqlite3.Connection, blobs: Mapping[bytes, tuple[int, bytes]]) -> None:
    """Store what is not there yet, by hash: size and squeezed content."""
    if blobs:
        connection.executemany(
            "INSERT OR IGNORE INTO blobs (hash, size, body) VALUES (?, ?, ?)",
            [(digest, size, body) for digest, (size, body) in blobs.items()],
        )


def fetcher(
    connection: sqlite3.Connection, *, is_remembering: bool = True, ahead: Iterable[bytes] = ()
) -> Callable[[bytes], bytes]:
    """Return a function that reads blobs.

    Args:
        connection: Where they are.
        is_remembering: Whether one that recurs is read once; not for passes over everything.
        ahead: Blobs that will be asked for: reading many at once takes half the time.
    """
    seen: dict[bytes, bytes] = {}
    digests = list(dict.fromkeys(ahead))
    waiting: dict[bytes, tuple[bytes, int]] = {}
    for start in range(0, len(digests), _AT_ONCE):
        some = digests[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        for digest, body, size in connection.execute(
            f"SELECT hash, body, size FROM blobs WHERE hash IN ({marks})", some
        ):
            waiting[digest] = body, size

    def fetch(digest: bytes) -> bytes:
        found = seen.get(digest)
        if found is None:
            row = (
                waiting.pop(digest, None)
                or connection.execute(
                    "SELECT body, size FROM blobs WHERE hash = ?", (digest,)
                ).fetchone()
            )
            if row is None:
                raise StoreDamaged(f"the content {digest.hex()[:12]} is missing")
            found = unsqueeze(row[0])
            if len(found) != row[1]:
                raise StoreDamaged(f"the content {digest.hex()[:12]} is not as it was written")
            if is_remembering:
                seen[digest] = found
        return found

    return fetch


def references(
    body: str | bytes, whole: bytes | None, fetch: Callable[[bytes], bytes]
) -> frozenset[bytes]:
    """Return the blobs that a row refers to; what cannot be read refers to nothing more."""
    found: set[bytes] = set()
    try:
        found |= blob_hashes(body)
        if whole is not None:
            found.add(whole)
            found |= blob_hashes(whole_from(fetch(whole)))
    except (StoreDamaged, TypeError):
        return frozenset(found)
    return frozenset(found)


def stored_whole(body: str | bytes) -> bytes:
    """Return a packed message as the content of a blob."""
    return _BARE + body.encode() if isinstance(body, str) else body


def whole_from(content: bytes) -> str | bytes:
    """Return the packed message that `stored_whole` was given."""
    return content[1:].decode() if content[:1] == _BARE else content
