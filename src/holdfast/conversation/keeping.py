"""Keeping a window within its limits: when a compaction is due, and who waits for it."""

from __future__ import annotations

import logging
import random
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from holdfast.compaction import Request
from holdfast.conversation.background import Background
from holdfast.conversation.compacting import Order, Pass, commit, compact, tell
from holdfast.conversation.current import follow
from holdfast.conversation.heading import heading_of
from holdfast.conversation.holding import Taken, holding
from holdfast.conversation.parts import Switch
from holdfast.conversation.pulse import Pulse
from holdfast.conversation.window import LiveWindow
from holdfast.errors import Conflict, HoldfastError, SessionEnded
from holdfast.session import EndReason, Fork, latest_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction import CompactionReport
    from holdfast.conversation.parts import Parts
    from holdfast.session import Change, Session, Window

__all__ = ["Keeping"]

_log = logging.getLogger(__name__)
_MANUAL = "manual"
"""The trigger of a pass that somebody asked for."""
_T = TypeVar("_T")
_TRIES = 200
"""How often others may come first before a caller is told."""
_LONGEST_PAUSE = 0.05
"""Seconds between two such tries."""
_LOOK_EVERY = 0.25
"""Seconds between two looks at a session that somebody else compacts."""


class Keeping:
    """A session whose window is kept within its limits.

    Methods may be called from several threads. The lock guards what is in memory and is never
    held while a compaction is computed, so that nobody has to wait for a model to say something.
    """

    def __init__(self, parts: Parts, session: Session) -> None:
        """Hold the parts; nothing is read before it is asked for."""
        self.parts = parts
        self._session: Session = session
        self._live = LiveWindow(parts.store, parts.engine, session.id)
        self._lock = threading.RLock()
        self._passing = threading.RLock()
        self._background = Background(self._troubled)
        self._pulse = Pulse()

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self._session.id

    @property
    def recall(self) -> tuple[str, ...]:
        """Return the names of the tools by which the model can find again what is folded."""
        return self.parts.options.recall

    @recall.setter
    def recall(self, names: tuple[str, ...]) -> None:
        self.parts = replace(self.parts, options=replace(self.parts.options, recall=names))

    def compress(self, focus: str | None = None) -> CompactionReport:
        """Compact now, whatever the size; `focus` names what deserves most of the record."""
        return self._compact(Order(_MANUAL, Request(focus=focus or "", force=True))).report

    def recover(self, error: object, *, attempt: int = 1) -> CompactionReport:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        A true window that the error states is remembered for the model and its endpoint.
        """
        engine = self.parts.engine
        with self._lock:
            self._refreshed()
            before = engine.policy.context_length
            aim = engine.recovery(self._live.load, str(error), attempt)
        if engine.policy.context_length < before:
            self.parts.store.remember(self._window_name(), str(engine.policy.context_length))
        return self._compact(Order("recovery", Request(force=True, policy=aim))).report

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a compaction in the background; says whether none is left running."""
        return self._background.wait(timeout)

    def _from_window(self, step: Callable[[Window], _T]) -> _T:
        """Take a step from the window as it is; when another comes first, from what it left."""
        with self._lock:
            for tries in range(_TRIES):
                try:
                    return step(self._refreshed())
                except Conflict:
                    # Longer and longer, so that many who want the same get their turn.
                    time.sleep(random.uniform(0, min(0.002 * (tries + 1), _LONGEST_PAUSE)))
                except SessionEnded:
                    if not self._moved_on():
                        raise
            return step(self._refreshed())

    def _moved_on(self) -> bool:
        """Follow a rotation that another process made; says whether there was one."""
        stored = self.parts.store.session(self.id)
        if stored.end_reason is not EndReason.COMPRESSION:
            return False
        leaf = latest_leaf(self.parts.store.lineage(self.id), self.id)
        if leaf.id != self.id:
            switch = Switch(self.id, leaf.id, Fork.COMPRESSION)
            self._adopt(leaf)
            follow(switch)
            for listener in self.parts.listeners:
                tell(listener, switch)
        return leaf.is_live

    def _adopt(self, session: Session) -> None:
        if session.id != self._session.id:
            self._live = LiveWindow(self.parts.store, self.parts.engine, session.id)
        self._session = session

    def _refreshed(self) -> Window:
        self._session = self.parts.store.session(self._session.id)
        if self._session.end_reason is EndReason.COMPRESSION:
            self._moved_on()
        return self._live.refresh(heading_of(self._session))

    def _preflight(self) -> None:
        if not self._is_due():
            return
        options = self.parts.options
        if self._fits() and (options.ahead_of_time or self._background.is_running):
            self._begin_ahead()
            return
        if self._fits() and self._is_undone():
            return
        if self._background.is_running:
            self._background.wait()
            if not self._is_due():
                return
        real = self._pulse.prompt_tokens >= self.parts.engine.policy.threshold_tokens
        self._compact_if_possible(Order("in_loop" if real else "preflight"))

    def _is_due(self) -> bool:
        with self._lock:
            self._refreshed()
            due = self.parts.engine.is_due(self._live.load)
        return due and self.parts.options.automatic

    def _fits(self) -> bool:
        """Say whether the request would still be accepted as it is."""
        policy = self.parts.engine.policy
        with self._lock:
            load = self._live.load
        return (
            self.parts.engine.expected_tokens <= policy.limit_tokens
            and load.bytes <= policy.max_bytes
            and load.images <= policy.max_images
        )

    def _is_undone(self) -> bool:
        """Say whether the user took a compaction back: the next one waits until it must be."""
        return self._live.window.head.view != self.parts.store.tip(self.id)

    def _clean_up(self) -> None:
        options, engine = self.parts.options, self.parts.engine
        if not options.automatic or options.ahead_of_time or self._pulse.sent:
            # From the first window on, every window is looked at before it is handed out.
            return
        with self._lock:
            window = self._refreshed()
            due = engine.is_hygiene_due(self._live.load, len(window.entries))
            waits = self._is_undone() and self._fits()
        if due and not waits:
            self._compact(Order("hygiene"))

    def _begin_ahead(self) -> None:
        if not self._is_undone():
            self._background.start(lambda: self._compact(Order("ahead_of_time")))

    def _compact_if_possible(self, order: Order) -> None:
        """Compact on the turn's path; a failure stops the turn only if nothing could be sent."""
        try:
            done = self._compact(order)
            if done.holder and not self._fits():
                if self._outwaited():
                    self._compact(order)
                else:
                    # Whoever held the session has done what was to be done.
                    self._pulse = replace(self._pulse, trouble=())
            if not self._fits():
                # What the usual shares leave too large is fitted, as after a refusal.
                policy = self.parts.engine.policy
                aim = replace(policy, fit=policy.threshold_tokens)
                self._compact(replace(order, request=Request(force=True, policy=aim)))
        except HoldfastError as error:
            # The engine has seen a pass that was not stored: what is there is measured again.
            self._is_due()
            if not self._fits():
                raise
            self._warn(error)

    def _outwaited(self) -> bool:
        """Wait for whoever compacts the session; says whether it still has to be done."""
        for _ in range(int(self.parts.options.lease_seconds / _LOOK_EVERY)):
            time.sleep(_LOOK_EVERY)
            if not self._is_due() or self._fits():
                return False
            with holding(self.parts, self.id) as lease:
                if not isinstance(lease, Taken):
                    return True
        return True

    def _warn(self, error: HoldfastError) -> None:
        """Let the log and the status say what went wrong beside the turn."""
        _log.warning("session %s: %s", self.id, error)
        self._troubled(error)

    def _troubled(self, error: HoldfastError) -> None:
        with self._lock:
            self._pulse = replace(self._pulse, trouble=(str(error),))

    def _compact(self, order: Order) -> Pass:
        with self._passing:
            with self._lock:
                self._refreshed()
                self._live.pin(self.parts.store.pins(self.id))
                window, session = self._live.window, self._session

            def keep(change: Change) -> Session:
                # Whoever waits for the store holds the lock, so that a listener may ask the
                # conversation about itself, and nobody sees the old session end by itself.
                with self._lock:
                    kept = commit(self.parts, session, window, change)
                    self._adopt(kept)
                    return kept

            done = compact(self.parts, session, window, order, keep)
            with self._lock:
                self._refreshed()
                self.parts.engine.measure(self._live.load)
                # That another came first is nothing to be told of while the request fits.
                came_second = bool(done.holder) or done.is_overtaken
                if not (came_second and self._fits()):
                    by_hand = order.trigger == _MANUAL
                    self._pulse = self._pulse.after(done.report, by_hand=by_hand)
        return done

    def _window_name(self) -> str:
        options = self.parts.options
        return f"window:{options.endpoint}:{options.model}"
