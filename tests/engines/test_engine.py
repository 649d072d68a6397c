"""The engine: what it learns, when it acts, and that blocking and awaiting agree."""

import asyncio

import pytest

from holdfast.compaction import Folded, LiveState, Policy, Request, StallCause, Unchanged
from holdfast.engines import ChatEngine, Compaction, Engine, EngineDeps, SummarizerFallback
from holdfast.errors import SummarizerDenied
from holdfast.testing import FixedClock, ScriptedSummarizer
from holdfast.tokens import Calibration
from holdfast.wire import DIALECTS, Body
from holdfast.wiring import estimate_tokens
from tests.engines.seen import SeenContext

Chat = dict[str, object]
RECORD = "\n\n".join(
    f"## {name}\n- written by the model"
    for name in ("Goal", "Active State", "Blocked", "Key Decisions")
)


def chat(turns: int, words: int = 40) -> list[Chat]:
    messages: list[Chat] = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Request {turn}: change src/part_{turn}.py"})
        messages.append({"role": "assistant", "content": f"Part {turn} is done. " * words})
    messages.append({"role": "user", "content": "And the last one"})
    return messages


def engine(*answers: str | Exception, window: int = 8_000, **knobs: object) -> ChatEngine:
    clock = FixedClock()
    fallback = SummarizerFallback(ScriptedSummarizer(answers), clock=clock) if answers else None
    policy = Policy(context_length=window, **knobs)  # type: ignore[arg-type]
    return ChatEngine(policy, EngineDeps(clock=clock, fallback=fallback))


def test_a_long_list_becomes_a_short_one_and_stays_as_it_was() -> None:
    messages = chat(60)
    copies = [dict(message) for message in messages]
    result = engine().compress(messages)
    assert isinstance(result.outcome, Folded)
    assert len(result.messages) < len(messages)
    assert result.messages[-1] == messages[-1]
    assert messages == copies


def test_the_tail_is_the_callers_own_objects() -> None:
    messages = chat(60)
    result = engine().compress(messages)
    assert result.messages[-1] is messages[-1]


def test_blocking_and_awaiting_give_the_same() -> None:
    messages = chat(60)
    for answers in ((), (RECORD,), ("", "")):
        blocking = engine(*answers).compress(messages)
        awaiting = asyncio.run(engine(*answers).acompress(messages))
        assert blocking.messages == awaiting.messages
        assert dict(blocking.report) == dict(awaiting.report)


def test_what_is_short_comes_back_unchanged() -> None:
    messages = chat(2)
    result = engine().compress(messages)
    assert result.messages == messages
    assert result.report.outcome == "unchanged"
    assert result.report["reason"] == result.report.reason != ""
    assert set(result.report) == set(result.report.as_json())
    assert len(result.report) == len(result.report.as_json())


def test_compaction_is_due_at_the_threshold_by_report_or_by_estimate() -> None:
    it = engine()
    assert it.should_compress(prompt_tokens=6_800)
    assert not it.should_compress(prompt_tokens=6_799)
    assert it.should_compress(chat(60))
    assert not it.should_compress(chat(3))


def test_only_what_was_appended_is_measured_again() -> None:
    measured: list[int] = []

    class Counting:
        name = "counting"

        def count(self, text: str) -> int:
            measured.append(len(text))
            return len(text) // 4

    it = ChatEngine(
        Policy(context_length=200_000), EngineDeps(clock=FixedClock(), counter=Counting())
    )
    messages = chat(200)
    it.should_compress(messages)
    measured.clear()
    messages.append({"role": "assistant", "content": "one more"})
    it.should_compress(messages)
    assert measured == [len("one more")]
    it.should_compress(list(reversed(messages)))
    assert len(measured) > 200


def test_real_usage_calibrates_the_estimate_and_proves_what_fits() -> None:
    it = engine(window=200_000)
    messages = chat(50)
    it.should_compress(messages)
    rough = it.state.rough
    assert it.update_from_response(rough * 2) is None
    assert it.state.calibration == Calibration(2.0, 1)
    it.should_compress(messages)
    assert it.expected_tokens == rough * 2


def test_pressure_warns_once_with_the_figures() -> None:
    it = engine()
    assert it.update_from_response(5_780) == ("Context is 85% to compaction (5,780/6,800 tokens)")
    assert it.update_from_response(5_790) is None


