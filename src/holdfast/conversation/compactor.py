"""Keeps a window within its limits: when a compaction is due, who waits for it, how it went."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.compaction import Abandoned, Folded, Pruned, Request, Unchanged
from holdfast.compaction.flow import COVERED
from holdfast.compaction.triggers import WARN_AT
from holdfast.conversation.learned import remember_window
from holdfast.conversation.lease import Taken, hold_lease
from holdfast.conversation.passes import (
    CompactionTrigger,
    PassResult,
    abandoned,
    commit,
    compaction_pass,
)
from holdfast.conversation.waiting import Background, Join, Sleep, inside, is_inside
from holdfast.errors import ConfigError, HoldfastError
from holdfast.keywords import check_text
from holdfast.ports import Amendment
from holdfast.session import REPORTED_KEY, WINDOW_KEY
from holdfast.transcript import Role

if TYPE_CHECKING:
    from holdfast.compaction import CompactionReport
    from holdfast.conversation.live import LiveSession
    from holdfast.conversation.waiting import Steps
    from holdfast.ports import Store, WindowEngine
    from holdfast.session import Change, CompactionRecord, Session, Usage, Window

_log = logging.getLogger(__name__)
GIVEN_UP = "not compacted: "
"""Begins the sentence about a pass that left the window as it was although it was wanted."""
_MANUAL = "manual"
_POLL = 0.25
"""Seconds between two looks at a session that somebody else compacts."""


@dataclass(frozen=True, slots=True)
class Flaws:
    """What is to be said of the compaction whose result a window shows."""

    session: str = ""
    view: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LastRequest:
    """What was sent last, and what the newest passes and answers left to be told."""

    prompt_tokens: int = 0
    sent: int = 0
    """The estimate of the window that was handed out last, which an answer belongs to."""
    pressure: str = ""
    """The warning on the way to the threshold, until usage falls or a pass was made."""
    trouble: tuple[str, ...] = ()
    """Why the newest pass was given up, or what failed beside the turn, until one goes well."""
    is_unwritten: bool = False
    """Whether that was for want of a summary: until one is written, no pruning puts it right."""
    flaws: Flaws = field(default_factory=Flaws)

    def after(self, report: CompactionReport, *, by_hand: bool) -> LastRequest:
        """Return what is left to be told after a pass.

        A pass that changed the window has put right what went wrong before it, but for a summary
        that is still not written; what is to be said of its own result is stored with it.
        One that found nothing to do has put nothing right, but for whoever asked for it and was
        told so.
        """
        match report.result:
            case Pruned() if self.is_unwritten:
                return replace(self, pressure="")
            case Folded() | Pruned():
                trouble = ()
            case Unchanged():
                trouble = report.warnings or (() if by_hand else self.trouble)
            case Abandoned(reason=reason):
                trouble = (f"{GIVEN_UP}{reason}", *report.warnings)
            case _:
                assert_never(report.result)
        unwritten = isinstance(report.result, Abandoned) and report.result.is_unwritten
        is_unwritten = unwritten or (self.is_unwritten and trouble == self.trouble)
        return replace(self, pressure="", trouble=trouble, is_unwritten=is_unwritten)


class AutoCompactor:
    """Compacts the window of a live session when it is due, or when somebody asks.

    Whatever may wait for a model is a generator of effects. Within one conversation, passes are
    made one after the other.
    """

    def __init__(self, live: LiveSession) -> None:
        """Begin with nothing learned."""
        self._live = live
        self.last = LastRequest()
        self.background = Background(self._failed_beside)
        self._running: Future[None] | None = None
        """Settled when the pass under way has ended."""
        reported, estimate = live.session.last_request
        if reported:
            # What the provider counted before the session was opened again is still true.
            live.deps.engine.update_from_response(reported, rough=estimate)

    def compact(self, focus: str | None = None) -> Steps[CompactionReport]:
        """Compact now, whatever the size; `focus` names what deserves most of the record."""
        check_text("focus", focus or "")
        trigger = CompactionTrigger(_MANUAL, Request(focus=focus or "", force=True))
        return (yield from self._pass(trigger)).report

    def recover(self, error: object, *, attempt: int = 1) -> Steps[CompactionReport]:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        A true window that the error states is remembered for the session, and for the model and
        its endpoint.
        """
        live, engine = self._live, self._live.deps.engine
        with live.lock:
            live.refresh()
            before = engine.policy.context_length
            aim = engine.recovery(live.load, str(error), attempt)
        if engine.policy.context_length < before:
            deps, learned = live.deps, engine.policy.context_length
            remember_window(deps.store, deps.options.model, deps.options.endpoint, learned)
            live.amend(Amendment(metadata={WINDOW_KEY: learned}))
        trigger = CompactionTrigger("recovery", Request(force=True, policy=aim))
        return (yield from self._pass(trigger)).report

    def switch_model(self, model: str, context_length: int) -> Steps[CompactionReport | None]:
        """Go on with another model.

        A window that the new model could not take is compacted first, while the old model is
        there to write the summary; the report of that is returned.

        Raises:
            ConfigError: when even then it does not fit, or the window is none; the old model stays.
        """
        live, engine = self._live, self._live.deps.engine
        aim = replace(engine.policy, context_length=context_length, reserve=None)
        with live.lock:
            live.refresh()
            expected = engine.measure(live.load)
        report = None
        if expected >= aim.threshold_tokens:
            trigger = CompactionTrigger("model_switch", Request(force=True, policy=aim))
            report = (yield from self._pass(trigger)).report
            left = report.tokens_after + aim.overhead
            if left > aim.limit_tokens:
                raise ConfigError(
                    f"the conversation does not fit {model}: {left:,} tokens are "
                    f"left, and it takes {aim.limit_tokens:,}; {report.reason}".rstrip("; ")
                )
        # Of the same model with another window, what real usage taught still holds.
        engine.update_model(context_length, model=model if model != live.deps.options.model else "")
        another = live.deps.another_engine

        def for_model() -> WindowEngine:
            made = another()
            made.update_model(context_length, model=model)
            return made

        options = replace(live.deps.options, model=model)
        live.deps = replace(live.deps, options=options, another_engine=for_model)
        known = {WINDOW_KEY: context_length, REPORTED_KEY: None}
        live.amend(Amendment(model=model, metadata=known))
        return report

    def before_request(self) -> Steps[None]:
        """Read the window, and compact it if it is due: now, or in the background if it fits."""
        live, options = self._live, self._live.deps.options
        with live.lock:
            live.refresh()
        if not options.automatic:
            return
        if self._is_hygiene_due():
            try:
                yield from self._pass(CompactionTrigger("hygiene"))
            except HoldfastError as error:
                # Whether the window can be sent as it is, is looked at next.
                self.warn(error)
        if not self._is_window_due():
            return
        if self._fits() and (options.ahead_of_time or self.background.is_running):
            self._begin_ahead()
            return
        if self._fits() and self.is_undone():
            return
        if (job := self.background.job) and not is_inside(live.deps.engine):
            yield Join(job)
            if not self._is_due():
                return
        real = self.last.prompt_tokens >= live.deps.engine.policy.threshold_tokens
        yield from self._compact_if_possible(CompactionTrigger("in_loop" if real else "preflight"))

    def is_due(self) -> bool:
        """Say whether a request of the window, as it was read last, begins or waits for a pass."""
        is_automatic = self._live.deps.options.automatic
        return is_automatic and (self._is_hygiene_due() or self._is_window_due())

    def after_reply(self, window: Window) -> None:
        """Begin a compaction ahead of time, where a turn is over and the window has grown."""
        live, engine = self._live, self._live.deps.engine
        if not (live.deps.options.ahead_of_time and live.deps.options.automatic):
            return
        last = window.entries[-1].message if window.entries else None
        turn_is_over = last is not None and last.role is Role.ASSISTANT and not last.calls
        if turn_is_over and engine.measure(live.load) >= engine.policy.ahead_tokens:
            self._begin_ahead()

    def handed_out(self) -> None:
        """Note that the window, as it was read last, is about to be sent."""
        self.last = replace(self.last, sent=self._live.load.tokens)

    def answered(self, usage: Usage) -> None:
        """Learn from what a provider reported for the window that was handed out last."""
        engine, prompt = self._live.deps.engine, usage.prompt_tokens
        warning = engine.update_from_response(
            prompt, rough=self.last.sent or None, completion_tokens=usage.output_tokens
        )
        falls = prompt < WARN_AT * engine.policy.threshold_tokens
        pressure = warning or ("" if falls else self.last.pressure)
        sent, self.last = (
            self.last.sent,
            replace(self.last, prompt_tokens=prompt, pressure=pressure),
        )
        if prompt and max(prompt, sent) >= engine.policy.hygiene_tokens // 2:
            # Whoever opens the session again need not judge it by estimate.
            try:
                self._live.amend(Amendment(metadata={REPORTED_KEY: [prompt, sent]}))
            except HoldfastError as error:
                self.warn(error)

    def is_undone(self) -> bool:
        """Say whether the user took a compaction back: the next one waits until it must be."""
        state = self._live.state
        return state is not None and state.is_undone

    def warn(self, error: Exception) -> None:
        """Let the log and the status say what went wrong beside the turn."""
        _log.warning("session %s: %s", self._live.id, error)
        with self._live.lock:
            self.last = replace(self.last, trouble=(str(error),), is_unwritten=False)

    def troubles(self, view: int | None) -> tuple[str, ...]:
        """Return what went wrong and no pass has put right since."""
        id_, deps = self._live.id, self._live.deps
        if (id_, view) != (self.last.flaws.session, self.last.flaws.view):
            self.last = replace(self.last, flaws=flaws_of(deps.store, id_, view))
        engine = deps.engine.trouble
        said = dict.fromkeys((*self.last.trouble, *self.last.flaws.warnings))
        # A plug-in that was set aside stays so, and the pass that noticed has said it too.
        return (*(each for each in said if each not in engine), *((engine,) if engine else ()))

    def _turn_begins(self) -> bool:
        entries = self._live.window.entries
        return bool(entries) and entries[-1].message.role is Role.USER

    def _is_hygiene_due(self) -> bool:
        """Say whether the session grew between turns, before an agent sees the message."""
        if self.last.sent and not self._turn_begins():
            return False
        live = self._live
        due = live.deps.engine.is_hygiene_due(live.load, len(live.window.entries))
        return due and not (self.is_undone() and self._fits())

    def _is_window_due(self) -> bool:
        live, engine = self._live, self._live.deps.engine
        return engine.is_due(live.load) or (
            self._turn_begins() and engine.is_preflight_due(lambda: live.window.transcript)
        )

    def _is_due(self) -> bool:
        live = self._live
        with live.lock:
            live.refresh()
            return live.deps.engine.is_due(live.load)

    def _fits(self) -> bool:
        """Say whether the request would still be accepted as it is."""
        engine = self._live.deps.engine
        with self._live.lock:
            load = self._live.load
        return (
            engine.expected_tokens <= engine.policy.limit_tokens
            and load.bytes <= engine.policy.max_bytes
            and load.images <= engine.policy.max_images
        )

    def _begin_ahead(self) -> None:
        if not self.is_undone():
            self.background.start(lambda: self._pass(CompactionTrigger("ahead_of_time")))

    def _compact_if_possible(self, trigger: CompactionTrigger) -> Steps[None]:
        """Compact on the turn's path; a failure stops the turn only if nothing could be sent."""
        try:
            done = yield from self._pass(trigger)
            if done.holder and not self._fits():
                if (yield from self._outwait()):
                    yield from self._pass(trigger)
                else:
                    # Whoever held the session has done what was to be done.
                    self.last = replace(self.last, trouble=())
            if not self._fits():
                # What the usual shares leave too large is fitted, as after a refusal.
                policy = self._live.deps.engine.policy
                aim = replace(policy, fit=policy.room_tokens)
                request = Request(force=True, policy=aim)
                yield from self._pass(replace(trigger, request=request))
        except HoldfastError as error:
            # The engine has seen a pass that was not stored: what is there is measured again.
            self._is_due()
            if not self._fits():
                raise
            self.warn(error)

    def _outwait(self) -> Steps[bool]:
        """Wait for whoever compacts the session; says whether it still has to be done."""
        deps = self._live.deps
        for _ in range(int(deps.options.lease_seconds / _POLL)):
            yield Sleep(_POLL)
            if not self._is_due() or self._fits():
                return False
            with hold_lease(deps, self._live.id) as lease:
                if not isinstance(lease, Taken):
                    return True
        return True

    def _pass(self, trigger: CompactionTrigger) -> Steps[PassResult]:
        """Make one pass, after the one that is under way."""
        live = self._live
        if is_inside(live.deps.engine):
            reason = "this is called from within a compaction of the same conversation"
            return PassResult(abandoned(live.window.transcript, reason), live.session)
        mine: Future[None] = Future()
        while True:
            # Asked for, a job that nothing drives any more lets go of the pass.
            _ = self.background.job
            with live.lock:
                other = self._running
                if other is None:
                    self._running = mine
                    break
            yield Join(other)
        try:
            with live.lock:
                live.refresh()
                window, session = live.window, live.session

            def keep(change: Change) -> Session:
                # Whoever waits for the store holds the lock, so that a listener may ask the
                # conversation about itself, and nobody sees the old session end by itself.
                with live.lock:
                    kept = commit(live, session, window, change)
                    live.adopt(kept)
                    return kept

            steps = compaction_pass(live.deps, session, window, trigger, keep)
            done = yield from inside(live.deps.engine, steps)
            with live.lock:
                live.refresh()
                live.deps.engine.measure(live.load)
                # That another came first is nothing to be told of while the request fits.
                came_second = bool(done.holder) or done.is_overtaken
                if not (came_second and self._fits()):
                    self.last = self.last.after(done.report, by_hand=trigger.name == _MANUAL)
            return done
        finally:
            with live.lock:
                self._running = None
            mine.set_result(None)

    def _failed_beside(self, error: BaseException) -> None:
        said = str(error)
        if not isinstance(error, HoldfastError):
            said = f"{type(error).__name__}: {error}"
        _log.warning("the compaction in the background failed: %s", said)
        with self._live.lock:
            self.last = replace(self.last, trouble=(said,), is_unwritten=False)


def flaws_of(store: Store, session: str, view: int | None) -> Flaws:
    """Return what is to be said of the compaction that a view of a session shows, if it is one.

    It is read from the store, so that it is known whoever made the pass, after a restart, and for
    as long as the window shows its result: an undo takes it away, a better pass too.
    """
    parents = {each.id: each.parent for each in store.views(session)} if view else {}
    passes = {each.after: each for each in store.compactions(session)} if view else {}
    at, told, told_before = view, list[str](), False
    # A rewind stands on the compaction before it, and a pass that pruned on the record before it.
    while at is not None:
        if (found := passes.get(at)) is not None:
            told += [each for each in warnings_of(found) if not told_before or COVERED in each]
            told_before = True
            if found.report.get("outcome") != "pruned_only":
                break
        at = parents.get(at)
    return Flaws(session, view, tuple(told))


def warnings_of(record: CompactionRecord) -> tuple[str, ...]:
    """Return what is to be said of a stored pass."""
    found = record.report.get("warnings")
    # A pass that was imported has the report of another agent.
    told = cast("list[object]", found) if isinstance(found, list) else []
    return tuple(each for each in told if isinstance(each, str))
