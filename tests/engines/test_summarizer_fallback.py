"""Each row of the failure table, for the blocking and the awaiting chain alike."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines import SummarizerFallback
from holdfast.engines.summarizer_fallback import (
    LONGEST_RETRY_AFTER,
    AskSummarizer,
    Dropped,
    Wait,
    answer_with_fallback,
)
from holdfast.errors import (
    ConfigError,
    MissingExtra,
    SummarizerDenied,
    SummarizerError,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.summary import Answer, Declined, Failure, Written, problem
from holdfast.testing import FixedClock, ScriptedSummarizer
from tests.engines.asks import ASK, CHATTER, OTHER, RECORD, WAYS, Asking

# What a summarizer may do, the failure it is, and the pause that follows on the last model.
FAILURES: dict[str, tuple[tuple[str | Exception, ...], Failure, float]] = {
    "not found": ((SummarizerMissing("HTTP 404"),), Failure.MISSING, 60.0),
    "timeout": ((SummarizerUnavailable("no answer"),), Failure.TRANSIENT, 60.0),
    "rate limit": ((SummarizerUnavailable("429", retry_after=90.0),), Failure.TRANSIENT, 90.0),
    "bad gateway": ((SummarizerUnavailable("HTTP 502"),), Failure.TRANSIENT, 60.0),
    "malformed JSON": ((SummarizerMisread("not JSON"),), Failure.MISREAD, 30.0),
    "stream closed early": ((SummarizerMisread("cut off"),), Failure.MISREAD, 30.0),
    "empty": (("",), Failure.EMPTY, 60.0),
    "blank": ((" \n\t",), Failure.EMPTY, 60.0),
    "refusal": ((CHATTER, CHATTER), Failure.MALFORMED, 60.0),
    "refusal, then silence": ((CHATTER, ""), Failure.EMPTY, 60.0),
    "no extra": ((MissingExtra("a model", "openai"),), Failure.UNCONFIGURED, 600.0),
    "no key": ((ConfigError("no key"),), Failure.UNCONFIGURED, 600.0),
    "rejected": ((SummarizerError("HTTP 400"),), Failure.TRANSIENT, 60.0),
    "unknown": ((KeyError("choices"),), Failure.TRANSIENT, 60.0),
}

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
every_failure = pytest.mark.parametrize("name", FAILURES)


def scripted(*answers: str | Exception, name: str = "main") -> ScriptedSummarizer:
    return ScriptedSummarizer(answers, name=name)


@every_way
def test_the_summary_model_is_asked_first_and_the_main_model_not_at_all(way: Asking) -> None:
    main = scripted()
    chain = SummarizerFallback(main, scripted(RECORD, name="small"), clock=FixedClock())
    assert way(chain) == Written(RECORD, "small")
    assert (main.asks, chain.notes) == ([], ())


@every_way
@every_failure
def test_a_failed_summary_model_is_replaced_at_once_and_remembered(way: Asking, name: str) -> None:
    answers, _, _ = FAILURES[name]
    small, main = scripted(*answers, name="small"), scripted(RECORD, OTHER)
    chain = SummarizerFallback(main, small, clock=FixedClock())
    assert way(chain) == Written(RECORD, "main")
    assert way(chain) == Written(OTHER, "main")
    assert len(small.asks) == len(answers)
    assert chain.cooldown == 0.0
    (note,) = chain.notes
    assert note.startswith("the summary model small failed (")
    assert note.endswith("); main writes the summaries of this session from now on")


@every_way
@every_failure
def test_a_failed_last_model_is_left_alone_for_a_while(way: Asking, name: str) -> None:
    answers, failure, pause = FAILURES[name]
    clock, main = FixedClock(1_000.0), scripted(*answers, RECORD)
    chain = SummarizerFallback(main, clock=clock)
    declined = way(chain)
    assert isinstance(declined, Declined)
    assert (declined.failure, declined.retry_after) == (failure, pause)
    assert (chain.cooldown, chain.notes) == (pause, ())

    clock.advance(pause - 1.0)
    refused = way(chain)
    assert isinstance(refused, Declined)
    assert (refused.failure, refused.retry_after) == (Failure.COOLDOWN, 1.0)
    assert declined.reason in refused.reason
    assert len(main.asks) == len(answers)

    clock.advance(1.0)
    assert way(chain) == Written(RECORD, "main")


@every_way
def test_a_manual_compress_ignores_the_cooldown_and_its_success_ends_it(way: Asking) -> None:
    main = scripted(SummarizerUnavailable("HTTP 503"), RECORD, OTHER)
    chain = SummarizerFallback(main, clock=FixedClock())
    way(chain)
    assert chain.cooldown == 60.0
    assert way(chain, manual=True) == Written(RECORD, "main")
    assert chain.cooldown == 0.0
    assert way(chain) == Written(OTHER, "main")


@every_way
@pytest.mark.parametrize("denied", ["small", "main"])
def test_a_refused_credential_aborts_at_once_and_says_what_to_check(
    way: Asking, denied: str
) -> None:
    refusing = scripted(
        SummarizerDenied("HTTP 401: bad key"), SummarizerDenied("HTTP 403"), name=denied
    )
    main = scripted()
    pair = (main, refusing) if denied == "small" else (refusing, None)
    chain = SummarizerFallback(*pair, clock=FixedClock())
    assert way(chain) == Declined(
        Failure.AUTH,
        f"{denied} refused the credential: HTTP 401: bad key; check the API key or the login of "
        "this provider, then compress again",
    )
    assert (main.asks, chain.notes, chain.cooldown) == ([], (), 0.0)
    again = way(chain)
    assert isinstance(again, Declined)
    assert again.failure is Failure.AUTH


@every_way
def test_an_answer_without_sections_gets_one_repair_attempt(way: Asking) -> None:
    main = scripted(CHATTER, RECORD)
    chain = SummarizerFallback(main, clock=FixedClock())
    assert way(chain) == Written(RECORD, "main")
    assert [ask.purpose for ask in main.asks] == ["first", "repair"]
    assert main.asks[1].prompt != ASK.prompt


@every_way
def test_a_summary_model_and_the_main_model_each_get_a_repair_attempt(way: Asking) -> None:
    small, main = scripted(CHATTER, CHATTER, name="small"), scripted(CHATTER, RECORD)
    chain = SummarizerFallback(main, small, clock=FixedClock())
    assert way(chain) == Written(RECORD, "main")
    assert (len(small.asks), len(main.asks)) == (2, 2)


@every_way
def test_without_any_model_the_answer_says_so_once_in_ten_minutes(way: Asking) -> None:
    chain = SummarizerFallback(None, clock=FixedClock())
    answers = [way(chain, manual=manual) for manual in (False, False, True)]
    failures = [answer.failure for answer in answers if isinstance(answer, Declined)]
    assert failures == [Failure.UNCONFIGURED, Failure.COOLDOWN, Failure.UNCONFIGURED]
    assert chain.cooldown == 600.0


@every_way
def test_a_summary_model_without_a_main_model_is_the_last_model(way: Asking) -> None:
    small = scripted(SummarizerMisread("cut off"), name="small")
    chain = SummarizerFallback(None, small, clock=FixedClock())
    assert way(chain) == Declined(
        Failure.MISREAD, "small could not be read: cut off", retry_after=30.0
    )
    assert chain.notes == ()


@every_way
def test_a_model_that_is_both_is_not_asked_twice(way: Asking) -> None:
    main = scripted(SummarizerUnavailable("HTTP 503"))
    chain = SummarizerFallback(main, main, clock=FixedClock())
    assert isinstance(way(chain), Declined)
    assert len(main.asks) == 1


@every_way
def test_a_short_retry_after_is_waited_out_once(way: Asking) -> None:
    limited = SummarizerUnavailable("HTTP 429", retry_after=0.01)
    main = scripted(limited, RECORD, limited, limited)
    chain = SummarizerFallback(main, clock=FixedClock())
    assert way(chain) == Written(RECORD, "main")
    assert way(chain) == Declined(
        Failure.TRANSIENT, "main is unavailable: HTTP 429", retry_after=60.0
    )
    assert len(main.asks) == 4


@pytest.mark.parametrize(
    ("wish", "waits"), [(0.0, True), (LONGEST_RETRY_AFTER, True), (5.1, False)]
)
def test_only_a_retry_after_that_a_turn_can_bear_is_waited_out(wish: float, waits: bool) -> None:
    main = scripted()
    limited = Declined(Failure.TRANSIENT, "HTTP 429", retry_after=wish)
    flow = answer_with_fallback(ASK, (main,))
    assert next(flow) == AskSummarizer(main, ASK)
    if waits:
        assert flow.send(limited) == Wait(wish)
        assert next(flow) == AskSummarizer(main, ASK)
    with pytest.raises(StopIteration) as ended:
        flow.send(limited)
    assert ended.value.value == limited


def test_a_limited_summary_model_is_replaced_rather_than_waited_for() -> None:
    small, main = scripted(name="small"), scripted()
    limited = Declined(Failure.TRANSIENT, "HTTP 429", retry_after=1.0)
    flow = answer_with_fallback(ASK, (small, main))
    assert next(flow) == AskSummarizer(small, ASK)
    assert flow.send(limited) == Dropped(small, limited, main)
    assert next(flow) == AskSummarizer(main, ASK)


def test_a_driver_that_replies_nothing_to_a_call_is_told() -> None:
    flow = answer_with_fallback(ASK, (scripted(),))
    next(flow)
    with pytest.raises(TypeError, match="replied to with an Answer"):
        flow.send(None)


def test_two_compactions_that_fail_together_leave_one_note() -> None:
    failing = [SummarizerUnavailable("HTTP 503")] * 2
    chain = SummarizerFallback(
        scripted(RECORD, OTHER), scripted(*failing, name="small"), clock=FixedClock()
    )

    async def both() -> list[Answer]:
        return await asyncio.gather(*(chain.aanswer(ASK, manual=False) for _ in range(2)))

    assert asyncio.run(both()) == [Written(RECORD, "main"), Written(OTHER, "main")]
    assert len(chain.notes) == 1


def test_requests_are_sized_for_the_smallest_model_that_may_be_asked() -> None:
    main = ScriptedSummarizer([RECORD], name="main", window=200_000)
    small = ScriptedSummarizer([""], name="small", window=32_000)
    chain = SummarizerFallback(main, small, clock=FixedClock())
    assert chain.window == 32_000
    chain.answer(ASK, manual=False)
    assert chain.window == 200_000
    assert SummarizerFallback(scripted(), clock=FixedClock()).window is None


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf")])
def test_a_timeout_that_cannot_be_kept_is_refused_by_its_name(timeout: float) -> None:
    with pytest.raises(ConfigError, match=r"auxiliary\.compression\.timeout"):
        SummarizerFallback(None, clock=FixedClock(), timeout=timeout)


behaviors = st.sampled_from(
    [
        RECORD,
        OTHER,
        CHATTER,
        "",
        SummarizerDenied("HTTP 401"),
        SummarizerMissing("HTTP 404"),
        SummarizerMisread("cut off"),
        SummarizerUnavailable("HTTP 502"),
        SummarizerUnavailable("HTTP 429", retry_after=0.0),
        SummarizerUnavailable("HTTP 429", retry_after=700.0),
        ValueError("odd"),
    ]
)
scripts = st.none() | st.lists(behaviors, max_size=6)
moves = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 20.0, 45.0, 1_000.0])), max_size=5)


def played(
    way: Asking,
    models: tuple[list[str | Exception] | None, list[str | Exception] | None],
    course: list[tuple[bool, float]],
) -> list[tuple[Answer, float, tuple[str, ...], tuple[int, ...]]]:
    """Return what a session with these models sees, ask by ask."""
    main, small = (
        None if script is None else ScriptedSummarizer(script, name=name)
        for script, name in zip(models, ("main", "small"), strict=True)
    )
    clock = FixedClock()
    chain = SummarizerFallback(main, small, clock=clock)
    seen: list[tuple[Answer, float, tuple[str, ...], tuple[int, ...]]] = []
    for manual, pause in course:
        answer = way(chain, manual=manual)
        calls = tuple(len(each.asks) for each in (main, small) if each is not None)
        seen.append((answer, chain.cooldown, chain.notes, calls))
        clock.advance(pause)
    return seen


@given(models=st.tuples(scripts, scripts), course=moves)
def test_blocking_and_awaiting_chains_agree(
    models: tuple[list[str | Exception] | None, list[str | Exception] | None],
    course: list[tuple[bool, float]],
) -> None:
    blocking, awaiting = (played(way, models, course) for way in WAYS)
    assert blocking == awaiting


@given(models=st.tuples(scripts, scripts), course=moves)
def test_whatever_models_do_an_answer_is_a_record_or_a_reason(
    models: tuple[list[str | Exception] | None, list[str | Exception] | None],
    course: list[tuple[bool, float]],
) -> None:
    before: tuple[int, ...] = ()
    for answer, _, _, calls in played(WAYS[0], models, course):
        if isinstance(answer, Written):
            assert problem(answer.text) is None
        else:
            assert answer.reason
        asked = [now - then for now, then in zip(calls, before or (0,) * len(calls), strict=True)]
        assert all(count <= 4 for count in asked)
        before = calls


@every_way
def test_of_an_answer_in_the_frame_of_an_agents_summary_only_the_summary_counts(
    way: Asking,
) -> None:
    framed = (
        "This session is being continued from a previous conversation that ran out of context. "
        f"The conversation is summarized below:\n{RECORD}\n"
        "Please continue the conversation from where we left it off without asking the user."
    )
    chain = SummarizerFallback(scripted(framed), clock=FixedClock())
    assert way(chain) == Written(RECORD, "main")
