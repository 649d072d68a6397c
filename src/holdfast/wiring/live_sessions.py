"""Stored sessions as the settings want them handled: the configured engine around one of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from holdfast.conversation import Options, Parts, Strategy
from holdfast.redaction import Redactor
from holdfast.system.system_clock import SystemClock
from holdfast.wiring.configured import engine_of, truncating_of
from holdfast.wiring.engines import EngineFactory, engines_for
from holdfast.wiring.hosted_sessions import HostedSession

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.conversation import LiveSession
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["live_session_of"]


def live_session_of(settings: Settings, store: Store, session: Session) -> LiveSession:
    """Return a stored session to work on; nothing is read or written before it is asked to.

    The session does not become the current one, and one that ended stays ended.
    """
    redact = Redactor(settings.redaction.extra_patterns).redact
    hosting = EngineFactory(
        default=lambda: engine_of(settings),
        truncating=lambda: truncating_of(settings),
        model=settings.model.name or session.model,
        deadline=settings.auxiliary.compression.timeout,
        redact=redact,
    )
    engine = engines_for(settings.context.engine, hosting, must_exist=False)
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
        redact=redact,
        options=options,
    )
    return HostedSession(parts, session)
