"""Truncation: what stays, what goes, and the promises that hold for every session and window."""

from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec import structs

from holdfast.compaction import Abandoned, Outcome, PassContext, Policy, Pruned, Request, Unchanged
from holdfast.compaction.fold import with_note
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.compaction.truncation import LEFT_OUT, truncation
from holdfast.redaction import redact
from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.tokens import Scale, load_of
from holdfast.transcript import (
    Media,
    Message,
    Role,
    Summary,
    Synthetic,
    Text,
    Transcript,
    check,
    newest_user,
    open_calls,
    shape,
)
from holdfast.wire import DIALECTS
from tests.compaction.sessions import sessions, windows

POLICY = Policy(context_length=8_000)


def truncated(
    transcript: Transcript,
    policy: Policy = POLICY,
    request: Request = Request(),  # noqa: B008 - a frozen value
) -> Outcome:
    flow = truncation(transcript, policy, PassContext(Scale(), redact, request=request))
    try:
        next(flow)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("a truncation asks nobody")


def long_talk(turns: int = 60) -> Transcript:
    said = [m for n in range(turns) for m in (user(f"ask {n}"), assistant(f"answer {n} " * 30))]
    return (system("Be brief."), user("The goal is a parser."), assistant("Fine."), *said)


@given(sessions(), windows)
def test_every_invariant_of_a_truncation(transcript: Transcript, window: int) -> None:
    # One session serves every promise: drawing it takes longer than truncating it.
    before = shape(transcript), transcript
    policy = Policy(context_length=window)
    refused = refusals(transcript)
    for force in (False, True):
        outcome = truncated(transcript, policy, Request(force=force))
        event(f"{type(outcome).__name__}{' by force' if force else ''}")
        assert (shape(transcript), transcript) == before
        assert_promises_are_kept(transcript, outcome, refused)
    assert_a_second_pass_changes_nothing(transcript, policy)


def assert_promises_are_kept(
    transcript: Transcript, outcome: Outcome, refused: dict[str, list[str]]
) -> None:
    match outcome:
        case Unchanged(transcript=same):
            assert same == transcript
            return
        case Pruned(transcript=after, report=report):
            pass
        case _:
            pytest.fail(f"unexpected: {outcome}")
    assert check(after) == ()
    assert Scale().total(after) == report.tokens_after < report.tokens_before
    assert not any(isinstance(part, Summary) for part in added(transcript, after))
    assert_system_only_gained_the_note(transcript, after)
    assert_the_newest_user_message_is_there(transcript, after)
    newest = newest_user(transcript)
    running = {id_ for id_, at in open_calls(transcript).items() if newest is None or at > newest}
    assert running <= set(open_calls(after))
    assert {name: said for name, said in refusals(after).items() if not refused[name]} == {
        name: [] for name, said in refused.items() if not said
    }


def refusals(transcript: Transcript) -> dict[str, list[str]]:
    return {
        name: [violation.message for violation in dialect.validate(dialect.encode(transcript))]
        for name, dialect in DIALECTS.items()
    }


def assert_a_second_pass_changes_nothing(transcript: Transcript, policy: Policy) -> None:
    once = truncated(transcript, policy)
    again = truncated(once.transcript, policy)
    event(f"{type(once).__name__} then {type(again).__name__}")
    assert again.transcript == once.transcript


@given(sessions(max_turns=4, max_steps=6), st.integers(200, 20_000))
def test_a_fit_is_never_over(transcript: Transcript, fit: int) -> None:
    outcome = truncated(transcript, Policy(fit=fit))
    event(type(outcome).__name__)
    if isinstance(outcome, Abandoned):
        assert outcome.transcript == transcript
        assert "smallest possible fit" in outcome.reason
        return
    assert Scale().total(outcome.transcript) <= fit
    assert check(outcome.transcript) == ()
    assert_the_newest_user_message_is_there(transcript, outcome.transcript)


def test_a_growing_conversation_is_truncated_again_and_again() -> None:
    live, passes = long_talk(0), 0
    for number in range(300):
        live += (user(f"ask {number}"), *step(f"c{number}", "ls", "out " * 50), assistant("done"))
        if Scale().total(live) >= POLICY.threshold_tokens:
            live = truncated(live).transcript
            passes += 1
            assert Scale().total(live) <= POLICY.threshold_tokens // 2
    assert passes > 3
    assert live[1] == user("The goal is a parser.")


def added(before: Transcript, after: Transcript) -> list[object]:
    known = {id(part) for message in before for part in message.parts}
    return [part for message in after for part in message.parts if id(part) not in known]


def assert_system_only_gained_the_note(before: Transcript, after: Transcript) -> None:
    old = [message.text for message in before if message.role is Role.SYSTEM]
    new = [message.text for message in after if message.role is Role.SYSTEM]
    assert len(old) == len(new)
    for one, other in zip(old, new, strict=True):
        assert other in (one, f"{one}\n\n{LEFT_OUT}")


def assert_the_newest_user_message_is_there(before: Transcript, after: Transcript) -> None:
    newest = newest_user(before)
    if newest is not None:
        found = newest_user(after)
        assert found is not None
        assert before[newest].text in after[found].text


@pytest.mark.parametrize("words", [5, 150])
def test_the_newest_reply_that_a_person_can_see_stays(words: int) -> None:
    reply = assistant("Here is the plan. " * words)
    silent = [m for n in range(200) for m in step(f"c{n}", "make", f"part {n} " * 20)]
    outcome = truncated((*long_talk(), user("go"), reply, *silent))
    assert isinstance(outcome, Pruned)
    assert reply in outcome.transcript
    assert outcome.report.tokens_after <= POLICY.threshold_tokens // 2


