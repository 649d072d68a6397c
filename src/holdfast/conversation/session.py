"""The live session: talking, turning back, forking, and what a person may want to know of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from holdfast.compaction import SMALLEST_WINDOW, Request
from holdfast.conversation.compacting import Order
from holdfast.conversation.difference import difference
from holdfast.conversation.forking import Forking, forked
from holdfast.conversation.heading import PROMPT_KEY, bare_prompt, heading_of
from holdfast.conversation.incoming import spoken
from holdfast.conversation.pulse import flaws_of
from holdfast.conversation.status import Status
from holdfast.conversation.talk import Talk
from holdfast.conversation.turning import before_turns, shared_until, turned
from holdfast.errors import ConfigError, UnknownSession
from holdfast.ports import Amendment
from holdfast.session import (
    WINDOW_KEY,
    Cause,
    EndReason,
    Fork,
    Session,
    Usage,
    redo_target,
    undo_target,
)
from holdfast.transcript import Role

if TYPE_CHECKING:
    from holdfast.compaction import CompactionReport
    from holdfast.conversation.difference import Difference
    from holdfast.conversation.incoming import Content
    from holdfast.session import CompactionRecord, Entry, Window
    from holdfast.transcript import Message, Transcript

__all__ = ["LiveSession"]


class LiveSession(Talk):
    """A conversation that outlives the process, the window and every compaction."""

    @property
    def session(self) -> Session:
        """Return the session as the store has it now."""
        with self._lock:
            self._refreshed()
            return self._session

    @property
    def title(self) -> str:
        """Return the title; without one, it is made from the first exchange."""
        return self.session.title

    @title.setter
    def title(self, title: str) -> None:
        self._amend(Amendment(title=title))

    @property
    def goal(self) -> str:
        """Return the goal, which survives every compaction and fork and is shown to the model."""
        return self.session.goal

    @goal.setter
    def goal(self, goal: str) -> None:
        self._amend(Amendment(goal=goal))

    @property
    def usage(self) -> Usage:
        """Return what providers reported for this session, added up."""
        return self.session.usage

    @property
    def log(self) -> tuple[Entry, ...]:
        """Return everything that was said in this session, whatever the window shows."""
        with self._lock:
            return self.parts.store.since(self.id, 0)

    @property
    def compactions(self) -> tuple[CompactionRecord, ...]:
        """Return every pass over this session, oldest first."""
        return self.parts.store.compactions(self.id)

    def system(self, prompt: Content | Message) -> None:
        """Set the system prompt; the same prompt again changes nothing.

        The first one is said in the log. A later one is shown in its place, and stays when a
        compaction is undone.
        """
        (message,) = spoken(Role.SYSTEM, prompt)

        def set_prompt(window: Window) -> None:
            if not window.entries:
                self._append((message,))
                return
            shown = heading_of(self._session).prompt or bare_prompt(window.transcript)
            if shown != message.text.rstrip():
                self._amend(Amendment(metadata={PROMPT_KEY: message.text.rstrip()}))

        self._from_window(set_prompt)

    def status(self) -> Status:
        """Return how the conversation stands."""
        engine = self.parts.engine
        with self._lock:
            window = self._refreshed()
            session = self._session
            return Status(
                session=session.id,
                title=session.title,
                goal=session.goal,
                model=session.model,
                messages=len(window.entries),
                tokens=engine.measure(self._live.load),
                threshold=engine.policy.threshold_tokens,
                context_length=engine.policy.context_length,
                stored=session.size,
                compactions=self.parts.store.count_compactions(session.id),
                undone=self._is_undone(),
                compacting=self._background.is_running,
                usage=session.usage,
                troubles=self._troubles(window.head.view),
                pressure=self._pulse.pressure,
            )

    def undo(self) -> bool:
        """Take the newest compaction or rewind back; says whether there was one.

        The window is what it was before, byte for byte, followed by what was said since.
        """

        def back(window: Window) -> bool:
            undone = undo_target(self.parts.store.views(self.id), window.head.view)
            if undone is not None:
                self.parts.store.move(self.id, undone.parent, window.head.generation)
            return undone is not None

        return self._from_window(back)

    def redo(self) -> bool:
        """Bring back what an undo took away; says whether there was anything."""

        def again(window: Window) -> bool:
            store = self.parts.store
            target = redo_target(store.views(self.id), window.head.view, store.tip(self.id))
            if target is not None:
                store.move(self.id, target, window.head.generation)
            return target is not None

        return self._from_window(again)

    def rewind(self, turns: int = 1) -> Transcript:
        """Take the last turns out of the window, and return them; `undo` brings them back."""

        def without_turns(window: Window) -> Transcript:
            kept = before_turns(window, turns)
            removed = window.entries[len(kept) :]
            if removed:
                at = self.parts.clock.moment()
                self.parts.store.change(self.id, turned(window, kept, Cause.REWIND, at))
            return tuple(entry.message for entry in removed)

        return self._from_window(without_turns)

    def diff(self, number: int = -1) -> Difference:
        """Return what a compaction did; the newest unless another number is given.

        Raises:
            UnknownSession: when there was no such compaction.
        """
        passes = self.compactions
        try:
            record = passes[number]
        except IndexError:
            had = f"it has had {len(passes)}"
            raise UnknownSession(f"session {self.id} has no such compaction; {had}") from None
        store, redact = self.parts.store, self.parts.redact
        return difference(store, record, redact)

    def pin(self, message_id: int) -> None:
        """Let compactions keep a message word for word, within their budget for pins."""
        self.parts.store.pin(self.id, message_id, pinned=True)

    def unpin(self, message_id: int) -> None:
        """Let compactions fold a message again."""
        self.parts.store.pin(self.id, message_id, pinned=False)

    def branch(self, at: int | None = None, *, title: str = "", keep_parent: bool = False) -> Self:
        """Go another way from here, or from an earlier message, in a session of its own.

        The branch shares what was said by reference. This session ends, unless it is kept.

        Args:
            at: The id of the last message that the branch shares; all by default.
            title: The branch's title; by default the next in the lineage.
            keep_parent: Whether this session may go on too.
        """
        end = None if keep_parent else EndReason.BRANCHED

        def fork(window: Window) -> Self:
            if at is not None:
                shows = shared_until(self.parts.store, self.id, at)
                return self._fork(Forking(fork=Fork.BRANCH, shows=shows, end=end, title=title))
            return self._fork(_whole(Fork.BRANCH, window, end, title))

        return self._from_window(fork)

    def new(self, *, keep_goal: bool = True) -> Self:
        """Begin anew with an empty window; this session ends and stays in the store."""
        wanted = Forking(fork=Fork.RESET, end=EndReason.RESET, keep_goal=keep_goal)
        return self._from_window(lambda _: self._fork(wanted))

    def delegate(self, task: Content, *, title: str = "") -> Self:
        """Return a session for a sub-agent with its task; this one goes on."""
        wanted = Forking(fork=Fork.DELEGATION, title=title)
        child = self._from_window(lambda _: self._fork(wanted))
        child.user(task)
        return child

    def review(self, *, title: str = "") -> Self:
        """Return a session that sees a copy of this window; this one goes on."""
        return self._from_window(
            lambda window: self._fork(_whole(Fork.REVIEW, window, None, title))
        )

    def end(self, reason: EndReason = EndReason.CLOSED) -> None:
        """End the session; opening it again takes that back."""
        self._background.wait()
        with self._lock:
            moment = self.parts.clock.moment()
            self._session = self.parts.store.end(self.id, reason, moment)

    def switch_model(self, model: str, context_length: int) -> CompactionReport | None:
        """Go on with another model.

        A window that the new model could not take is compacted first, while the old model is
        there to write the summary; the report of that is returned.

        Raises:
            ConfigError: when even then it does not fit; the old model stays.
        """
        engine = self.parts.engine
        aim = replace(
            engine.policy, context_length=max(context_length, SMALLEST_WINDOW), reserve=None
        )
        with self._lock:
            self._refreshed()
            expected = engine.measure(self._live.load)
        report = None
        if expected >= aim.threshold_tokens:
            report = self._compact(Order("model_switch", Request(force=True, policy=aim))).report
            if report.tokens_after > aim.limit_tokens:
                raise ConfigError(
                    f"the conversation does not fit {model}: {report.tokens_after:,} tokens are "
                    f"left, and it takes {aim.limit_tokens:,}; {report.reason}".rstrip("; ")
                )
        engine.update_model(context_length, model=model)
        self.parts = replace(self.parts, options=replace(self.parts.options, model=model))
        self._amend(Amendment(model=model, metadata={WINDOW_KEY: context_length}))
        return report

    def _troubles(self, view: int | None) -> tuple[str, ...]:
        """Return what went wrong and no pass has put right since."""
        if (self.id, view) != (self._pulse.flaws.session, self._pulse.flaws.view):
            flaws = flaws_of(self.parts.store, self.id, view)
            self._pulse = replace(self._pulse, flaws=flaws)
        engine = self.parts.engine.trouble
        said = dict.fromkeys((*self._pulse.trouble, *self._pulse.flaws.warnings))
        # A plug-in that was set aside stays so, and the pass that noticed has said it too.
        return (*(each for each in said if each not in engine), *((engine,) if engine else ()))

    def _amend(self, amendment: Amendment) -> None:
        with self._lock:
            self._session = self.parts.store.amend(self.id, amendment)

    def _fork(self, wanted: Forking) -> Self:
        made = forked(self.parts, self._session, wanted)
        return type(self)(self.parts.for_fork(), made)


def _whole(fork: Fork, window: Window, end: EndReason | None, title: str) -> Forking:
    """Return a fork that shows everything, also what is said until it is made."""
    return Forking(fork=fork, shows=window.entries, head=window.head, end=end, title=title)
