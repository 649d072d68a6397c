"""The engine: drives the pure algorithm against summarizers, blocking or awaiting.

It is the only place where a compaction has effects. What outlives a call is small and named: what
real usage taught (calibration, preflight), whether passes still gain anything (progress) and
whether the user was warned (pressure).
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.compaction import (
    SMALLEST_WINDOW,
    Abandoned,
    CompactionReport,
    Flow,
    Folded,
    LiveState,
    Overhead,
    PassContext,
    Policy,
    Preflight,
    Pressure,
    Progress,
    Pruned,
    Report,
    Request,
    Unchanged,
    advice,
    compaction,
    due,
    hygiene_due,
)
from holdfast.compaction.repair import lost_pins
from holdfast.config.summary_key import process_sign
from holdfast.deadline import in_thread
from holdfast.keywords import names_checked
from holdfast.ports import Blocking, arun, run
from holdfast.redaction import Redactor
from holdfast.summary import Answer, Ask, Declined, Failure
from holdfast.tokens import Calibration, Counter, Estimator, Load, Scale, load_of, window_from_error
from holdfast.transcript import Transcript
from holdfast.transcript.toolkit import Toolkit
from holdfast.wire.provenance import recognized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.compaction import Outcome
    from holdfast.engines.summarizer_fallback import SummarizerFallback
    from holdfast.ports import Clock, EnginePass, WindowEngine
    from holdfast.transcript import Message
    from holdfast.wire.provenance import Sign
    from holdfast.wire.tool_specs import ToolSpec

_log = logging.getLogger(__name__)
_TIGHTER = 0.75
"""Each further recovery try aims for this share of the one before."""
_UNDER_REFUSED = 0.9
"""What was refused is made at least this much smaller."""
_SMALLER = 0.6
"""A body that was refused is made this much smaller at the first try."""
_TOO_LARGE = re.compile(
    r"\b413\b|(?:payload|entity|body|request)\b.{0,30}\btoo large", re.IGNORECASE
)
_NOBODY = Declined(Failure.UNCONFIGURED, "no summarizer is configured")


class Algorithm(Protocol):
    """A pass over a transcript, as a generator that asks for what it needs."""

    def __call__(self, transcript: Transcript, policy: Policy, context: PassContext) -> Flow:
        """Begin the pass."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDeps:
    """What an engine is built from; fixed for its life."""

    clock: Clock
    fallback: SummarizerFallback | None = None
    """Who writes summaries; None for the deterministic record."""
    counter: Counter = field(default_factory=Estimator)
    redactor: Redactor = field(default_factory=Redactor)
    toolkit: Toolkit = field(default_factory=Toolkit)
    on_ask: Callable[[Ask], None] | None = None
    """Told of each ask before it is answered; it says which of how many steps it is."""
    algorithm: Algorithm = compaction
    """What a pass does: the compaction with a record, or the truncation without one."""
    sign: Sign = process_sign
    """Makes the check of our summaries: with a key of this process alone, unless one is given."""


@dataclass(frozen=True, slots=True)
class EngineState:
    """What outlives a call."""

    calibration: Calibration = field(default_factory=Calibration)
    overhead: Overhead = field(default_factory=Overhead)
    preflight: Preflight = field(default_factory=Preflight)
    pressure: Pressure = field(default_factory=Pressure)
    progress: Progress = field(default_factory=Progress)
    rough: int = 0
    """The estimate of the newest request, which the next report of usage is compared with."""
    noted: int = 0
    """How many notes of the fallback are in a report already."""


