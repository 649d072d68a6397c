"""Stored sessions for programs: what `holdfast sessions` lists, exports and deletes, in Python."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from holdfast.config import Settings, load
from holdfast.errors import ConfigError
from holdfast.keywords import check_names
from holdfast.ports.store import Listing
from holdfast.recall.values import MOMENTS, meant_sources, moment
from holdfast.system import SystemClock
from holdfast.views.export import EXPORTERS, ExportRequest
from holdfast.views.sessions import (
    SessionFilter,
    conversations,
    every_session,
    find_session,
    folder_meant,
)
from holdfast.wiring.assembly import counter_of, policy_of
from holdfast.wiring.stores import open_store, store_of

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.wiring.stores import Place


class SessionQuery(TypedDict, total=False):
    """Which sessions are wanted; what is not given narrows nothing."""

    project: str | Path
    """The folder in which they took place, or one above it; a bare name is the folder's own."""
    agent: str
    """Where they come from: `cli`, `api`, or the agent they were imported from."""
    branch: str
    file: str
    """A file that was named in the conversation."""
    model: str
    """A part of the model's name."""
    title: str
    """A part of the title."""
    since: str | datetime
    """Used at this time or later: a `datetime`, or a text such as `7d` or `2026-11-15`."""
    until: str | datetime
    limit: int | None
    """How many at most; 50 by default, None for all."""
    offset: int
    """How many to skip, for the next page."""
    trash: bool
    """Those in the trash instead of the others."""
    every: bool
    """Each session, not each conversation by the session used last."""


def sessions(place: Place = None) -> SessionCatalog:
    """Open a store to look after its sessions.

    Args:
        place: A path, an address or an open store; by default the configured one.
    """
    return SessionCatalog(place)


class SessionCatalog:
    """The sessions of a store: found, exported and deleted as the command line does.

    ```python
    with holdfast.sessions("server.db") as sessions:
        for session in sessions.list(project="~/work/app", since="7d"):
            print(session.id, session.title)
        text = sessions.export("last", "markdown")
    ```

    A session is named by its id, by the beginning or the random end of one, or as `last`.
    """

    def __init__(self, place: Place = None) -> None:
        """Open the store; one that is open already is used and not closed."""
        self._settings: Settings = load(os.environ).settings
        if place is None:
            self.store: Store = store_of(self._settings, os.environ)
        else:
            self.store = open_store(place, os.environ)
        self._owns_store = self.store is not place

    def list(self, **wanted: Unpack[SessionQuery]) -> tuple[Session, ...]:
        """Return the sessions that are wanted, the one used last first.

        Raises:
            ConfigError: for an option or a time that cannot be understood.
        """
        check_names(wanted, SessionQuery.__annotations__, "sessions.list")
        listing = Listing(
            sources=meant_sources([agent] if (agent := wanted.get("agent")) else ()),
            since=_moment(wanted.get("since"), end=False),
            until=_moment(wanted.get("until"), end=True),
            title=wanted.get("title", ""),
            trashed=wanted.get("trash", False),
            limit=wanted.get("limit", 50),
            offset=wanted.get("offset", 0),
        )
        only = SessionFilter(
            project=folder_meant(str(wanted.get("project", ""))),
            branch=wanted.get("branch", ""),
            file=wanted.get("file", ""),
            model=wanted.get("model", ""),
        )
        single = wanted.get("every", False) or listing.trashed
        rows = (every_session if single else conversations)(self.store, listing, only)
        return tuple(row.session for row in rows)

    def get(self, name: str) -> Session:
        """Return one session, also one that is in the trash.

        Raises:
            UnknownSession: when there is none, or more than one; it names candidates.
        """
        return find_session(self.store, name)

    def export(
        self,
        name: str,
        format: str = "markdown",  # noqa: A002 - its name
        *,
        log: bool | None = None,
    ) -> str:
        """Return a session as text in another format.

        Args:
            name: The session.
            format: A provider's dialect, an agent's file, `markdown` or `html`.
            log: Whether everything that was said is written, or what the model sees now; without
                a choice, the format knows what suits it.

        Raises:
            ConfigError: when there is no such format; it names those there are.
        """
        if format not in EXPORTERS:
            raise ConfigError(f"there is no format {format!r}; there are: {', '.join(EXPORTERS)}")
        request = ExportRequest(
            self.store,
            self.get(name),
            policy_of(self._settings),
            counter_of(self._settings),
            log,
        )
        return "".join(EXPORTERS[format](request).pieces)

    def delete(self, name: str, *, lineage: bool = False) -> tuple[str, ...]:
        """Put a session into the trash and return the ids; with its lineage, all of those.

        What is in the trash is out of lists and search until it is restored or purged.
        """
        ids = self._ids(name, lineage=lineage, trashed=False)
        self.store.trash(ids, SystemClock().moment())
        return ids

    def restore(self, name: str, *, lineage: bool = False) -> tuple[str, ...]:
        """Take a session out of the trash and return the ids; with its lineage, all of those."""
        ids = self._ids(name, lineage=lineage, trashed=True)
        self.store.restore(ids)
        return ids

    def purge(self, *names: str) -> tuple[str, ...]:
        """Delete sessions that are in the trash for good, by default all; return their ids."""
        in_trash = {each.id for each in self.list(trash=True, limit=None)}
        chosen = {self.get(name).id for name in names} if names else in_trash
        if outside := sorted(chosen - in_trash):
            raise ConfigError(f"{', '.join(outside)} is not in the trash; delete it first")
        ids = tuple(sorted(chosen))
        self.store.purge(ids)
        return ids

    def close(self) -> None:
        """Close the store, unless it was open before."""
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        """Return itself; the block closes the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def _ids(self, name: str, *, lineage: bool, trashed: bool) -> tuple[str, ...]:
        session = self.get(name)
        chosen = self.store.lineage(session.id) if lineage else (session,)
        return tuple(each.id for each in chosen if (each.trashed is not None) == trashed)


def _moment(text: str | datetime | None, *, end: bool) -> int | None:
    if text is None:
        return None
    now = datetime.fromtimestamp(SystemClock().moment() / 1000).astimezone()
    found = text if isinstance(text, datetime) else moment(text, now, end=end)
    if found is None:
        raise ConfigError(f"{text!r} is no time; write {MOMENTS}")
    return round(found.timestamp() * 1000)
