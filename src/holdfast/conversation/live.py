"""The session that a conversation is in now: its row, its window, a lock, and who points at it.

Three pointers say which session is current: a context variable, an environment variable, and the
context that log records are stamped with. A switch moves those that point at the old session, and
moves them back if it fails.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from holdfast.conversation.dependencies import Switch
from holdfast.conversation.window import LiveWindow
from holdfast.errors import Conflict, HoldfastError, SessionEnded
from holdfast.keywords import names_checked
from holdfast.session import EndReason, Fork, latest_leaf
from holdfast.tokens import Load

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.conversation.dependencies import Dependencies, Listener
    from holdfast.ports import Amendment
    from holdfast.session import Entry, Session, SessionState, Spawn, Window
    from holdfast.wire import Body

SESSION_VARIABLE = "HOLDFAST_SESSION_ID"
"""The environment variable that tells child processes which session they work for."""

_CURRENT: ContextVar[str | None] = ContextVar("holdfast_session", default=None)
_MOVED: dict[str, str] = {}
"""Where sessions went on: a switch on one thread must reach the contexts of all others."""


@names_checked
class SessionStamp(logging.Filter):
    """A filter for log handlers: gives every record the id of the current session.

    Format it with `%(holdfast_session)s`; the value is `-` while there is none.
    """

    session: str | None = None
    """What records are stamped with, for all threads of the process."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Stamp the record, and let it pass."""
        record.holdfast_session = _latest(_CURRENT.get() or SessionStamp.session) or "-"
        return True


@names_checked
def current_session() -> str | None:
    """Return the id of the session that this code works for.

    The context is asked first, then the process, then the environment that it was started with.
    """
    known = _CURRENT.get() or SessionStamp.session or os.environ.get(SESSION_VARIABLE)
    return _latest(known) or None


def activate(id_: str) -> None:
    """Make a session the current one, for this context, for child processes and for logs."""
    _CURRENT.set(id_)
    os.environ[SESSION_VARIABLE] = id_
    SessionStamp.session = id_


def follow(switch: Switch) -> None:
    """Move every pointer that points at the old session to the new one."""
    if switch.reason == "rollback":
        _MOVED.pop(switch.new, None)
    else:
        _MOVED[switch.old] = switch.new
    if _CURRENT.get() == switch.old:
        _CURRENT.set(switch.new)
    if os.environ.get(SESSION_VARIABLE) == switch.old:
        os.environ[SESSION_VARIABLE] = switch.new
    if SessionStamp.session == switch.old:
        SessionStamp.session = switch.new


def _latest(id_: str | None) -> str | None:
    while id_ in _MOVED:
        id_ = _MOVED[id_]
    return id_


_log = logging.getLogger(__name__)
Result = TypeVar("Result")
_RETRIES = 200
"""How often others may come first before a caller is told."""
_LONGEST_BACKOFF = 0.05
"""Seconds between two such tries."""


