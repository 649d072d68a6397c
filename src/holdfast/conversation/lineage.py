"""Going back and going another way: undo, redo, rewind, and sessions that come from others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from holdfast.errors import ConfigError, UnknownSession
from holdfast.keywords import check_text
from holdfast.ports import Amendment
from holdfast.session import (
    SERVER_KEY,
    WINDOW_KEY,
    Cause,
    Change,
    EndReason,
    Fork,
    Session,
    Spawn,
    key_taken,
    next_title,
    path_to,
    redo_target,
    undo_target,
)
from holdfast.transcript import is_user_word, seams

if TYPE_CHECKING:
    from holdfast.conversation.live import LiveSession
    from holdfast.ports import Store
    from holdfast.session import Entry, Head, Window
    from holdfast.transcript import Transcript

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """How a session is to come from another."""

    fork: Fork
    shows: tuple[Entry, ...] = ()
    head: Head | None = None
    """Where the parent stood when that was read, if what was said there since is to follow."""
    end: EndReason | None = None
    """Why the parent ends; None lets it live on."""
    title: str = ""
    key: str | None = None
    keep_goal: bool = True


class Lineage:
    """Moves a session between its views, and makes sessions that come from it."""

    def __init__(self, live: LiveSession) -> None:
        """Work on the session that is live at the time."""
        self._live = live

    def sessions(self) -> tuple[Session, ...]:
        """Return every session that has the same root, the oldest first."""
        return self._live.deps.store.lineage(self._live.id)

    def undo(self, cause: Cause | None = None) -> bool:
        """Take the newest compaction or rewind back; says whether there was one.

        The window is what it was before, byte for byte, followed by what was said since.

        Args:
            cause: What is to be taken back; by default whatever came last.

        Raises:
            ConfigError: when something else came last.
        """
        live, store = self._live, self._live.deps.store

        def back(window: Window) -> bool:
            undone = undo_target(store.views(live.id), window.head.view)
            if undone is not None:
                if cause not in (None, undone.cause):
                    raise ConfigError(f"a {undone.cause} came last; undo() takes that back first")
                store.move(live.id, undone.parent, window.head.generation)
            return undone is not None

        return self._told("undo", live.retry(back))

    def redo(self) -> bool:
        """Bring back what an undo took away; says whether there was anything."""
        live, store = self._live, self._live.deps.store

        def again(window: Window) -> bool:
            target = redo_target(store.views(live.id), window.head.view, store.tip(live.id))
            if target is not None:
                store.move(live.id, target, window.head.generation)
            return target is not None

        return self._told("redo", live.retry(again))

    def rewind(self, turns: int = 1) -> Transcript:
        """Take the last turns out of the window, and return them; `undo` brings them back."""
        live = self._live

        def without_turns(window: Window) -> Transcript:
            kept = before_turns(window, turns)
            removed = window.entries[len(kept) :]
            if removed:
                change = Change(
                    cause=Cause.REWIND,
                    pieces=kept,
                    generation=window.head.generation,
                    seen=window.head.size,
                    at=live.deps.clock.moment(),
                )
                live.deps.store.change(live.id, change)
            return tuple(entry.message for entry in removed)

        return self._told("rewind", live.retry(without_turns))

    def branch(
        self,
        at: int | None = None,
        *,
        title: str = "",
        key: str | None = None,
        keep_parent: bool = False,
    ) -> Session:
        """Create a session that goes another way from here, or from an earlier message.

        The branch shares what was said by reference. This session ends, unless it is kept.

        Args:
            at: The id of the last message that the branch shares; all by default.
            title: The branch's title; by default the next in the lineage.
            key: What the caller calls the branch.
            keep_parent: Whether this session may go on too.

        Raises:
            Conflict: when another session has the key.
        """
        if key and (holder := self._live.deps.store.keyed(key)):
            raise key_taken(key, holder.id)
        end = None if keep_parent else EndReason.BRANCHED

        def fork(window: Window) -> Session:
            if at is None:
                return self._forked(replace(_whole(Fork.BRANCH, window, end, title), key=key))
            shows = _shared_until(self._live.deps.store, self._live.id, at)
            wanted = _Wanted(fork=Fork.BRANCH, shows=shows, end=end, title=title, key=key)
            return self._forked(wanted)

        return self._live.retry(fork)

    def new(self, *, keep_goal: bool = True) -> Session:
        """Create a session with an empty window; this one ends and stays in the store."""
        wanted = _Wanted(fork=Fork.RESET, end=EndReason.RESET, keep_goal=keep_goal)
        return self._live.retry(lambda _: self._forked(wanted))

    def delegate(self, *, title: str = "") -> Session:
        """Create a session for a sub-agent; this one goes on."""
        wanted = _Wanted(fork=Fork.DELEGATION, title=title)
        return self._live.retry(lambda _: self._forked(wanted))

    def review(self, *, title: str = "") -> Session:
        """Create a session that sees a copy of this window; this one goes on."""
        return self._live.retry(
            lambda window: self._forked(_whole(Fork.REVIEW, window, None, title))
        )

    def _told(self, reason: str, changed: Result) -> Result:
        """Return what came of a change of the window, after listeners were told, if any did."""
        if changed:
            self._live.tell_rewound(reason)
        return changed

    def _forked(self, wanted: _Wanted) -> Session:
        """Create the child in one step with the end of its parent.

        Raises:
            Conflict: when the parent's window was changed since it was read.
        """
        deps, session, fork, head = self._live.deps, self._live.session, wanted.fork, wanted.head
        check_text("title", wanted.title)
        taken = [each.title for each in deps.store.lineage(session.id)]
        following = "" if fork is Fork.RESET else next_title(session.title, taken)
        metadata = session.metadata
        if not wanted.shows:
            # A session that shows nothing of its parent keeps the window and the server of it.
            kept = {WINDOW_KEY: session.context_length, SERVER_KEY: session.server}
            metadata = {key: value for key, value in kept.items() if value}
        child = Session(
            id=deps.unused_id(),
            source="subagent" if fork is Fork.DELEGATION else session.source,
            started=deps.clock.moment(),
            title=wanted.title or following,
            model=session.model,
            goal=session.goal if wanted.keep_goal else "",
            parent=session.id,
            fork=fork,
            key=wanted.key,
            metadata=metadata,
        )
        spawn = Spawn(
            child=child,
            shows=wanted.shows,
            parent_end=wanted.end,
            generation=None if head is None else head.generation,
            seen=None if head is None else head.size,
        )
        made = deps.store.spawn(spawn) if wanted.end is None else self._live.spawn(spawn)
        if session.goal and not wanted.keep_goal:
            # A child without a goal takes its parent's.
            made = deps.store.amend(made.id, Amendment(goal=""))
        return made


def _whole(fork: Fork, window: Window, end: EndReason | None, title: str) -> _Wanted:
    """Return a fork that shows everything, also what is said until it is made."""
    return _Wanted(fork=fork, shows=window.entries, head=window.head, end=end, title=title)


def before_turns(window: Window, turns: int) -> tuple[Entry, ...]:
    """Return what is left of the window without its last turns.

    A turn begins with what a user said. What a summary stands for is no longer in the window and
    is not rewound; undoing the compaction brings it back.
    """
    starts = [index for index, entry in enumerate(window.entries) if is_user_word(entry.message)]
    if not starts or turns < 1:
        return window.entries
    kept = starts[-turns] if turns <= len(starts) else starts[0]
    # The summary stays, and with it the turn whose message it shares.
    summaries = (index for index, entry in enumerate(window.entries) if entry.message.summary)
    return window.entries[: max([kept, *(index + 1 for index in summaries)])]


def up_to(entries: tuple[Entry, ...], message_id: int) -> tuple[Entry, ...]:
    """Return the entries up to a message, cut where no call is parted from its result.

    Raises:
        UnknownSession: when the message is not among them.
    """
    at = next((index for index, entry in enumerate(entries) if entry.id == message_id), None)
    if at is None:
        raise UnknownSession(f"message {message_id} is not part of this conversation")
    transcript = tuple(entry.message for entry in entries)
    end = max((seam for seam in seams(transcript) if seam <= at + 1), default=0)
    return entries[:end]


def _shared_until(store: Store, id_: str, message_id: int) -> tuple[Entry, ...]:
    """Return what a branch at a message shows: the newest window that has the message.

    What was folded stands in an earlier window, of this session or of those it came from.

    Raises:
        UnknownSession: when no window ever had it.
    """
    for session in reversed(path_to(store.lineage(id_), id_)):
        views = [None, *(view.id for view in store.views(session.id))]
        for view in (store.head(session.id).view, *reversed(views)):
            entries = store.window_at(session.id, view).entries
            if any(entry.id == message_id for entry in entries):
                return up_to(entries, message_id)
    return up_to((), message_id)
