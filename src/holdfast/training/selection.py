"""Which sessions are exported, in which order, and on which side of a split each one is."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.ports.store import Listing
from holdfast.session import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["Selection", "Split", "ancestry", "order_of"]

_AT_ONCE = 500
_SIDES = {2: ("train", "test"), 3: ("train", "validation", "test")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which conversations are wanted; empty means all."""

    sources: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    folder: str = ""
    """Only sessions that took place in this folder or below it."""
    min_turns: int = 0
    max_tokens: int | None = None
    tool_errors: bool = True
    """Whether conversations in which a tool failed are wanted."""

    def has_place(self, store: Store, session: Session) -> bool:
        """Say whether a session took place where it should have."""
        if not self.folder:
            return True
        place = PurePath(places_of(ancestry(store, session)).get("folder", ""))
        return PurePath(self.folder) in (place, *place.parents)


@dataclass(frozen=True, slots=True)
class Split:
    """Puts conversations on two or three sides, all of one lineage on the same.

    A side follows from the seed and the first session of the lineage alone, so that no session
    that is added later moves another one.
    """

    shares: tuple[float, ...]
    seed: int = 0

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the names of the sides."""
        return _SIDES[len(self.shares)]

    def side_of(self, root: str) -> str:
        """Return the side of a lineage, by the id of its first session."""
        digest = blake2b(f"{self.seed}\n{root}".encode("utf-8", "replace"), digest_size=8).digest()
        at = int.from_bytes(digest) / 2**64 * sum(self.shares)
        for share, side in zip(self.shares, self.sides, strict=True):
            if at < share:
                return side
            at -= share
        return self.sides[-1]


def ancestry(store: Store, session: Session) -> tuple[Session, ...]:
    """Return the sessions that one came from, the oldest first, and itself.

    Parents are looked up one by one: a lineage may have very many other sessions.
    """
    path = [session]
    with suppress(UnknownSession):
        while (parent := path[-1].parent) is not None and all(each.id != parent for each in path):
            path.append(store.session(parent))
    return tuple(reversed(path))


def order_of(store: Store, wanted: Selection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the ids of the sessions to look at, by lineage, the oldest first.

    Lineages are in the order of their first session's id, which begins with a date. Of each
    session only its ids are held: a store may have very many.
    """
    found: list[tuple[str, int, str]] = []
    for session in _listed(store, wanted):
        if not wanted.models or session.model in wanted.models:
            # Most are the first of their lineage, and one text will do for both.
            root = session.id if session.root == session.id else session.root
            found.append((root, session.started, session.id))
    found.sort()
    for root, lineage in groupby(found, key=itemgetter(0)):
        yield root, tuple(dict.fromkeys(id_ for _, _, id_ in lineage))


def _listed(store: Store, wanted: Selection) -> Iterator[Session]:
    listing = Listing(sources=wanted.sources, since=wanted.since, until=wanted.until)
    newest = 0
    offset = 0
    while page := store.sessions(replace(listing, limit=_AT_ONCE, offset=offset)):
        newest = max(newest, page[0].touched)
        yield from page
        offset += _AT_ONCE
    # One that was used meanwhile has moved to the front, past the pages that were still to come.
    since = max(newest, wanted.since or 0)
    yield from store.sessions(replace(listing, since=since, limit=None))
