"""A plug-in's place in a session: what it is asked beside compacting, and what its failure means.

Every call runs on the plug-in's own thread and ends in time. The first failure sets it aside for
the rest of the session: it is said once in the log, once in a report, and in the status for good.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.guest import Busy
from holdfast.engines.guest_tools import answer_of, call_offered, plain_json, tools_of

if TYPE_CHECKING:
    from holdfast.engines.contract import ContextEngine, Wire
    from holdfast.engines.guest import Guest
    from holdfast.engines.guest_tools import Tools
    from holdfast.wire.tool_specs import ToolSpec

__all__ = ["Seat"]

_log = logging.getLogger(__name__)
_QUICK = 5.0
"""Seconds that a question may take that needs no model."""


class Seat:
    """Holds a plug-in for one session, as long as it behaves."""

    def __init__(self, guest: Guest, redact: Callable[[str], str]) -> None:
        """Hold the plug-in; nothing of it is called yet."""
        self._guest = guest
        self._redact = redact
        self._trouble = ""
        self._warnings: tuple[str, ...] = ()
        self._is_told = False
        self._changing = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name of the engine that was chosen."""
        return self._guest.name

    @property
    def trouble(self) -> str:
        """Return why the plug-in, or a tool of it, is set aside; nothing while all of it works."""
        return " ".join(filter(None, (self._trouble, *self._warnings)))

    @property
    def is_aside(self) -> bool:
        """Say whether the plug-in is set aside for the rest of the session."""
        return bool(self._trouble)

    def begin(self, session_id: str, **details: object) -> None:
        """Tell the plug-in that its conversation begins, or goes on under another id."""
        self._told("on_session_start", session_id, details=details)

    def end(self, session_id: str, messages: Wire) -> None:
        """Tell the plug-in that its conversation ends."""
        self._told("on_session_end", session_id, messages)

    def reset(self) -> None:
        """Tell the plug-in that the user begins anew: nothing that it counted holds any more."""
        self._told("on_session_reset")

    def tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the plug-in gives the model; none once it is set aside.

        One that no provider would take is left out, with a warning in the log and in the status.

        Args:
            reserved: Names that other tools of the conversation have.
        """
        taken = frozenset(reserved)
        ending = self._asked(
            lambda engine: tools_of(call_offered(engine, "get_tool_schemas", details={}), taken),
            patience=_QUICK,
        )
        if ending is None:
            return ()
        tools = cast("Tools", ending.value)
        if tools.troubles:
            first, *others = tools.troubles
            rest = f"; so are {len(others)} more" if others else ""
            self._warn(f"A tool of the engine {self.name} is left out: {first}{rest}.")
        return tools.specs

    def call(self, name: str, arguments: Mapping[str, object], messages: Wire | None = None) -> str:
        """Answer a call of one of the tools with JSON; what goes wrong is an error in it.

        A tool that raises costs nobody the engine: a model's odd arguments may be the reason.
        """
        if self.is_aside:
            return json.dumps({"error": self._trouble})
        details: dict[str, object] = {"messages": messages or []}

        def answer(engine: ContextEngine) -> str:
            found = call_offered(engine, "handle_tool_call", name, dict(arguments), details=details)
            return answer_of(found)

        ending = self._guest.ask(answer, patience=self._guest.deadline)
        match ending:
            case Returned(value):
                return cast("str", value)
            case Raised(reason=reason):
                return json.dumps({"error": f"{name}: {self._redact(reason)}"})
            case Hung(reason=reason):
                self._set_aside(f"was set aside for this session: {name}: {reason}")
                return json.dumps({"error": self._trouble})
            case Busy():
                return json.dumps({"error": f"{name}: the engine is busy; try again"})
            case _:
                assert_never(ending)

    def describe(self) -> dict[str, object]:
        """Return what the plug-in says of itself, for people who look."""
        ending = self._asked(
            lambda engine: plain_json(call_offered(engine, "get_status", details={})),
            patience=_QUICK,
        )
        said = ending.value if ending is not None else None
        figures = cast("dict[str, object]", said) if isinstance(said, dict) else {}
        return {**figures, "engine": self.name, "trouble": self.trouble}

    def _told(
        self, method: str, *arguments: object, details: Mapping[str, object] | None = None
    ) -> Returned | None:
        return self._asked(
            lambda engine: call_offered(engine, method, *arguments, details=details or {}),
            patience=_QUICK,
        )

    def _asked(
        self, call: Callable[[ContextEngine], object], *, patience: float = 0.0
    ) -> Returned | None:
        """Return what a quick call came to; nothing if it failed, or another is under way."""
        if self.is_aside:
            return None
        seconds = min(_QUICK, self._guest.deadline)
        match self._guest.ask(call, seconds=seconds, patience=min(patience, seconds)):
            case Returned() as ending:
                return ending
            case Raised(reason=reason) | Hung(reason=reason):
                self._set_aside(f"was set aside for this session: {reason}")
            case Busy():
                pass
        return None

    def _set_aside(self, why: str) -> None:
        said = self._redact(f"The engine {self.name} {why}; the default engine compacts instead.")
        with self._changing:
            if self._trouble:
                return
            self._trouble = said
        _log.warning("%s", said)

    def _warn(self, said: str) -> None:
        """Say once what is left out while the plug-in goes on."""
        said = self._redact(said)
        with self._changing:
            if said in self._warnings:
                return
            self._warnings = (*self._warnings, said)
        _log.warning("%s", said)

    def _news(self) -> tuple[str, ...]:
        """Return why the plug-in was set aside, for the first report that can say so."""
        with self._changing:
            news = () if self._is_told or not self._trouble else (self._trouble,)
            self._is_told = self._is_told or bool(news)
        return news
