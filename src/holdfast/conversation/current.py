"""Which session is the current one: for code in the same context, for child processes, for logs.

Three pointers say so: a context variable, an environment variable, and the context that log
records are stamped with. A switch moves those that point at the old session, and moves them back
if it fails.
"""

from __future__ import annotations

import logging
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING

from holdfast.keywords import names_checked

if TYPE_CHECKING:
    from holdfast.conversation.dependencies import Switch

__all__ = ["SESSION_VARIABLE", "SessionStamp", "activate", "current_session", "follow"]

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
