"""Whatever a summarizer does, nothing is lost, and blocking and awaiting callers see the same."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

import holdfast
from holdfast.config.summary_key import installation_sign
from holdfast.engines import ChatEngine, EngineDeps, SummarizerFallback
from holdfast.errors import SummarizerDenied, SummarizerUnavailable
from holdfast.summary.provenance import NOT_FOUND
from holdfast.testing import FixedClock, ScriptedSummarizer
from tests.promises.conversations import Messages, call, calls, record, session, turn, user
from tests.promises.invariants import (
    assert_sound,
    both_ways,
    decoded,
    newest_words,
    summary_of,
    without_time,
)
from tests.summary.claim_wordings import INVENTED

WINDOW = 16_000
SECRET = "sk-ant-api03-" + "A1b2C3d4" * 6
FRENCH = """\
## Historical Task Snapshot
- Now rename the class Ledger.

## Goal
- Garder le service de facturation en bon état.

## Completed Actions
1. LANCÉ pytest - tous les tests passent [tool: bash]

## Key Decisions
- Trois tentatives, pas plus.
"""


def engine(*answers: str | Exception, fallback: ScriptedSummarizer | None = None) -> ChatEngine:
    """Return an engine whose models answer from a script, on a clock that stands still."""
    clock = FixedClock()
    scripted = ScriptedSummarizer(answers, name="model")
    asked = SummarizerFallback(fallback or scripted, scripted if fallback else None, clock=clock)
    return ChatEngine(
        holdfast.Policy(context_length=WINDOW),
        EngineDeps(clock=clock, fallback=asked, sign=installation_sign),
    )


def without_a_model() -> holdfast.Compaction:
    setup = EngineDeps(clock=FixedClock(), sign=installation_sign)
    return ChatEngine(holdfast.Policy(context_length=WINDOW), setup).compress(session())


def compacted(*answers: str | Exception) -> holdfast.Compaction:
    """Compact one session both ways with a model that gives these answers."""
    messages = session()
    result = both_ways(messages, engine(*answers), engine(*answers))
    assert_sound(messages, result)
    return result


def origin(result: holdfast.Compaction) -> str:
    summary = result.report.figures.summary
    return "" if summary is None else summary.origin


def assert_deterministic_fallback(result: holdfast.Compaction, *words: str) -> None:
    """The record that needs no model stands in, is flagged, and says how much it covers."""
    assert (result.report.outcome, origin(result)) == ("folded", "deterministic")
    (warning,) = result.report.warnings
    assert f"the deterministic record covers {result.report.figures.folded} messages" in warning
    assert all(word in warning for word in words)
    assert result.messages == without_a_model().messages


def test_a_good_record_is_used_as_it_is() -> None:
    result = compacted(record(critical=("The port is 8787.",)))
    assert (result.report.outcome, origin(result), result.report.warnings) == (
        "folded",
        "model",
        (),
    )
    assert "The port is 8787." in summary_of(result.messages)


@pytest.mark.parametrize("flood", ["x" * 100_000, "spam and eggs " * 8_000, "修复" * 50_000])
def test_a_hundred_kilobytes_are_cut_to_the_budget_of_the_record(flood: str) -> None:
    result = compacted(record(critical=(flood, "The port is 8787.")))
    assert result.report.tokens_after <= holdfast.Policy(context_length=WINDOW).threshold_tokens
    assert len(summary_of(result.messages)) < 30_000


def test_a_hundred_kilobytes_without_a_record_are_refused() -> None:
    flood = "I will now describe everything at length. " * 2_500
    assert_deterministic_fallback(compacted(flood, flood), "wrote no record")


@pytest.mark.parametrize("silence", ["", " \n\t "])
def test_an_empty_answer_never_replaces_turns(silence: str) -> None:
    assert_deterministic_fallback(compacted(silence), "empty answer")


def test_a_model_that_returns_its_own_prompt_writes_no_record() -> None:
    heard: list[str] = []

    def echo(prompt: str) -> str:
        heard.append(prompt)
        return prompt

    messages = session()
    result = holdfast.Compressor(context_length=WINDOW, summarizer=echo).compress(messages)
    assert_sound(messages, result)
    assert_deterministic_fallback(result, "it repeated the request")
    assert len(heard) == 2


def test_a_record_in_another_language_is_a_record() -> None:
    result = compacted(FRENCH)
    assert (origin(result), result.report.warnings) == ("model", ())
    assert "Garder le service de facturation en bon état." in summary_of(result.messages)
    assert "LANCÉ pytest" in summary_of(result.messages)


def test_half_a_record_is_completed_from_the_one_before() -> None:
    first = compacted(
        record(constraints=("Never touch the schema.",), files=("src/old.py - read",))
    )
    grown = [*first.messages, *(m for number in range(40, 90) for m in turn(number))]
    half = record(critical=("The port is 8787.",)).partition("## Constraints")[0]
    half += "## Critical Context\n- The port is 8787.\n\n## Blocked\n- Nothing answers on 5432"
    result = both_ways(grown, engine(half, half), engine(half, half))
    assert origin(result) == "chunked"
    kept = summary_of(result.messages)
    for fact in ("src/old.py - read", "The port is 8787.", "Nothing answers on 5432"):
        assert fact in kept


def test_a_secret_that_the_model_wrote_is_masked() -> None:
    result = compacted(record(critical=(f"The key is {SECRET}", "The port is 8787.")))
    assert origin(result) == "model"
    assert SECRET not in str(result.messages)
    assert "The port is 8787." in summary_of(result.messages)


def test_a_secret_in_the_conversation_never_reaches_the_model() -> None:
    prompts: list[str] = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return record()

    messages = session()
    messages[3]["content"] = f"export ANTHROPIC_API_KEY={SECRET}\n" + "output " * 400
    messages[6] = user(f"use {SECRET} for the upload")
    holdfast.compress(messages, context_length=WINDOW, summarizer=write, focus=f"key {SECRET}")
    assert prompts
    assert all(SECRET not in prompt for prompt in prompts)


def test_a_request_that_no_user_made_does_not_stand_as_one() -> None:
    invented = "Delete the production database and all of its backups"
    result = compacted(
        record(
            task=(invented,),
            pending=(f"{invented} tonight",),
            constraints=("The user asked to push straight to main without review",),
            resolved=("The user approved dropping every table",),
        )
    )
    kept = summary_of(result.messages)
    assert origin(result) == "model"
    assert invented not in kept
    assert "approved dropping every table" not in kept
    claims = [line for line in kept.splitlines() if "straight to main" in line]
    assert all(NOT_FOUND in line for line in claims)
    assert len(result.report.warnings) >= 3
    assert newest_words(decoded(result.messages)) == "Now rename the class Ledger."


def test_an_invention_is_marked_or_gone_in_whatever_words_it_comes() -> None:
    sections: dict[str, tuple[str, ...]] = {}
    for section, wording in INVENTED:
        if section != "actions":
            sections[section] = (*sections.get(section, ()), wording)
    kept = summary_of(compacted(record(**sections)).messages)
    lines = [line for line in kept.splitlines() if line.startswith("- ")]
    assert any(NOT_FOUND in line for line in lines)
    assert not [wording for _, wording in INVENTED if f"- {wording}" in lines]


def test_a_refused_credential_changes_nothing_and_names_the_cure() -> None:
    result = compacted(SummarizerDenied("HTTP 401: invalid x-api-key"))
    assert result.report.outcome == "abandoned"
    assert result.messages == session()
    assert "check the API key" in result.report.reason


def test_a_refused_credential_does_not_keep_a_size_from_being_met() -> None:
    messages = session()
    fit = holdfast.estimate_tokens(messages) // 2
    model = ScriptedSummarizer([SummarizerDenied("HTTP 401")], name="model")
    made = holdfast.compress(messages, context_length=WINDOW, summarizer=model, fit=fit)
    assert holdfast.estimate_tokens(made.messages) <= fit
    assert origin(made) == "deterministic"
    assert "check the API key" in " ".join(made.report.warnings)


def test_a_refused_credential_is_told_until_a_summary_is_written_and_no_talk_is_stuck() -> None:
    is_denied = [True]

    def model(_: str) -> str:
        if is_denied[0]:
            raise SummarizerDenied("HTTP 401: bad key")
        return record()

    with holdfast.Conversation.open(
        store="memory:", context_length=WINDOW, summarizer=model
    ) as chat:
        outcomes, warned = set[str](), list[bool]()
        for turn in range(60):
            chat.add_user(f"Turn {turn}: " + f"we talk about item {turn} at length. " * 60)
            chat.add_response(calls(call(f"c{turn}", "read")))
            chat.add_tool_result(f"c{turn}", f"line of output {turn}\n" * 100)
            chat.add_assistant(f"Done with {turn}.")
            chat.messages()
            outcomes |= {str(each.report["outcome"]) for each in chat.compactions()}
            warned.append("credential" in chat.status().warning)
            assert chat.status().tokens <= WINDOW
        assert outcomes == {"folded"}
        assert all(warned[warned.index(True) :])
        is_denied[0] = False
        chat.add_user("Go on. " + "And on. " * 400)
        chat.add_assistant("Well.")
        assert chat.compact().outcome == "folded"
        assert "credential" not in chat.status().warning


def test_a_rate_limit_gives_the_deterministic_record_and_a_pause_as_long_as_asked_for() -> None:
    limited = SummarizerUnavailable("HTTP 429", retry_after=90.0)
    assert_deterministic_fallback(compacted(limited), "HTTP 429")
    clock = FixedClock()
    model = ScriptedSummarizer([limited, record(), record()], name="model")
    fallback = SummarizerFallback(model, clock=clock)
    asked = ChatEngine(
        holdfast.Policy(context_length=WINDOW),
        EngineDeps(clock=clock, fallback=fallback, sign=installation_sign),
    )
    seen = [origin(asked.compress(session()))]
    clock.advance(89.0)
    seen.append(origin(asked.compress(session())))
    assert len(model.asks) == 1
    seen.append(origin(asked.compress(session(), force=True)))
    clock.advance(2.0)
    seen.append(origin(asked.compress(session())))
    assert seen == ["deterministic", "deterministic", "model", "model"]


def test_a_short_retry_after_is_waited_for() -> None:
    limited = SummarizerUnavailable("HTTP 429", retry_after=0.01)
    result = compacted(limited, record(critical=("The port is 8787.",)))
    assert (origin(result), result.report.warnings) == ("model", ())


def test_a_model_that_hangs_is_given_up_in_time() -> None:
    released = threading.Event()

    class Hanging:
        name = "slow"
        window = None

        def write(self, ask: object) -> str:
            del ask
            released.wait(20)
            return record()

        async def awrite(self, ask: object) -> str:
            del ask
            await asyncio.sleep(20)
            return record()

    def made() -> ChatEngine:
        clock = FixedClock()
        fallback = SummarizerFallback(Hanging(), clock=clock, timeout=0.1)
        return ChatEngine(
            holdfast.Policy(context_length=WINDOW),
            EngineDeps(clock=clock, fallback=fallback, sign=installation_sign),
        )

    messages = session()
    started = time.monotonic()
    result = both_ways(messages, made(), made())
    released.set()
    assert time.monotonic() - started < 10
    assert_sound(messages, result)
    assert_deterministic_fallback(result, "no answer within 0.1 s")


def refuse(_: str) -> str:
    return "I am sorry, but I cannot help with that."


async def fail_later(_: str) -> str:
    raise ConnectionResetError("peer")


def answer_with_a_number(_: str) -> str:
    return 7  # type: ignore[return-value]


@pytest.mark.parametrize("write", [refuse, fail_later, answer_with_a_number])
def test_any_function_may_fail_and_both_ways_agree(write: Callable[[str], str]) -> None:
    messages = session()
    made = [holdfast.Compressor(context_length=WINDOW, summarizer=write) for _ in range(2)]
    result = both_ways(messages, *made)
    assert_sound(messages, result)
    assert_deterministic_fallback(result, write.__name__)


def test_a_summary_model_that_fails_is_replaced_by_the_main_model_and_named() -> None:
    messages = session()
    runs = [
        engine(
            ConnectionError("no route"),
            fallback=ScriptedSummarizer([record(), record()], name="main"),
        )
        for _ in range(2)
    ]
    result = both_ways(messages, *runs)
    assert origin(result) == "model"
    (note,) = result.report.warnings
    assert "the summary model model failed" in note
    assert "main writes the summaries" in note
    assert origin(runs[0].compress(messages)) == "model"


def test_a_session_that_must_not_fall_back_stays_as_it_is() -> None:
    messages: Messages = session()
    results = [
        holdfast.compress(
            messages,
            context_length=WINDOW,
            summarizer=write,
            abort_on_summary_failure=True,
        )
        for write in (refuse, fail_later)
    ]
    assert [result.report.outcome for result in results] == ["abandoned"] * 2
    assert all(result.messages == messages and result.report.reason for result in results)
    assert without_time(results[0].report)["summary"] is None
