"""What hurts users of other systems, each as a promise that it does not happen here: size and time.

What concerns trust in the words of a summary is in `test_lessons_of_trust`.
"""

import asyncio
import json
import threading
from collections.abc import Callable

import pytest

import holdfast
from holdfast.config.summary_key import installation_sign
from holdfast.engines import ChatEngine, EngineDeps, SummarizerFallback
from holdfast.summary import Ask
from holdfast.testing import FixedClock
from holdfast.wire import DIALECTS, Body
from tests.promises.conversations import (
    Messages,
    assistant,
    call,
    calls,
    image,
    record,
    result,
    session,
    step,
    system,
    turn,
    user,
)
from tests.promises.invariants import assert_sound, decoded, summary_of, wire

WINDOW = 32_000


class Listening:
    """A summarizer with a small window that keeps what it was asked."""

    name = "listening"

    def __init__(self, window: int | None = None) -> None:
        self.window = window
        self.prompts: list[str] = []

    def write(self, ask: Ask) -> str:
        self.prompts.append(ask.prompt)
        return record()

    async def awrite(self, ask: Ask) -> str:
        return self.write(ask)


def engine(model: Listening) -> ChatEngine:
    clock = FixedClock()
    policy = holdfast.Policy(context_length=WINDOW)
    fallback = SummarizerFallback(model, clock=clock)
    return ChatEngine(policy, EngineDeps(clock=clock, fallback=fallback, sign=installation_sign))


@pytest.mark.parametrize("window", [3_000, 6_000, 24_000])
def test_compaction_never_asks_a_model_for_more_than_it_accepts(window: int) -> None:
    model = Listening(window)
    huge = [*session(150), *step("huge", "cat big.log", "one line of the log\n" * 40_000)]
    done = engine(model).compress(huge)
    assert done.report.outcome == "folded"
    assert done.report.figures.summary is not None
    assert done.report.figures.summary.origin == "chunked"
    assert all(holdfast.estimate_tokens(prompt) <= window for prompt in model.prompts)
    assert len(model.prompts) > 1


def test_a_full_window_never_ends_a_session_when_the_providers_compactor_fails() -> None:
    def overflow(_: str) -> str:
        raise RuntimeError("Error running compact task: input exceeds the context window")

    messages = session(150)
    done = holdfast.compress(messages, context_length=WINDOW, summarizer=overflow)
    assert_sound(messages, done)
    assert (done.report.outcome, len(done.report.warnings)) == ("folded", 1)


def test_rules_of_the_project_are_never_forgotten() -> None:
    rules = tuple(f"Rule {n}: never touch src/legacy{n}/ by hand." for n in range(12))
    compressor = holdfast.Compressor(context_length=WINDOW, summarizer=lambda _: record())
    compressor.host = holdfast.LiveState(rules=rules, goal="Ship release 4.2")
    window = session(150)
    for number in range(3):
        window = compressor.compress(window, force=True).messages
        summary = summary_of(window)
        assert [rule for rule in rules if rule not in summary] == []
        assert "Ship release 4.2" in summary
        window = [*window, *(m for at in range(120) for m in turn(1_000 * (number + 1) + at))]


def test_a_rule_is_never_dropped_without_a_word() -> None:
    rules = tuple(f"Rule {n}: never touch src/legacy{n}/ by hand." for n in range(300))
    compressor = holdfast.Compressor(context_length=WINDOW)
    compressor.host = holdfast.LiveState(rules=rules)
    done = compressor.compress(session(150))
    missing = [rule for rule in rules if rule not in summary_of(done.messages)]
    assert not missing or any("rule" in warning for warning in done.report.warnings)


def test_a_rule_of_several_lines_keeps_its_lines() -> None:
    rule = "Layout of a commit:\n  - one subject line\n  - a body that says why"
    compressor = holdfast.Compressor(context_length=WINDOW)
    compressor.host = holdfast.LiveState(rules=(rule,))
    indented = rule.replace("\n", "\n    ")
    assert indented in summary_of(compressor.compress(session(150)).messages)


def test_progress_never_falls_back_to_an_earlier_plan() -> None:
    items = [f"step {n} of the migration" for n in range(30)]
    compressor = holdfast.Compressor(context_length=WINDOW)
    window: Messages = [system(), user("Migrate everything.")]
    for done in (5, 17, 29):
        todos = [
            {"content": item, "status": "completed" if at < done else "pending"}
            for at, item in enumerate(items)
        ]
        plan = calls(call(f"todo_{done}", "TodoWrite", todos=todos))
        window += [plan, result(f"todo_{done}", "ok"), assistant("The plan is updated.")]
        window += [m for at in range(130) for m in turn(1_000 * done + at)]
        window = list(compressor.compress(window).messages)
        summary = summary_of(window)
        assert f"{done} of 30 done" in summary
        assert "[pending] step 29 of the migration" in summary


