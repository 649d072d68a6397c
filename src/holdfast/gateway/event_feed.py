"""What changes in a tenant's sessions, as server-sent events for views that stay up to date.

The store is looked at again and again while somebody listens: other processes write to it too, and
nothing else sees them all. Whoever changes something here has it looked at right away.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.conversation.waiting import in_store
from holdfast.errors import HoldfastError
from holdfast.ports.store import Listing
from holdfast.views.sessions import session_fields, state_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from holdfast.ports import Store
    from holdfast.session import Session

_LOOK_S = 1.0
_SIGN_S = 15.0
"""Seconds of silence after which a sign of life is sent."""
_WATCHED = 200
"""Sessions that are looked at: those used last."""
_WAITING = 1_000
"""Events that a listener may fall behind by before it is let go."""


@dataclass(frozen=True, slots=True)
class _News:
    """A session that has changed, and the event that says so."""

    session: Session
    event: bytes


class EventFeed:
    """Tells listeners what has changed since they came."""

    def __init__(self, store: Store) -> None:
        """Begin without listeners; the store is not looked at before there is one."""
        self._store = store
        self._listeners: set[asyncio.Queue[_News | None]] = set()
        self._known: dict[str, Session] | None = None
        self._nudged = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    def nudge(self) -> None:
        """Have the store looked at now: something was changed."""
        self._nudged.set()

    def close(self) -> None:
        """End every stream."""
        for each in self._listeners:
            _end(each)

    async def follow(self, session: str = "") -> AsyncGenerator[bytes]:
        """Yield events until the feed is closed, or the listener falls far behind.

        Args:
            session: The session to tell about, with all that came from it if it is the first of
                its lineage; every session by default.
        """
        queue: asyncio.Queue[_News | None] = asyncio.Queue(_WAITING)
        if self._looking is None:
            self._known = {each.id: each for each in await in_store(self._sessions)}
        self._listeners.add(queue)
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        try:
            yield b"event: ready\ndata: {}\n\n"
            while True:
                try:
                    news = await asyncio.wait_for(queue.get(), _SIGN_S)
                except TimeoutError:
                    yield b": holdfast is listening\n\n"
                    continue
                if news is None:
                    return
                if not session or session in (news.session.id, news.session.root):
                    yield news.event
        finally:
            self._listeners.discard(queue)
            self._look_away()

    def _look_away(self) -> None:
        """Stop looking when nobody listens any more."""
        if not self._listeners and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._nudged.wait(), _LOOK_S)
            self._nudged.clear()
            with suppress(HoldfastError):
                # A store that is busy is looked at again.
                for news in await self._news():
                    for each in [*self._listeners]:
                        if each.full():
                            self._listeners.discard(each)
                            _end(each)
                        else:
                            each.put_nowait(news)

    async def _news(self) -> list[_News]:
        known = self._known or {}
        found = await in_store(self._sessions)
        newest = max((each.started for each in known.values()), default=0)
        self._known = {each.id: each for each in found}
        events: list[_News] = []
        for each in reversed(found):
            kind = _change(known.get(each.id), each, newest)
            if kind:
                added = each.size - known[each.id].size if each.id in known else each.size
                value = {"type": kind, "entries_added": added, "session": session_fields(each)}
                event = f"event: {kind}\ndata: {json.dumps(value)}\n\n".encode()
                events.append(_News(each, event))
        return events

    def _sessions(self) -> tuple[Session, ...]:
        return (
            *self._store.sessions(Listing(limit=_WATCHED)),
            *self._store.sessions(Listing(limit=_WATCHED, trashed=True)),
        )


def _change(before: Session | None, after: Session, newest: int) -> str:
    """Return what happened to a session in one word; empty when nothing did."""
    if before is None:
        return "created" if after.started >= newest else "messages"
    if before == after:
        return ""
    if state_of(before) != state_of(after):
        if after.trashed is not None:
            return "trashed"
        if before.trashed is not None:
            return "restored"
        return "reopened" if after.ended is None else "ended"
    if before.generation != after.generation:
        return "window"
    return "messages" if before.size != after.size else "changed"


def _end(queue: asyncio.Queue[_News | None]) -> None:
    while queue.full():
        queue.get_nowait()
    queue.put_nowait(None)