def test_a_server_that_reports_nothing_falls_back_to_the_estimate() -> None:
    it = engine()
    it.should_compress(chat(60))
    assert it.update_from_response(0) is not None
    assert it.state.calibration == Calibration()


HEAVY: list[Chat] = [{"role": "user", "content": "one long request " * 8_000}]


def test_two_poor_passes_stop_automatic_compaction_and_a_manual_one_starts_it_again() -> None:
    it = engine()
    it.compress(HEAVY)
    second = it.compress(HEAVY)
    assert it.state.progress.blocked is StallCause.HEAVY_REQUEST
    assert any("Automatic compaction has stopped" in each for each in second.report.warnings)
    assert not it.should_compress(chat(60))
    blocked = it.compress(chat(60))
    assert isinstance(blocked.outcome, Unchanged)
    assert "the newest user message fills the window" in blocked.report.reason
    assert isinstance(it.compress(chat(60), force=True).outcome, Folded)
    assert it.state.progress.blocked is None


def test_passes_that_were_not_due_and_failures_are_not_counted() -> None:
    it = engine()
    for _ in range(3):
        it.compress(chat(2))
    assert it.state.progress.blocked is None
    denied = engine(*[SummarizerDenied("bad key")] * 4, window=16_000)
    for _ in range(3):
        assert denied.compress(chat(60)).report.outcome == "abandoned"
    assert "credential" in denied.compress(chat(60)).report.reason
    assert denied.state.progress.blocked is None


def test_a_focus_is_a_manual_request() -> None:
    assert Request(focus="the schema").is_manual
    assert Request(force=True).is_manual
    assert not Request().is_manual


def test_recovery_learns_the_window_and_gets_tighter() -> None:
    it = engine(window=200_000)
    messages = chat(300)
    first = it.recover(messages, error='{"n_prompt_tokens": 15306, "n_ctx": 8192}')
    assert it.policy.context_length == 8_192
    assert first.report.tokens_after <= it.policy.threshold_tokens
    second = it.recover(messages, attempt=3)
    assert second.report.tokens_after <= it.policy.threshold_tokens * 0.5625


def test_recovery_copes_with_a_window_that_is_smaller_than_the_reserve() -> None:
    it = engine(window=200_000, reserve=32_000)
    assert it.recover(chat(100), error="maximum context length is 8192").report.outcome == "folded"
    it = engine(window=200_000)
    it.recover(chat(100), error="n_ctx: 512")
    assert it.policy.context_length == 1_000


def test_recovery_uses_what_real_usage_taught() -> None:
    it = engine(window=32_000)
    messages = chat(200)
    it.should_compress(messages)
    it.update_from_response(it.state.rough * 2)
    result = it.recover(messages)
    assert 2 * estimate_tokens(result.messages) <= it.policy.threshold_tokens * 1.05


def test_recovery_leaves_room_for_the_turns_that_follow() -> None:
    messages = chat(300)
    refused = estimate_tokens(messages)
    for error in (f"maximum context length is {refused * 9 // 10} tokens", "prompt is too long"):
        it = engine(window=200_000)
        result = it.recover(messages, error=error)
        assert result.report.outcome == "folded"
        assert result.report.tokens_after <= 0.6 * min(it.policy.threshold_tokens, 0.9 * refused)


def test_a_window_that_an_error_taught_leaves_what_usage_taught() -> None:
    it = engine(window=32_000)
    messages = chat(200)
    it.should_compress(messages)
    it.update_from_response(it.state.rough * 2)
    it.recover(messages, error="maximum context length is 8192")
    assert it.state.calibration == Calibration(2.0, 1)
    it.update_model(32_000, model="another")
    assert it.state.calibration == Calibration()


def test_blocking_and_awaiting_recovery_give_the_same() -> None:
    messages = chat(60)
    blocking = engine().recover(messages, error="n_ctx: 4096")
    assert (
        asyncio.run(engine().arecover(messages, error="n_ctx: 4096")).messages == blocking.messages
    )


def test_usage_reported_after_a_compaction_does_not_teach_from_the_list_before_it() -> None:
    it = engine()
    messages = chat(60)
    assert it.should_compress(messages)
    smaller = it.compress(messages)
    it.update_from_response(smaller.report.tokens_after)
    assert it.state.calibration == Calibration(1.0, 1)
    it.should_compress(smaller.messages)
    assert it.expected_tokens == pytest.approx(smaller.report.tokens_after, rel=0.02)