class LiveSession:
    """Keeps a session in memory and follows it when it goes on under another id.

    Methods may be called from several threads. The lock guards what is in memory and is never
    held while a summary is written, so that nobody has to wait for a model to say something.
    """

    def __init__(self, deps: Dependencies, session: Session) -> None:
        """Hold the session, and let the engine hear of it; nothing is read yet."""
        self.deps = deps
        self.session: Session = session
        self.state: SessionState | None = None
        """What was read last, the window aside."""
        self.lock = threading.RLock()
        self._beside = Load(deps.engine.policy.overhead)
        self._window = LiveWindow(deps.store, deps.engine, session.id)
        self._is_over = False
        if session.fork in (None, Fork.RESET) and not session.size:
            # The user begins anew, and an engine may have served another conversation.
            deps.engine.reset()
        self._tell_engine(session)

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self.session.id

    @property
    def window(self) -> Window:
        """Return the window as it was read last."""
        return self._window.window

    @property
    def kept_tokens(self) -> int:
        """Return what the messages that are in memory weighed when they were stored."""
        return self._window.tokens

    @property
    def load(self) -> Load:
        """Return what the window, as it was read last, and what goes with it ask of a provider."""
        return self._window.load + self.beside

    @property
    def beside(self) -> Load:
        """Return what goes out with every request beside the window, such as a client's tools."""
        return self._beside

    @beside.setter
    def beside(self, load: Load) -> None:
        if load != self._beside:
            self._beside = load
            self.deps.engine.carry(load.tokens)

    def refresh(self) -> Window:
        """Return the window as the store has it now, in the session that goes on."""
        self.state = self._window.refresh()
        self.session = self.state.session
        if self.session.end_reason is EndReason.COMPRESSION and self.follow_rotation():
            self.state = self._window.refresh()
            self.session = self.state.session
        return self._window.window

    def body(self, dialect: str) -> Body:
        """Return the window, as it was read last, as a provider reads it."""
        return self._window.body(dialect)

    def shared_body(self, dialect: str) -> Body:
        """Return the same for a receiver that changes no message: they are the window's own."""
        return self._window.shared_body(dialect)

    def wrote(self, entries: tuple[Entry, ...]) -> None:
        """Take in messages that this process has just appended."""
        self._window.wrote(entries)

    def amend(self, amendment: Amendment) -> None:
        """Change what may change about the session."""
        with self.lock:
            self.session = self.deps.store.amend(self.id, amendment)

    def retry(self, step: Callable[[Window], Result]) -> Result:
        """Take a step from the window as it is; when another comes first, from what it left."""
        with self.lock:
            for tries in range(_RETRIES):
                try:
                    return step(self.refresh())
                except Conflict:
                    # Backoff with jitter, so that many who want the same get their turn.
                    time.sleep(random.uniform(0, min(0.002 * (tries + 1), _LONGEST_BACKOFF)))
                except SessionEnded:
                    if not self.follow_rotation():
                        raise
            return step(self.refresh())

    def follow_rotation(self) -> bool:
        """Go on where another process rotated to; says whether messages may be added there."""
        store = self.deps.store
        stored = store.session(self.id)
        if stored.end_reason is not EndReason.COMPRESSION:
            return False
        leaf = latest_leaf(store.lineage(self.id), self.id)
        if leaf.id != self.id:
            switch = Switch(self.id, leaf.id, Fork.COMPRESSION)
            self.adopt(leaf)
            self._point(switch)
            self._tell_listeners(switch)
        return leaf.is_live

    def tell_rewound(self, reason: str) -> None:
        """Tell listeners that an undo, a redo or a rewind changed the window of this session."""
        self._tell_listeners(Switch(self.id, self.id, reason, rewound=True))

    def adopt(self, session: Session) -> None:
        """Go on in another session, or with what is new about this one."""
        old = self.session.id
        self.session = session
        if session.id != old:
            self._window = LiveWindow(self.deps.store, self.deps.engine, session.id)
            self._tell_engine(session, boundary_reason="compression", old_session_id=old)

    def spawn(self, spawn: Spawn) -> Session:
        """Create a child that takes over, and let every pointer follow, all or nothing.

        A listener may veto: when one raises, no child is stored, and pointers and the listeners
        that had heard of it go back.

        Raises:
            HoldfastError: when a listener refuses the switch.
        """
        child, listeners = spawn.child, self.deps.listeners
        switch = Switch(child.parent or "", child.id, child.fork or "")
        told: list[Listener] = []

        def before_commit() -> None:
            try:
                self._point(switch)
                for listener in listeners:
                    told.append(listener)
                    listener(switch)
            except HoldfastError:
                raise
            except Exception as error:
                raise HoldfastError(
                    f"session {switch.old} stays the current one, since the switch to "
                    f"{switch.new} was refused: {type(error).__name__}: {error}"
                ) from error

        try:
            return self.deps.store.spawn(spawn, before_commit)
        except BaseException:
            back = Switch(switch.new, switch.old, "rollback")
            self._point(back)
            for listener in reversed(told):
                _tell(listener, back)
            raise

    def end_engine(self) -> None:
        """Let the engine close what it has open, once."""
        if self._is_over:
            return
        self._is_over = True
        try:
            with self.lock:
                self.refresh()
                messages = self.body("openai").messages
        except HoldfastError:
            messages = []
        self.deps.engine.end(self.id, messages)

    def _point(self, switch: Switch) -> None:
        if self.deps.options.active:
            follow(switch)

    def _tell_listeners(self, switch: Switch) -> None:
        """Tell listeners of something that they cannot prevent any more."""
        for listener in self.deps.listeners:
            _tell(listener, switch)

    def _tell_engine(self, session: Session, **details: object) -> None:
        self.deps.engine.begin(
            session.id,
            model=self.deps.options.model or session.model,
            context_length=self.deps.engine.policy.context_length,
            platform=session.source,
            goal=session.goal,
            **details,
        )


def _tell(listener: Listener, switch: Switch) -> None:
    """Tell a listener of something that it cannot prevent any more."""
    try:
        listener(switch)
    except Exception:  # noqa: BLE001 - a listener's failure must not undo what has happened
        _log.warning("a listener did not follow to session %s", switch.new, exc_info=True)