def test_the_oldest_turns_leave_and_the_opening_stays() -> None:
    outcome = truncated(long_talk())
    assert isinstance(outcome, Pruned)
    after = outcome.transcript
    assert [message.text for message in after[:3]] == [
        f"Be brief.\n\n{LEFT_OUT}",
        "The goal is a parser.",
        "Fine.",
    ]
    assert after[-2:] == (user("ask 59"), assistant("answer 59 " * 30))
    assert outcome.report.folded == len(long_talk()) - len(after)
    assert outcome.report.tokens_after <= POLICY.threshold_tokens // 2


def test_the_opening_leaves_when_it_is_too_heavy_or_unprotected() -> None:
    heavy = (system("s"), user("x" * 9_000), *long_talk()[3:])
    assert "x" * 9_000 not in [message.text for message in truncated(heavy).transcript]
    bare = replace(POLICY, protect_first_n=0)
    texts = [message.text for message in truncated(long_talk(), bare).transcript]
    assert "The goal is a parser." not in texts


def test_pruning_comes_first_and_may_be_enough() -> None:
    steps = [m for n in range(30) for m in step(f"c{n}", f"cat f{n}", f"line {n}\n" * 200)]
    talk = (system("s"), user("read them"), *steps)
    outcome = truncated(talk, Policy(context_length=60_000))
    assert isinstance(outcome, Pruned)
    assert (len(outcome.transcript), outcome.report.folded) == (len(talk), 0)
    assert outcome.report.pruned.summarised > 0
    assert outcome.transcript[0] == system("s")


def test_what_fits_stays_as_it_is() -> None:
    talk = (system("s"), user("hello"), assistant("hello"))
    outcome = truncated(talk)
    assert outcome == Unchanged(
        talk, outcome.report, f"it fits: {outcome.report.tokens_before} of 3,400 tokens"
    )


def test_a_window_of_words_that_must_stay_is_left_alone() -> None:
    talk = (system("s"), user("x y " * 9_000))
    outcome = truncated(talk)
    assert isinstance(outcome, Unchanged)
    assert outcome.reason.startswith("nothing can be left out")


def test_a_manual_pass_takes_away_half_of_what_may_go() -> None:
    talk = long_talk(8)
    assert isinstance(truncated(talk), Unchanged)
    forced = truncated(talk, request=Request(force=True))
    assert isinstance(forced, Pruned)
    assert forced.report.tokens_after <= (forced.report.tokens_before * 6) // 10


def test_a_record_of_another_engine_stays_at_the_head() -> None:
    record = Message(Role.USER, (Summary("## Goal\n- a parser"),), synthetic=Synthetic.SUMMARY)
    talk = (system("s"), record, *long_talk()[3:])
    for policy in (replace(POLICY, protect_first_n=0), replace(POLICY, fit=3_000)):
        assert record in truncated(talk, policy).transcript


def test_too_many_bytes_are_brought_down_with_the_tokens() -> None:
    talk = long_talk()
    policy = Policy(context_length=200_000, max_bytes=8_000)
    outcome = truncated(talk, policy)
    assert isinstance(outcome, Pruned)
    assert load_of(outcome.transcript, Scale()).bytes <= policy.max_bytes


def test_what_must_stay_is_said_to_be_too_large() -> None:
    steps = step("c1", "ls", "ok " * 500)
    talk = (system("Be careful. " * 3_000), user("go"), *steps, assistant("done"))
    outcome = truncated(talk, replace(POLICY, protect_last_n=1))
    assert isinstance(outcome, Pruned)
    assert [each.role for each in outcome.transcript] == [Role.SYSTEM, Role.USER]
    assert outcome.report.warnings[0].startswith("the window is still over its limit")


def test_a_call_that_waits_stays_with_its_turn() -> None:
    waiting = assistant("", call("w"))
    after = truncated((*long_talk(), user("run it"), waiting)).transcript
    assert after[-2:] == (user("run it"), waiting)


def test_a_result_that_is_cut_points_to_the_whole_of_it() -> None:
    output = "a line of output\n" * 4_000
    talk = (system("s"), user("go"), assistant("", call("c1")), tool("c1", output))
    outcome = truncated(talk, request=Request(stored={"c1": 42}))
    assert isinstance(outcome, Pruned)
    assert outcome.report.pruned.truncated == 1
    assert "around_message_id=42" in outcome.transcript[-1].results[0].text


def test_old_pictures_are_placeholders() -> None:
    picture = Message(Role.USER, (Text("look"), Media(data="QUJD" * 100)))
    talk = (
        picture,
        assistant("seen"),
        structs.replace(picture, parts=(Text("and"), Media(data="QQ=="))),
    )
    outcome = truncated(talk)
    assert isinstance(outcome, Pruned)
    assert "not in the window" in outcome.transcript[0].text


def test_the_note_is_added_once_and_beside_that_of_a_compaction() -> None:
    noted = (with_note(system("s")), *long_talk()[1:])
    text = truncated(noted).transcript[0].text
    assert text == f"s\n\n{SYSTEM_NOTE}\n\n{LEFT_OUT}"


def test_memory_sees_what_leaves_the_window_and_nothing_else() -> None:
    seen: list[Transcript] = []

    def notes(messages: Transcript) -> str:
        seen.append(messages)
        return ""

    talk = long_talk()
    outcome = truncated(talk, request=Request(before_folding=notes))
    (left,) = seen
    stays = set(map(id, outcome.transcript))
    assert len(left) == outcome.report.folded > 0
    assert not stays & set(map(id, left))
    truncated(talk[:5], request=Request(before_folding=notes))
    assert len(seen) == 1