@pytest.mark.parametrize("window", [2_000, 8_000, 128_000, 10_000_000])
def test_compaction_never_loops(window: int) -> None:
    scale = window // 1_000
    messages = [
        system(),
        user("Go."),
        *(m for n in range(60) for m in step(f"c{n}", "ls", "word " * scale)),
    ]
    sizes = [holdfast.estimate_tokens(messages)]
    compressor = holdfast.Compressor(context_length=window)
    for _ in range(6):
        done = compressor.compress(messages)
        if done.report.outcome == "unchanged":
            break
        sizes.append(done.report.tokens_after)
        messages = done.messages
    else:
        pytest.fail(f"six passes in a row: {sizes}")
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] < compressor.policy.threshold_tokens


def test_one_request_with_hundreds_of_steps_never_gets_stuck() -> None:
    compressor = holdfast.Compressor(context_length=WINDOW)
    window: Messages = [system(), user("Port every module, one after the other.")]
    passes = 0
    for number in range(350):
        window += [assistant(f"Module {number} is next. " + "It needs care. " * 30)]
        window += step(
            f"p{number}", f"port module{number}", f"module{number} ported\n" + "ok " * 90
        )
        if compressor.should_compress(window):
            done = compressor.compress(window)
            assert done.report.figures.saved > 0.4
            window, passes = list(done.messages), passes + 1
        assert wire(window).count("Port every module, one after the other.") >= 1
    assert passes >= 3
    assert user("Port every module, one after the other.")["content"] in wire(window[1])


def test_passes_that_gain_nothing_stop_and_say_why() -> None:
    words = "the user wrote a very long letter " * 3_000
    compressor = holdfast.Compressor(context_length=8_000)
    messages = [system(), user("Hello."), assistant("Yes?"), user(words)]
    assert compressor.should_compress(messages)
    last = [compressor.compress(messages) for _ in range(3)][-1]
    assert not compressor.should_compress(messages)
    assert "Automatic compaction has stopped" in last.report.reason
    compressor.compress(messages, force=True)
    assert compressor.should_compress(messages)


def test_a_later_pass_never_reads_the_whole_history_again() -> None:
    model = Listening()
    busy = engine(model)
    window: Messages = [system(), user("Keep the billing service in order."), assistant("Yes.")]
    read: list[int] = []
    for number in range(8):
        window += [m for at in range(130) for m in turn(1_000 * number + at)]
        model.prompts.clear()
        window = list(busy.compress(window).messages)
        read.append(sum(map(len, model.prompts)))
    assert max(read[4:]) <= 1.3 * max(read[:3])


def test_compaction_never_holds_up_the_event_loop() -> None:
    free = threading.Event()

    def slowly(_: str) -> str:
        return record() if free.wait(60) else "nobody else could work meanwhile"

    async def turns() -> tuple[holdfast.Compaction, int]:
        compressor = holdfast.Compressor(context_length=WINDOW, summarizer=slowly)
        task = asyncio.create_task(compressor.acompress(session(60)))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
            if ticks == 10:
                free.set()
        return await task, ticks

    done, ticks = asyncio.run(turns())
    assert (done.report.outcome, ticks >= 10) == ("folded", True)


def test_deciding_that_compaction_is_due_never_asks_a_model() -> None:
    compressor = holdfast.Compressor(context_length=8_000, summarizer=never)
    assert compressor.should_compress(session(150))


def never(_: str) -> str:
    raise AssertionError("nobody asked for a summary")


def pictures(count: int, size: int) -> Messages:
    """Return a session in which each turn brings a picture of its own."""
    messages = [system()]
    for number in range(count):
        shown = [{"type": "text", "text": f"Picture {number}"}, image(chr(65 + number % 26), size)]
        messages += [{"role": "user", "content": shown}, assistant(f"Seen {number}.")]
    return [*messages, user("What was in the first one?")]


def test_pictures_are_never_copied_into_a_summary_or_a_prompt() -> None:
    model = Listening()
    done = engine(model).compress([*pictures(40, 9_000)[:-1], *session(150)[1:]])
    assert model.prompts
    assert done.report.outcome == "folded"
    assert "AAAAAAAA" not in summary_of(done.messages)
    assert all("base64" not in prompt for prompt in model.prompts)
    assert wire(done.messages).count("data:image") <= 1


@pytest.mark.parametrize(
    "knobs", [{"max_bytes": 1_000_000}, {"max_images": 20}], ids=["bytes", "images"]
)
def test_a_body_is_never_too_large_while_the_tokens_are_few(knobs: dict[str, int]) -> None:
    messages = pictures(60, 40_000)
    compressor = holdfast.Compressor(context_length=1_000_000, **knobs)  # type: ignore[arg-type]
    assert holdfast.estimate_tokens(messages) < compressor.policy.threshold_tokens // 2
    assert compressor.should_compress(messages)
    done = compressor.compress(messages)
    assert_sound(messages, done)
    assert len(wire(done.messages)) < 1_000_000 or "max_bytes" not in knobs
    assert wire(done.messages).count("data:image") <= 20
    assert not compressor.should_compress(done.messages)