class PassLog:
    """Remembers what the log has been told since the last pass that went well."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._told: frozenset[str] = frozenset()

    def note(self, report: CompactionReport) -> None:
        """Log what a user should be told of a pass, unless it was logged before."""
        given_up = (report.reason,) if isinstance(report.result, Abandoned) else ()
        said = tuple(dict.fromkeys((*given_up, *report.warnings)))
        fresh = [each for each in said if each not in self._told]
        if said:
            self._told |= frozenset(said)
        elif isinstance(report.result, Folded | Pruned):
            self._told = frozenset()
        for each in fresh:
            _log.warning("compaction %s: %s", report.outcome, each)


@names_checked
class Engine:
    """Compacts the transcripts of one conversation, and says when that is due."""

    def __init__(self, policy: Policy, setup: EngineDeps) -> None:
        """Hold the knobs and the parts; nothing is opened or read."""
        self.policy = policy
        self.host = LiveState()
        self._setup = setup
        self._state = EngineState()
        # What was weighed as it came in is not weighed again in a pass.
        self._scale = Scale(setup.counter)
        # A pass in the background and the usage of a turn may be learned from at once.
        self._learning = threading.Lock()
        self._journal = PassLog()
        self._beside = policy.overhead

    @property
    def trouble(self) -> str:
        """Return what the user should know for the rest of the session: that there is no room."""
        return self.policy.crowding

    @property
    def summarizer(self) -> str:
        """Return who writes records now: the models in the order they are asked, or nobody."""
        return ", then ".join(self._setup.fallback.names) if self._setup.fallback else ""

    @property
    def state(self) -> EngineState:
        """Return what the engine has learned so far."""
        return self._state

    def compaction(self, transcript: Transcript, request: Request = Request()) -> EnginePass:  # noqa: B008 - a frozen value
        """Begin a pass: yields what it asks of the summarizer, and returns the report."""
        started = self._setup.clock.now()
        cause = self._state.progress.blocked
        if cause and not request.is_manual:
            report = Report(messages_before=len(transcript), messages_after=len(transcript))
            outcome: Outcome = Unchanged(transcript, report, advice(cause))
        else:
            context, policy = self._means(transcript, request), request.policy or self.policy
            algorithm = self._setup.algorithm
            flow = algorithm(transcript, policy, context)
            outcome = yield from cast("Generator[Ask, object, Outcome]", flow)
        return self._concluded(outcome, request, started, transcript)

    def answer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what the summarizer writes, waiting for it."""
        self._announce(ask)
        fallback = self._setup.fallback
        return fallback.answer(ask, manual=manual) if fallback else _NOBODY

    async def aanswer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what the summarizer writes, without blocking the event loop."""
        self._announce(ask)
        fallback = self._setup.fallback
        return await fallback.aanswer(ask, manual=manual) if fallback else _NOBODY

    def compact(self, transcript: Transcript, request: Request = Request()) -> CompactionReport:  # noqa: B008 - a frozen value
        """Compact a transcript, waiting for the summarizer."""
        return compact_now(self, transcript, request)

    async def acompact(
        self,
        transcript: Transcript,
        request: Request = Request(),  # noqa: B008 - a frozen value
    ) -> CompactionReport:
        """Compact a transcript without blocking the event loop while a summary is written."""
        return await acompact_now(self, transcript, request)

    def begin(self, session_id: str, **details: object) -> None:
        """Hear that a conversation begins; an engine of our own has nothing to do then."""

    def end(self, session_id: str, messages: list[dict[str, object]]) -> None:
        """Hear that the conversation ends; an engine of our own holds nothing open."""

    def tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the engine gives the model: none."""
        del reserved
        return ()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        messages: list[dict[str, object]] | None = None,
    ) -> str:
        """Answer a call of a tool that the engine does not have."""
        del arguments, messages
        return json.dumps({"error": f"the engine has no tool {name!r}"})

    def recognized(self, transcript: Transcript) -> Transcript:
        """Return a transcript that comes from outside, with the summaries that we wrote as ours.

        Of a transcript from a store that is known: there a summary is what was stored as one.
        """
        return recognized(transcript, self._setup.sign)

    def load(self, messages: Iterable[Message]) -> Load:
        """Return what the messages ask of a provider, by estimate."""
        return load_of(messages, self._scale)

    def forget_weights(self) -> None:
        """Let go of messages that were weighed: others are shown from now on."""
        self._scale.keep_only(())

    def carry(self, tokens: int) -> None:
        """Hear what goes out with every request beside its messages; each load has it in it."""
        with self._learning:
            self._beside = tokens
            self._aim()

    def measure(self, load: Load, *, prompt_tokens: int | None = None) -> int:
        """Take note of the request that would be sent now, and return its expected size.

        Reported tokens decide, else what the provider proved of the request plus its growth.
        """
        with self._learning:
            if load.tokens != self._state.rough:
                self._state = replace(self._state, rough=load.tokens)
            tokens = self.expected_tokens if prompt_tokens is None else prompt_tokens
            if (progress := self._state.progress.at(tokens)) is not self._state.progress:
                self._state = replace(self._state, progress=progress)
        return tokens

    def is_due(self, load: Load, *, prompt_tokens: int | None = None) -> bool:
        """Say whether a request of this load is due for compaction."""
        tokens = self.measure(load, prompt_tokens=prompt_tokens)
        policy = self.policy
        # What no pass makes lighter is sent as it is, but for what the window cannot hold.
        is_over = policy.overhead < policy.limit_tokens and tokens > policy.context_length
        if self._state.progress.blocked and not (policy.overhead and is_over):
            return False
        return bool(due(Load(tokens, load.bytes, load.images), self.policy))

    def is_preflight_due(self, transcript: Callable[[], Transcript]) -> bool:
        """Say no: an engine of our own judges by the load, which is measured as it grows."""
        del transcript
        return False

    def is_hygiene_due(
        self, load: Load, messages: int, *, prompt_tokens: int | None = None
    ) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it.

        Reported tokens decide, with the estimate of what came since; without any, the estimate.
        """
        tokens = self.measure(load, prompt_tokens=prompt_tokens)
        if self._state.progress.blocked:
            return False
        return hygiene_due(Load(tokens, load.bytes, load.images), messages, self.policy)

    def has_content(self, transcript: Transcript) -> bool:
        """Say whether a pass that somebody asks for would change anything; nobody is asked."""
        context = self._means(transcript, Request(force=True))
        flow = self._setup.algorithm(transcript, self.policy, context)
        try:
            next(flow)
        except StopIteration as ended:
            return isinstance(ended.value, Folded | Pruned)
        # Between the boundaries there is something that a model would be asked to write up.
        flow.close()
        return True

    def recovery(self, load: Load, error: str, attempt: int = 1) -> Policy:
        """Return what to aim for after a provider refused a request, tighter with each attempt.

        An error that states the true window teaches it; the policy is adapted for good. An error
        that speaks of the request's body is about bytes: old media goes first.
        """
        window = window_from_error(error)
        if window is not None and window < self.policy.context_length:
            self.update_model(window)
        tighter = _TIGHTER ** max(attempt - 1, 0)
        if window is None and _TOO_LARGE.search(error):
            smaller = max(int(load.bytes * _SMALLER * tighter), 1)
            return replace(self.policy, max_bytes=smaller)
        # Whatever the window is said to be, this load was refused. The usual shares of a smaller
        # one leave room for the turns that follow; a fit fills what it is given.
        state, policy = self._state, self.policy
        weight = load.tokens * state.calibration.ratio + state.overhead.tokens
        room = min(policy.context_length, int(weight * _UNDER_REFUSED)) - policy.overhead
        return _resized(policy, policy.overhead + int(room * tighter))

    @property
    def expected_tokens(self) -> int:
        """Return the size of the newest request measured: its proven part plus the growth."""
        state = self._state
        rough = round(state.rough * state.calibration.ratio) + state.overhead.tokens
        return state.preflight.expected(rough)

    def update_from_response(
        self, prompt_tokens: int, *, rough: int | None = None, completion_tokens: int = 0
    ) -> str | None:
        """Learn from reported usage, and return the pressure warning when it is time for one.

        Args:
            prompt_tokens: What the provider says that the request weighed.
            rough: The estimate of that request; by default of the newest that was measured.
            completion_tokens: What the answer weighed, which says nothing about the request.
        """
        del completion_tokens
        with self._learning:
            state = self._state
            estimate = state.rough if rough is None else rough
            overhead = state.overhead.after(real=prompt_tokens, rough=estimate)
            # What was learned of messages while more or less was taken for overhead is wrong.
            is_new = overhead.tokens != state.overhead.tokens
            known = Calibration() if is_new else state.calibration
            said = max(prompt_tokens - overhead.tokens, 0)
            calibration = known.observe(real=said, rough=estimate)
            rough = round(estimate * calibration.ratio) + overhead.tokens
            tokens = prompt_tokens if prompt_tokens > 0 else rough
            pressure, warning = state.pressure.read(tokens, self.policy.threshold_tokens)
            self._state = replace(
                state,
                calibration=calibration,
                overhead=overhead,
                preflight=state.preflight.proved(real=prompt_tokens, rough=rough),
                pressure=pressure,
            )
            self._aim()
        return warning

    def _aim(self) -> None:
        """Let budgets count what goes out beside the messages, as told and as learned."""
        state = self._state
        overhead = round(self._beside * state.calibration.ratio) + state.overhead.tokens
        if overhead == self.policy.overhead:
            return
        before, self.policy = self.policy, replace(self.policy, overhead=overhead)
        if self.policy.crowding and not before.crowding:
            _log.warning("%s", self.policy.crowding)

    def update_model(self, context_length: int, *, model: str = "") -> None:
        """Recompute every budget for another window, and start counting afresh.

        The counter stays: what it is wrong by for a model that is named, the first report of usage
        teaches. Without a name it is the same model, and what was learned of that holds.
        """
        if model and self._setup.fallback:
            self._setup.fallback.switch_main(model)
        self.policy = _resized(self.policy, context_length)
        overhead = Overhead(self._state.overhead.tokens)
        calibration = Calibration() if model else self._state.calibration
        self.reset()
        self._state = EngineState(calibration, overhead)
        self._aim()

    def reset(self) -> None:
        """Forget what was learned from this conversation."""
        self._state = EngineState()
        self._journal = PassLog()
        self._aim()

    def _announce(self, ask: Ask) -> None:
        if self._setup.on_ask:
            self._setup.on_ask(ask)

    def _means(self, transcript: Transcript, request: Request) -> PassContext:
        setup = self._setup
        # A scale of its own: what a pass makes and drops is not kept.
        scale = self._scale.at(self._state.calibration.ratio)
        if request.current_tokens:
            rough = scale.at(1.0)
            size = rough.total(transcript)
            said = max(request.current_tokens - self.policy.overhead, 1)
            learned = Calibration().observe(real=said, rough=size)
            scale = rough.at(learned.ratio)
        # Nobody is asked once every model was given up.
        asks = setup.fallback if setup.fallback and setup.fallback.names else None
        window = (asks.window or self.policy.context_length) if asks else None
        return PassContext(
            scale=scale,
            redact=setup.redactor.redact,
            toolkit=setup.toolkit,
            today=setup.clock.today(),
            summarizer_window=window,
            host=self.host,
            request=request,
            sign=setup.sign,
        )

    def _concluded(
        self, outcome: Outcome, request: Request, started: float, transcript: Transcript
    ) -> CompactionReport:
        fallback = self._setup.fallback
        told = fallback.notes if fallback else ()
        with self._learning:
            progress = self._progress(outcome, request)
            # A model that was given up is news in one report; those that follow may be good ones.
            news = told[self._state.noted :]
            state = replace(self._state, progress=progress, noted=len(told))
            if outcome.report.saved > 0:
                # Usage that is reported from now on is compared with what came out.
                rough = round(outcome.report.tokens_after / state.calibration.ratio)
                overhead = Overhead(state.overhead.tokens)
                state = replace(
                    state, preflight=Preflight(), rough=rough + self._beside, overhead=overhead
                )
                self._scale.keep_only(outcome.transcript)
            self._state = state
        # A provider's own sentences may quote what they were sent.
        notes = tuple(map(self._setup.redactor.redact, news))
        scale = self._scale.at(state.calibration.ratio)
        notes = (*notes, *lost_pins(transcript, outcome.transcript, scale))
        if progress.blocked:
            notes = (*notes, advice(progress.blocked))
        elapsed = (self._setup.clock.now() - started) * 1000
        report = CompactionReport(outcome, elapsed, notes)
        self._journal.note(report)
        return report

    def _progress(self, outcome: Outcome, request: Request) -> Progress:
        """Return whether passes still gain anything.

        A failure says nothing about that, and neither does a pass that was not due.
        """
        if request.is_manual:
            # A fit that a heavy overhead leaves no other way than is nobody's wish.
            is_forced = request.policy is not None and self.policy.overhead > 0
            return self._state.progress if is_forced else Progress()
        was_due = outcome.report.tokens_before >= self.policy.room_tokens
        counts = isinstance(outcome, Folded | Pruned) or (
            isinstance(outcome, Unchanged) and was_due
        )
        if not counts:
            return self._state.progress
        scale = self._scale.at(self._state.calibration.ratio)
        return self._state.progress.after(outcome, scale, self.policy)


def _resized(policy: Policy, window: int) -> Policy:
    window = max(window, SMALLEST_WINDOW)
    fits = policy.reserve is None or policy.reserve < window // 2
    return replace(policy, context_length=window, reserve=policy.reserve if fits else None)


def compact_now(engine: WindowEngine, transcript: Transcript, request: Request) -> CompactionReport:
    """Make one pass of an engine, waiting for whatever it waits for."""

    def perform(want: Ask | Blocking) -> object:
        if isinstance(want, Blocking):
            return want.call()
        return engine.answer(want, manual=request.is_manual)

    return run(engine.compaction(transcript, request), perform)


async def acompact_now(
    engine: WindowEngine, transcript: Transcript, request: Request
) -> CompactionReport:
    """Make one pass of an engine; what it waits for does not block the event loop."""

    async def perform(want: Ask | Blocking) -> object:
        if isinstance(want, Blocking):
            return await in_thread(want.call, name="holdfast-pass")
        return await engine.aanswer(want, manual=request.is_manual)

    return await arun(engine.compaction(transcript, request), perform)