def test_recovery_from_a_body_that_is_too_large_takes_bytes_off() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}}
    messages: list[Chat] = []
    for turn in range(20):
        messages.append(
            {"role": "user", "content": [{"type": "text", "text": f"see {turn}"}, picture]}
        )
        messages.append({"role": "assistant", "content": "seen"})
    result = engine(window=200_000).recover(messages, error="413 Payload Too Large")
    assert result.report.outcome == "pruned_only"
    assert len(repr(result.messages)) < 0.6 * len(repr(messages))


def test_hygiene_is_due_at_most_of_the_window() -> None:
    it = engine()
    assert it.needs_hygiene(chat(3), prompt_tokens=6_800)
    assert not it.needs_hygiene(chat(3), prompt_tokens=6_799)
    assert it.needs_hygiene(chat(80))


def test_a_model_switch_recomputes_the_budgets_and_forgets_what_was_learned() -> None:
    it = engine()
    it.compress(HEAVY)
    it.compress(HEAVY)
    it.update_model(200_000)
    assert it.policy.threshold_tokens == 100_000
    assert it.state.progress.blocked is None


def test_the_real_size_scales_the_report() -> None:
    messages = chat(60)
    plain = engine().compress(messages)
    real = engine().compress(messages, current_tokens=2 * plain.report.tokens_before)
    assert real.report.tokens_before == pytest.approx(2 * plain.report.tokens_before, rel=0.02)


class CountingLetters:
    """Counts four letters as a token, and notes what it was asked to count."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return -(-len(text) // 4)


def test_what_was_weighed_as_it_came_in_is_not_weighed_again_in_a_pass() -> None:
    transcript = DIALECTS["openai"].decode(Body(list(chat(60))))
    counter = CountingLetters()
    learned = Engine(Policy(context_length=8_000), EngineDeps(clock=FixedClock(), counter=counter))
    learned.load(transcript)
    counter.asked.clear()
    report = learned.compact(transcript, Request(current_tokens=9_000))
    assert isinstance(report.result, Folded)
    # A message of one sentence is a statement of the record too, and weighed as such.
    long = {message.text for message in transcript[:100] if len(message.text) > 40}
    assert long
    assert not long.intersection(counter.asked)


def test_a_pass_is_the_same_whether_or_not_its_window_was_measured() -> None:
    transcript = DIALECTS["openai"].decode(Body(list(chat(60))))
    fresh, measured = engine(), engine()
    measured.load(transcript)
    assert measured.compact(transcript).result == fresh.compact(transcript).result


def test_what_the_host_reports_is_in_the_window() -> None:
    it = engine()
    it.host = LiveState(goal="ship 1.0", rules=("never touch the schema",))
    window = repr(it.compress(chat(60)).messages)
    assert "- Goal: ship 1.0" in window
    assert "- Rule: never touch the schema" in window


def summary_of(result: Compaction) -> str:
    transcript = result.report.result.transcript
    return next(message.summary.text for message in transcript if message.summary)


@pytest.mark.parametrize(
    ("answer", "origin"),
    [(RECORD, "chunked"), ("", "deterministic"), (RuntimeError("down"), "deterministic")],
)
def test_the_report_says_who_wrote_the_record(answer: str | Exception, origin: str) -> None:
    result = engine(*[answer] * 20).compress(chat(60))
    assert result.report.figures.summary is not None
    assert result.report.figures.summary.origin == origin
    assert ("written by the model" in summary_of(result)) == (origin == "chunked")


def test_an_abort_leaves_everything_as_it_was() -> None:
    messages = chat(60)
    result = engine("", "", abort_on_summary_failure=True).compress(messages)
    assert result.report.outcome == "abandoned"
    assert result.messages == messages


def test_the_tools_that_find_folded_turns_reach_the_pass_and_a_bare_one_has_none() -> None:
    seen = SeenContext()
    it = ChatEngine(Policy(context_length=8_000), EngineDeps(clock=FixedClock(), algorithm=seen))
    transcript = DIALECTS["openai"].decode(Body(list(chat(60))))
    wanted = Request(recall=("session_search", "read_original"))
    it.compact(transcript, wanted)
    asyncio.run(it.acompact(transcript, wanted))
    it.compress(chat(60))
    assert seen.recall == [wanted.recall, wanted.recall, ()]
