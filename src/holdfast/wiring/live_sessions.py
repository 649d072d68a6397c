"""Stored sessions as the settings want them handled: the configured engine around one of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from holdfast.adapters.system_clock import SystemClock
from holdfast.conversation import LiveSession, Options, Parts, Strategy
from holdfast.redaction import Redactor
from holdfast.wiring.configured import engine_of

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.engines import Engine
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["live_session_of"]


def live_session_of(settings: Settings, store: Store, session: Session) -> LiveSession:
    """Return a stored session to work on; nothing is read or written before it is asked to.

    The session does not become the current one, and one that ended stays ended.
    """

    def engine() -> Engine:
        return engine_of(settings)

    options = Options(
        source=session.source,
        model=settings.model.name or session.model,
        agent="cli",
        strategy=Strategy(settings.compression.strategy),
        automatic=settings.compression.enabled,
    )
    parts = Parts(
        store=store,
        engine=engine(),
        another_engine=engine,
        clock=SystemClock(),
        nonce=lambda: secrets.randbits(48),
        redact=Redactor(settings.redaction.extra_patterns).redact,
        options=options,
    )
    return LiveSession(parts, session)
