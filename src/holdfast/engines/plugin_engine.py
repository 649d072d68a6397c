"""A plug-in behind the conversation's port: asked for everything, believed only after a check.

A plug-in that raises, hangs or hands back messages that cannot be used is set aside for the rest
of the session: that is said once in the log, once in a report, and in the status for good. The
default engine does the work of that very pass, and of all that follow: no turn fails for a
plug-in's sake.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.compaction import CompactionReport, Folded, Progress, Pruned, Request, advice
from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.contract import ContextEngine
from holdfast.engines.engine import PassLog, acompact_now, compact_now
from holdfast.engines.plugin_messages import PassRefused, plugin_pass, shown_to_plugin
from holdfast.engines.plugin_thread import Busy, answer_of, call_offered, plain_json, tools_of
from holdfast.ports import Blocking

if TYPE_CHECKING:
    from holdfast.compaction import LiveState, Outcome, Policy
    from holdfast.engines.contract import Wire
    from holdfast.engines.engine import Engine
    from holdfast.engines.plugin_thread import PluginThread, Tools
    from holdfast.ports import EnginePass
    from holdfast.summary import Answer, Ask
    from holdfast.tokens import Load
    from holdfast.transcript import Message, Transcript
    from holdfast.wire.tool_specs import ToolSpec

_log = logging.getLogger(__name__)
_QUICK = 5.0
"""Seconds that a question may take that needs no model."""


class PluginSlot:
    """Holds a plug-in for one session, as long as it behaves."""

    def __init__(self, plugin: PluginThread, redact: Callable[[str], str]) -> None:
        """Hold the plug-in; nothing of it is called yet."""
        self._plugin = plugin
        self._redact = redact
        self._trouble = ""
        self._warnings: tuple[str, ...] = ()
        self._is_told = False
        self._changing = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name of the engine that was chosen."""
        return self._plugin.name

    @property
    def trouble(self) -> str:
        """Return why the plug-in, or a tool of it, is set aside; "" while all of it works."""
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

        ending = self._plugin.ask(answer, patience=self._plugin.deadline)
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
        """Return what a quick call came to; None if it failed, or another is under way."""
        if self.is_aside:
            return None
        seconds = min(_QUICK, self._plugin.deadline)
        match self._plugin.ask(call, seconds=seconds, patience=min(patience, seconds)):
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


