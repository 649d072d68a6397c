"""What a session is about: found by name, listed as a row, and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.ports.store import Listing
from holdfast.session import UNDATED, Fork, Usage
from holdfast.session.titles import short_title
from holdfast.views.words import crop, iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Session

__all__ = [
    "LAST",
    "UNTITLED",
    "SessionRow",
    "compaction_fields",
    "conversations",
    "every_session",
    "find_session",
    "is_session_name",
    "session_fields",
    "state_of",
    "store_figures",
    "title_of",
]

UNTITLED = "(no title)"
_PAGE = 200
_BESIDE = frozenset({Fork.DELEGATION, Fork.REVIEW})
"""Forks beside a conversation; it never goes on in them."""
LAST = "last"
_ASIDE = ("subagent", "tool")
"""Sources of sessions that nobody typed into, which `last` does not mean."""
_NAMED = 5
_LONGEST_NAME = 40
_BEGINNING = re.compile(
    rf"(\d{{8}}(_(\d{{1,6}}(_[0-9a-f]{{0,6}})?)?)?|{UNDATED}(_[0-9a-f]{{0,6}})?)"
)


def state_of(session: Session) -> str:
    """Return how a session stands in one word: `live`, `trash`, or why it ended."""
    if session.trashed is not None:
        return "trash"
    return str(session.end_reason or "ended") if session.ended is not None else "live"


def title_of(session: Session) -> str:
    """Return the title on one short line, or words that stand for none."""
    return short_title(session.title) or UNTITLED


def session_fields(session: Session) -> dict[str, object]:
    """Return a session as plain JSON values."""
    return {
        "id": session.id,
        "title": session.title,
        "state": state_of(session),
        "source": session.source,
        "model": session.model,
        "goal": session.goal,
        "root": session.root,
        "parent": session.parent,
        "fork": session.fork and str(session.fork),
        "started": iso_time(session.started),
        "touched": iso_time(session.touched),
        "ended": iso_time(session.ended),
        "end_reason": session.end_reason and str(session.end_reason),
        "trashed": iso_time(session.trashed),
        "entries": session.size,
        "usage": asdict(session.usage),
        "metadata": dict(session.metadata),
    }


def compaction_fields(record: CompactionRecord) -> dict[str, object]:
    """Return what is known of a pass as plain JSON values, its summary left out."""
    return {
        "at": iso_time(record.at),
        "trigger": record.trigger,
        "strategy": record.strategy,
        "focus": record.focus,
        "duration_ms": record.duration_ms,
        "report": dict(record.report),
    }


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session to be listed."""

    session: Session
    sessions: int | None = None
    """How many sessions its lineage has, those in the trash left out; None where nobody asked."""

    def as_json(self) -> dict[str, object]:
        """Return the row as plain JSON values."""
        return {**session_fields(self.session), "sessions": self.sessions}


def every_session(store: Store, wanted: Listing) -> tuple[SessionRow, ...]:
    """Return each session as a row of its own."""
    return tuple(SessionRow(session) for session in store.sessions(wanted))


def conversations(store: Store, wanted: Listing) -> tuple[SessionRow, ...]:
    """Return one row for each lineage: its session that was used last.

    A sub-agent never stands for the conversation that sent it. It has a row only where its source
    was asked for and the conversation has another one.
    """
    found: dict[str, Session] = {}
    for session in _paged(store, wanted):
        if session.fork in _BESIDE and not (wanted.sources and _stands_alone(store, session)):
            continue
        if session.root not in found:
            if len(found) == wanted.limit:
                break
            found[session.root] = session
    return tuple(
        SessionRow(each, sum(one.trashed is None for one in store.lineage(each.id)))
        for each in found.values()
    )


def _stands_alone(store: Store, session: Session) -> bool:
    """Say whether the lineage of a session has no row from the same source."""
    return not any(
        each.source == session.source and each.fork not in _BESIDE and each.trashed is None
        for each in store.lineage(session.id)
    )


def _paged(store: Store, wanted: Listing) -> Iterator[Session]:
    offset = 0
    while True:
        page = store.sessions(replace(wanted, limit=_PAGE, offset=offset))
        yield from page
        if len(page) < _PAGE:
            return
        offset += _PAGE


def is_session_name(text: str) -> bool:
    """Say whether a text looks like a session rather than like a file."""
    return text == LAST or _BEGINNING.fullmatch(text) is not None


def find_session(store: Store, name: str) -> Session:
    """Return the session of that id, the only one whose id begins so, or the last one.

    The random end of an id will do as well. Sessions in the trash are found too.

    Raises:
        UnknownSession: when there is none, or more than one; it names candidates.
    """
    if name == LAST:
        newest = store.sessions(Listing(exclude_sources=_ASIDE, limit=1))
        if not newest:
            raise UnknownSession("there are no sessions yet")
        return newest[0]
    try:
        return store.session(name)
    except UnknownSession:
        return _only(store, name)


def _only(store: Store, name: str) -> Session:
    everyone = [
        *store.sessions(Listing(limit=None)),
        *store.sessions(Listing(limit=None, trashed=True)),
    ]
    ends = f"_{name}"
    found = [
        each for each in everyone if name and (each.id.startswith(name) or each.id.endswith(ends))
    ]
    if len(found) == 1:
        return found[0]
    shown = crop(name, _LONGEST_NAME)
    if found:
        raise UnknownSession(f"{shown} may mean {len(found):,} sessions: {_named(found)}")
    words = name.casefold()
    titled = [each for each in everyone if words and words in each.title.casefold()]
    if titled:
        raise UnknownSession(f"there is no session {shown!r}; by their titles: {_named(titled)}")
    raise UnknownSession(
        f"there is no session {shown!r}; holdfast sessions list shows what there is"
    )


def store_figures(store: Store) -> dict[str, object]:
    """Return what a store holds in figures, as plain JSON values; the trash is counted alone."""
    kept = store.sessions(Listing(limit=None))
    return {
        "sessions": len(kept),
        "conversations": len({each.root for each in kept}),
        "live": sum(each.is_live for each in kept),
        "trashed": len(store.sessions(Listing(limit=None, trashed=True))),
        "entries": sum(each.size for each in kept),
        # A window that never changed was never compacted.
        "compactions": sum(store.count_compactions(each.id) for each in kept if each.generation),
        "sources": dict(Counter(each.source for each in kept)),
        "models": dict(Counter(each.model for each in kept if each.model)),
        "usage": asdict(sum((each.usage for each in kept), Usage())),
    }


def _named(sessions: Sequence[Session]) -> str:
    shown = [
        f"{each.id} ({crop(each.title, _LONGEST_NAME)})" if each.title else each.id
        for each in sessions[:_NAMED]
    ]
    more = len(sessions) - _NAMED
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)
