"""A live session whose engine may be a plug-in, which hears of its beginning and its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.conversation import LiveSession
from holdfast.engines.plugin_engine import PluginEngine
from holdfast.errors import HoldfastError
from holdfast.session import EndReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.conversation import Parts
    from holdfast.engines.contract import Wire
    from holdfast.session import Session
    from holdfast.wire.tool_specs import ToolSpec

__all__ = ["HostedSession"]


class HostedSession(LiveSession):
    """Tells a plug-in what it has to know; an engine of our own needs none of it."""

    def __init__(self, parts: Parts, session: Session) -> None:
        """Hold the parts, and let a plug-in know that the session begins."""
        super().__init__(parts, session)
        self._plugin = parts.engine if isinstance(parts.engine, PluginEngine) else None
        self._is_over = False
        if self._plugin is not None and session.parent is None and not session.size:
            # The user begins anew, and an engine may have served another conversation.
            self._plugin.reset()
        self._tell_of(session)

    def engine_tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the engine gives the model; our own engines have none.

        Args:
            reserved: Names of the host's own tools: a tool of the engine that has one of them is
                left out, with a warning.
        """
        return self._plugin.tools(reserved) if self._plugin else ()

    def call_engine_tool(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of one of these tools with JSON; what goes wrong stands under `error`."""
        if self._plugin is None:
            return json.dumps({"error": f"the engine has no tool {name!r}"})
        return self._plugin.call(name, arguments, self._shown())

    def end(self, reason: EndReason = EndReason.CLOSED) -> None:
        """End the session; opening it again takes that back."""
        self._let_go()
        super().end(reason)

    def _adopt(self, session: Session) -> None:
        old = self.id
        super()._adopt(session)
        if session.id != old:
            self._tell_of(session, boundary_reason="compression", old_session_id=old)

    def _tell_of(self, session: Session, **details: object) -> None:
        if self._plugin is not None:
            self._plugin.begin(
                session.id,
                model=self.parts.options.model or session.model,
                context_length=self.parts.engine.policy.context_length,
                platform=session.source,
                goal=session.goal,
                **details,
            )

    def _let_go(self) -> None:
        """Let a plug-in close what it has open, once."""
        if self._plugin is not None and not self._is_over:
            self._is_over = True
            self._plugin.end(self.id, self._shown())

    def _shown(self) -> Wire:
        """Return the window as it is; nothing where the store cannot say."""
        try:
            with self._lock:
                self._refreshed()
                return self._live.body("openai").messages
        except HoldfastError:
            return []