class PluginEngine(PluginSlot):
    """A contract engine as a conversation knows engines, with the default engine behind it."""

    def __init__(
        self,
        default: Engine,
        plugin: PluginThread,
        *,
        model: str = "",
        redact: Callable[[str], str] = str,
    ) -> None:
        """Let the plug-in arrive; if it cannot, the default engine stands alone.

        Args:
            default: Measures and learns for both, and takes over.
            plugin: The plug-in.
            model: The conversation's model.
            redact: Masks what a plug-in's errors may quote.
        """
        super().__init__(plugin, redact)
        self._default = default
        self._own = default.policy
        self._model = model
        self._progress = Progress()
        self._journal = PassLog()
        match plugin.arrive():
            case Raised(reason=reason) | Hung(reason=reason):
                self._set_aside(f"could not be loaded: {reason}")
            case _:
                self.update_model(default.policy.context_length, model=model)

    @property
    def policy(self) -> Policy:
        """Return the knobs, with the plug-in's threshold while it works."""
        return self._default.policy

    @property
    def host(self) -> LiveState:
        """Return what the host knows of the live state; the record of the default engine has it."""
        return self._default.host

    @host.setter
    def host(self, state: LiveState) -> None:
        self._default.host = state

    @property
    def summarizer(self) -> str:
        """Return who writes the records of the default engine."""
        return self._default.summarizer

    @property
    def expected_tokens(self) -> int:
        """Return the size of the newest request that was measured."""
        return self._default.expected_tokens

    def compaction(self, transcript: Transcript, request: Request = Request()) -> EnginePass:  # noqa: B008 - a frozen value
        """Begin a pass by the plug-in, or by the default engine where that fails."""
        started = perf_counter()
        outcome = None
        if not self.is_aside:
            outcome = cast(
                "Outcome | None", (yield Blocking(lambda: self._by_plugin(transcript, request)))
            )
        if outcome is None:
            report = yield from self._default.compaction(transcript, request)
        elif self._falls_short(outcome, request):
            report = yield from self._finished(outcome, request)
        else:
            with self._changing:
                progress = Progress() if request.is_manual else self._progress.after(outcome)
                self._progress = progress
            # Said where passes no longer gain anything.
            notes = (advice(progress.blocked),) if progress.blocked else ()
            report = CompactionReport(outcome, notes=notes)
            self._journal.note(report)
        with self._changing:
            # The first report that can says why the plug-in was set aside.
            news = () if self._is_told or not self._trouble else (self._trouble,)
            self._is_told = self._is_told or bool(news)
        elapsed = (perf_counter() - started) * 1000
        return replace(report, duration_ms=elapsed, notes=(*report.notes, *news))

    def answer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what the default engine's summarizer writes, waiting for it."""
        return self._default.answer(ask, manual=manual)

    async def aanswer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what the default engine's summarizer writes, without blocking the event loop."""
        return await self._default.aanswer(ask, manual=manual)

    def compact(self, transcript: Transcript, request: Request = Request()) -> CompactionReport:  # noqa: B008 - a frozen value
        """Compact a transcript, waiting for the plug-in or the default engine's summarizer."""
        return compact_now(self, transcript, request)

    async def acompact(
        self,
        transcript: Transcript,
        request: Request = Request(),  # noqa: B008 - a frozen value
    ) -> CompactionReport:
        """Compact a transcript without blocking the event loop."""
        return await acompact_now(self, transcript, request)

    def load(self, messages: Iterable[Message]) -> Load:
        """Return what the messages ask of a provider, by estimate."""
        return self._default.load(messages)

    def forget_weights(self) -> None:
        """Let go of messages that were weighed: others are shown from now on."""
        self._default.forget_weights()

    def measure(self, load: Load, *, prompt_tokens: int | None = None) -> int:
        """Take note of the request that would be sent now, and return its expected size."""
        tokens = self._default.measure(load, prompt_tokens=prompt_tokens)
        with self._changing:
            self._progress = self._progress.at(tokens)
        return tokens

    def carry(self, tokens: int) -> None:
        """Hear what goes out with every request beside its messages."""
        self._default.carry(tokens)

    def is_due(self, load: Load, *, prompt_tokens: int | None = None) -> bool:
        """Ask the plug-in; what could not be sent as it is, is due whatever it says."""
        if not self.is_aside:
            tokens, policy = self.measure(load, prompt_tokens=prompt_tokens), self.policy
            allowed = replace(policy.budget, tokens=policy.limit_tokens)
            if allowed.exceeded(replace(load, tokens=tokens)):
                return True
            if self._progress.blocked:
                return False
            ending = self._asked(
                lambda engine: (bool(engine.should_compress(tokens)), _limit(engine))
            )
            if ending is not None:
                says_so, threshold = cast("tuple[bool, float]", ending.value)
                self._adopt(threshold)
                return says_so
        # It is set aside, or compacts in the background at this moment.
        return self._default.is_due(load, prompt_tokens=prompt_tokens)

    def is_preflight_due(self, transcript: Callable[[], Transcript]) -> bool:
        """Ask a plug-in that looks at the messages themselves before a turn's first request."""
        if self.is_aside or self._progress.blocked:
            return False

        def ask(engine: ContextEngine) -> bool:
            method = "should_compress_preflight"
            if getattr(type(engine), method, None) is ContextEngine.should_compress_preflight:
                return False
            messages = deepcopy(shown_to_plugin(transcript()).messages)
            return bool(call_offered(engine, method, messages, details={}))

        ending = self._asked(ask)
        return ending is not None and bool(ending.value)

    def is_hygiene_due(
        self, load: Load, messages: int, *, prompt_tokens: int | None = None
    ) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it."""
        return self._default.is_hygiene_due(load, messages, prompt_tokens=prompt_tokens)

    def recovery(self, load: Load, error: str, attempt: int = 1) -> Policy:
        """Return what to aim for after a refusal; a window that it states is taught to both."""
        before = self.policy.context_length
        aim = self._default.recovery(load, error, attempt)
        if self.policy.context_length != before:
            self._teach_window()
        return aim

    def update_from_response(
        self, prompt_tokens: int, *, rough: int | None = None, completion_tokens: int = 0
    ) -> str | None:
        """Learn from reported usage, and let the plug-in learn too."""
        usage = {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }
        self._asked(lambda engine: engine.update_from_response(usage))
        return self._default.update_from_response(
            prompt_tokens, rough=rough, completion_tokens=completion_tokens
        )

    def update_model(self, context_length: int, *, model: str = "") -> None:
        """Recompute every budget for a model with another window."""
        self._model = model or self._model
        self._default.policy = self._own_policy()
        self._default.update_model(context_length, model=model)
        self._teach_window()

    def _by_plugin(self, transcript: Transcript, request: Request) -> Outcome | None:
        """Return what the plug-in made of a transcript; None if it had to be set aside."""
        outcome = plugin_pass(
            self._plugin, transcript, request, lambda messages: self.load(messages).tokens
        )
        if isinstance(outcome, PassRefused):
            self._set_aside(f"was set aside for this session: {outcome.reason}")
            return None
        return outcome

    def _falls_short(self, outcome: Outcome, request: Request) -> bool:
        """Say whether a pass had an aim that a plug-in cannot be told, and missed it."""
        aim = request.policy
        if aim is None:
            return False
        budget = replace(aim.budget, tokens=aim.fit or aim.room_tokens)
        return bool(budget.exceeded(self.load(outcome.transcript)))

    def _finished(self, begun: Outcome, request: Request) -> EnginePass:
        """Let the default engine reach what the plug-in did not."""
        report = yield from self._default.compaction(begun.transcript, request)
        if not isinstance(report.result, Folded | Pruned):
            return CompactionReport(begun) if isinstance(begun, Folded | Pruned) else report
        before = begun.report
        figures = replace(
            report.figures,
            tokens_before=before.tokens_before,
            messages_before=before.messages_before,
        )
        return replace(report, result=replace(report.result, report=figures))

    def _teach_window(self) -> None:
        window = self.policy.context_length
        self._told("update_model", self._model, window)
        ending = self._asked(_limit)
        if ending is not None:
            self._adopt(cast("float", ending.value))

    def _adopt(self, threshold: float) -> None:
        """Let the threshold of the plug-in be that of the status, the warning and the host."""
        policy = self._own_policy()
        if 0 < threshold <= policy.context_length:
            share = min((threshold + 0.5) / policy.context_length, 1.0)
            self._default.policy = replace(policy, threshold=share, threshold_floor=0)

    def _own_policy(self) -> Policy:
        """Return the knobs with the threshold that the default engine has of its own."""
        own = self._own
        return replace(self.policy, threshold=own.threshold, threshold_floor=own.threshold_floor)

    def _set_aside(self, why: str) -> None:
        super()._set_aside(why)
        self._default.policy = self._own_policy()


def _limit(engine: ContextEngine) -> float:
    """Return where the engine's threshold is, as a number of ours; 0.0 if it has none."""
    threshold: object = getattr(engine, "threshold_tokens", 0)
    return float(threshold) if isinstance(threshold, int | float) else 0.0
