"""What went wrong in a pass is in the log once, whoever drives the engine and however long."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeAlias

import pytest

from holdfast.compaction import CompactionReport, Policy
from holdfast.engines import ChatEngine, EngineDeps, SummarizerFallback
from holdfast.engines.plugin_engine import PluginEngine
from holdfast.engines.plugin_thread import PluginThread
from holdfast.testing import FixedClock, ScriptedSummarizer
from holdfast.testing.builders import assistant, user
from tests.engines.plugins import Tail, Wire
from tests.promises.conversations import record, session

DOWN = ConnectionError("no route")
FAILED = "model failed: ConnectionError: no route"
PAUSED = (
    f"the summarizer failed recently ({FAILED}); it is asked again 60 s after that, or at once by "
    "a manual compress"
)

Compress: TypeAlias = Callable[[ChatEngine], CompactionReport]


def blocking(engine: ChatEngine) -> CompactionReport:
    return engine.compress(session()).report


def awaiting(engine: ChatEngine) -> CompactionReport:
    return asyncio.run(engine.acompress(session())).report


WAYS = (blocking, awaiting)


def engine(
    clock: FixedClock,
    *answers: str | Exception,
    main: ScriptedSummarizer | None = None,
    **knobs: bool,
) -> ChatEngine:
    model = ScriptedSummarizer(answers, name="model")
    fallback = SummarizerFallback(main or model, model if main else None, clock=clock)
    policy = Policy(context_length=16_000, **knobs)  # type: ignore[arg-type]
    return ChatEngine(policy, EngineDeps(clock=clock, fallback=fallback))


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    found = [(each.levelno, each.getMessage()) for each in caplog.records]
    caplog.clear()
    return found


@pytest.mark.parametrize("compress", WAYS)
def test_a_record_without_the_model_is_logged_and_a_good_one_is_not(
    compress: Compress, caplog: pytest.LogCaptureFixture
) -> None:
    it = engine(clock := FixedClock(), DOWN, record())
    report = compress(it)
    (said,) = report.warnings
    assert said.startswith(FAILED)
    assert logged(caplog) == [(logging.WARNING, f"compaction folded: {said}")]
    clock.advance(61.0)
    assert (compress(it).warnings, logged(caplog)) == ((), [])


@pytest.mark.parametrize("compress", WAYS)
def test_a_conversation_that_stays_frozen_is_logged_once_until_a_pass_goes_well(
    compress: Compress, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FixedClock()
    it = engine(clock, DOWN, DOWN, record(), DOWN, abort_on_summary_failure=True)
    reasons: list[str] = []
    for _ in range(4):
        reasons.append(compress(it).reason)
        clock.advance(25.0)
    failed, paused, *_ = reasons
    assert reasons == [failed, paused, paused, failed]
    assert (failed[: len(FAILED)], paused[: len(PAUSED)]) == (FAILED, PAUSED)
    frozen = [f"compaction abandoned: {each}" for each in (failed, paused)]
    assert logged(caplog) == [(logging.WARNING, each) for each in frozen]
    clock.advance(61.0)
    assert (compress(it).outcome, logged(caplog)) == ("folded", [])
    assert compress(it).outcome == "abandoned"
    assert logged(caplog) == [(logging.WARNING, frozen[0])]


def test_after_a_reset_a_failure_is_news_again(caplog: pytest.LogCaptureFixture) -> None:
    it = engine(FixedClock(), *[PermissionError("no")] * 2, abort_on_summary_failure=True)
    it.compress(session(), force=True)
    first = logged(caplog)
    it.reset()
    it.compress(session(), force=True)
    assert logged(caplog) == first != []


def test_a_summary_model_that_was_given_up_is_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    main = ScriptedSummarizer([record(), record()], name="main")
    it = engine(FixedClock(), DOWN, main=main)
    (note,) = it.compress(session()).report.warnings
    assert note.startswith("the summary model model failed")
    assert it.compress(session()).report.warnings == ()
    assert logged(caplog) == [(logging.WARNING, f"compaction folded: {note}")]


class Idle(Tail):
    """A plug-in that hands back what it was given."""

    def compress(self, messages: Wire, *_: object, **__: object) -> Wire:
        return messages


def test_a_plug_in_whose_passes_gain_nothing_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    default = ChatEngine(Policy(context_length=8_000), EngineDeps(clock=FixedClock()))
    it = PluginEngine(default, PluginThread("idle", Idle, deadline=10.0))
    talk = tuple(each(f"word {number} " * 40) for number in range(60) for each in (user, assistant))
    reports = [it.compact(talk) for _ in range(4)]
    (advice,) = reports[-1].warnings
    assert logged(caplog) == [(logging.WARNING, f"compaction unchanged: {advice}")]
