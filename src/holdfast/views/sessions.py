"""What a session is about: found by name, listed as a row, and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.ports.store import Listing
from holdfast.recall import Filters
from holdfast.recall.values import agent_of, meant_sources
from holdfast.session import UNDATED, Fork, Usage, is_among, places_of
from holdfast.session.lineage_reader import ancestry
from holdfast.session.titles import short_title
from holdfast.views.words import crop, iso_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Session

UNTITLED = "(no title)"
_PAGE = 200
_MENTIONS = 400
"""Messages that are looked at in one go for the conversations that name a file."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """What sessions are narrowed by beyond what a store lists; what is empty narrows nothing."""

    project: str = ""
    """The folder in which it took place, or one above it; a bare name is the folder's own."""
    branch: str = ""
    file: str = ""
    """A file that was named in the conversation, by its path or the end of it."""
    model: str = ""
    """A part of the model's name, whatever the case."""

    def admits(self, store: Store) -> Callable[[Session], bool]:
        """Return what says of a session of this store whether it is wanted."""
        roots = _roots_naming(store, self.file) if self.file else None
        project = PurePath(self.project).parts

        def is_wanted(session: Session) -> bool:
            if self.model.casefold() not in session.model.casefold():
                return False
            if roots is not None and session.root not in roots:
                return False
            if not (project or self.branch):
                return True
            places = places_of(ancestry(store, session))
            folder = PurePath(places.get("folder", "")).parts
            is_there = folder[: len(project)] == project
            if len(project) == 1:
                is_there = is_there or folder[-1:] == project
            return is_there and self.branch in ("", places.get("branch", ""))

        return is_wanted


EVERYTHING = SessionFilter()
"""Narrows nothing."""


def admitted(store: Store, filters: Sequence[SessionFilter]) -> tuple[str, ...]:
    """Return the ids of the sessions outside the trash that one of the filters wants."""
    wanted = [each.admits(store) for each in filters]
    listed = _paged(store, Listing(limit=None))
    return tuple(each.id for each in listed if any(is_one(each) for is_one in wanted))


def unknown_sources(store: Store, names: Sequence[str]) -> str:
    """Say that no session is from any of these sources, and which there are; empty if one is."""
    there = {each.source for each in _paged(store, Listing(limit=None))}
    if not names or not there or any(is_among(each, meant_sources(names)) for each in there):
        return ""
    known = ", ".join(sorted({agent_of(each) or each for each in there}))
    return f"no session is from {' or '.join(names)}; there are: {known}"


def folder_meant(text: str) -> str:
    """Return the folder that a text means: a path as a whole one, a bare name as it is."""
    is_name = text not in (".", "..") and "~" not in text and len(Path(text).parts) == 1
    return text if not text or is_name else str(Path(text).expanduser().absolute().resolve())


def _roots_naming(store: Store, file: str) -> set[str]:
    """Return the roots of the conversations in which a file was named."""
    roots: set[str] = set()
    query = '"{}"'.format(file.replace('"', " "))
    while hits := store.search(
        query, Filters(exclude_lineages=tuple(roots)), limit=_MENTIONS, now=0
    ):
        roots.update(hit.root_id for hit in hits)
        if len(hits) < _MENTIONS:
            break
    return roots


def every_session(
    store: Store, wanted: Listing, only: SessionFilter = EVERYTHING
) -> tuple[SessionRow, ...]:
    """Return each session as a row of its own."""
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    found = filter(only.admits(store), _paged(store, wanted))
    return tuple(SessionRow(session) for session in islice(found, wanted.offset, end))


def conversations(
    store: Store, wanted: Listing, only: SessionFilter = EVERYTHING
) -> tuple[SessionRow, ...]:
    """Return one row for each lineage: its session that was used last.

    A sub-agent never stands for the conversation that sent it. It has a row only where its source
    was asked for and the conversation has another one.
    """
    found: dict[str, Session] = {}
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    for session in filter(only.admits(store), _paged(store, wanted)):
        # What came beside a conversation counts only where no row of its source leads to it.
        if session.fork in _BESIDE and (
            not wanted.sources
            or any(
                each.source == session.source and each.fork not in _BESIDE and each.trashed is None
                for each in store.lineage(session.id)
            )
        ):
            continue
        if session.root not in found:
            if len(found) == end:
                break
            found[session.root] = session
    return tuple(
        SessionRow(each, sum(one.trashed is None for one in store.lineage(each.id)))
        for each in islice(found.values(), wanted.offset, end)
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
    with suppress(UnknownSession):
        return store.session(name)
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