def test_a_window_that_was_made_smaller_is_never_taken_for_the_old_one() -> None:
    compressor = holdfast.Compressor(context_length=8_000)
    messages = [system(), user("Go.")]
    for number in range(30):
        messages += step(f"c{number}", "ls", "word " * (4_000 if 0 < number < 5 else 4))
    assert compressor.should_compress(messages)
    done = compressor.compress(messages)
    assert done.report.outcome == "pruned_only"
    assert done.report.tokens_after < compressor.policy.threshold_tokens
    assert not compressor.should_compress(done.messages)


def test_a_request_refused_for_its_bytes_is_never_sent_again_as_it_was() -> None:
    messages = pictures(60, 40_000)
    compressor = holdfast.Compressor(context_length=1_000_000)
    done = compressor.recover(messages, error="413 Request Entity Too Large")
    assert len(wire(done.messages)) < len(wire(messages)) // 2


def test_a_body_of_too_many_bytes_of_text_is_never_left_as_it_is() -> None:
    messages = [
        system(),
        *(m for n in range(80) for m in (user(f"{n} " + "word " * 4_000), assistant("ok"))),
    ]
    compressor = holdfast.Compressor(context_length=10_000_000, max_bytes=1_000_000)
    assert compressor.should_compress([*messages, user("Go on.")])
    done = compressor.compress([*messages, user("Go on.")])
    assert len(wire(done.messages)) < 1_000_000


def test_calls_and_results_are_never_parted() -> None:
    requested = [call(f"a{n}", command=f"make part{n}") for n in range(4)]
    messages = [system(), user("Build.")]
    for number in range(12):
        ids = [call(f"{number}_{n}", command=f"make part{n}") for n in range(3)]
        messages += [calls(*ids), *(result(f"{number}_{n}", "built " * 60) for n in range(3))]
    messages += [calls(*requested), *(result(f"a{n}", "done") for n in range(4)), user("And now?")]
    outcomes: set[str] = set()
    for window in range(1_000, 6_000, 250):
        done = holdfast.compress(messages, context_length=window, force=True)
        outcomes.add(done.report.outcome)
        assert_sound(messages, done)
    for fit in range(60, 1_500, 40):
        done = holdfast.compress(messages, fit=fit)
        for dialect in DIALECTS.values():
            assert dialect.validate(dialect.encode(decoded(done.messages))) == ()
    assert "folded" in outcomes


def test_results_that_lost_their_call_never_reach_a_provider() -> None:
    messages = [
        *session(60),
        result("gone", "nobody asked for this"),
        assistant("?"),
        user("Go on."),
    ]
    assert DIALECTS["openai"].validate(Body(messages))
    done = holdfast.compress(messages, context_length=8_000)
    assert DIALECTS["openai"].validate(Body(done.messages)) == ()


@pytest.mark.parametrize("real", [0.6, 1.0, 1.7])
def test_token_counts_never_stay_wrong_after_the_first_report(real: float) -> None:
    compressor = holdfast.Compressor(context_length=200_000)
    messages = session(100)
    compressor.should_compress(messages)
    rough = compressor.expected_tokens
    compressor.update_from_response(round(rough * real))
    messages += [m for n in range(200, 300) for m in turn(n)]
    compressor.should_compress(messages)
    truth = holdfast.estimate_tokens(messages) * real
    assert abs(compressor.expected_tokens - truth) < 0.05 * truth


def test_other_scripts_are_never_counted_as_a_fraction_of_their_tokens() -> None:
    assert holdfast.estimate_tokens("修复支付服务的重试逻辑" * 100) > 600


def test_a_server_that_reports_no_usage_never_keeps_compaction_from_happening() -> None:
    compressor = holdfast.Compressor(context_length=8_000)
    messages: Messages = [system()]
    due = 0
    for number in range(80):
        messages += turn(number)
        due += compressor.should_compress(messages)
        compressor.update_from_response(0)
    assert 0 < due < 60


@pytest.mark.parametrize(
    "error",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 90000 tokens.",
        "prompt is too long: 90000 tokens > 8192 maximum",
    ],
)
def test_a_window_that_is_smaller_than_promised_is_never_met_twice(error: str) -> None:
    compressor = holdfast.Compressor(context_length=200_000)
    done = compressor.recover(session(150), error=error)
    assert compressor.policy.context_length == 8_192
    assert done.report.tokens_after <= compressor.policy.threshold_tokens
    tighter = compressor.recover(session(150), error=error, attempt=3)
    assert tighter.report.tokens_after < done.report.tokens_after


def test_every_outcome_can_be_read_and_written_as_json() -> None:
    knobs: tuple[Callable[[], holdfast.Compaction], ...] = (
        lambda: holdfast.compress(session(60), context_length=8_000),
        lambda: holdfast.compress(session(1)),
        lambda: holdfast.compress(session(1), fit=1),
    )
    reports = [json.loads(json.dumps(dict(run().report))) for run in knobs]
    assert [each["outcome"] for each in reports] == ["folded", "unchanged", "abandoned"]
    assert all(each["reason"] for each in reports[1:])
