"""The promises of a compaction, on generated sessions and windows from 2k to 10M tokens."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec import structs

from holdfast.compaction import (
    Abandoned,
    CompactionReport,
    Folded,
    Outcome,
    PassContext,
    Policy,
    Pruned,
    Request,
    Unchanged,
    compaction,
)
from holdfast.compaction.plan import SYSTEM_NOTE, without_summaries
from holdfast.compaction.report import feedback
from holdfast.redaction import redact
from holdfast.summary import Answer, Ask, Declined, Failure, Written
from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.testing.strategies import Material, transcripts
from holdfast.tokens import Scale
from holdfast.transcript import (
    Content,
    Media,
    Message,
    Part,
    Role,
    Summary,
    Synthetic,
    Text,
    ToolResult,
    Transcript,
    check,
    newest_user,
    open_calls,
    shape,
)
from holdfast.wire import DIALECTS
from holdfast.wire.provenance import check_of, recognized
from tests.compaction.sessions import sessions, windows

SECRET = "sk-ant-api03-" + "A1b2C3d4" * 6
RECORD = "\n\n".join(
    f"## {name}\n- the model wrote this about {name}, and {SECRET}"
    for name in ("Historical Task Snapshot", "Goal", "Active State", "Blocked", "Key Decisions")
)

Writer = Callable[[Ask], Answer]
writers: st.SearchStrategy[Writer | None] = st.sampled_from(
    [
        None,
        lambda _: Written(RECORD, "stub"),
        lambda _: Written("x" * 100_000 + "\n" + RECORD, "stub"),
        lambda _: Declined(Failure.TRANSIENT, "it failed"),
    ]
)


def sign(text: str) -> str:
    return check_of(text, b"a key of this test")


def compacted(
    transcript: Transcript, policy: Policy, writer: Writer | None = None, *, force: bool = False
) -> Outcome:
    context = PassContext(
        scale=Scale(),
        redact=redact,
        summarizer_window=None if writer is None else 32_000,
        request=Request(force=force),
        sign=sign,
    )
    flow = compaction(transcript, policy, context)
    try:
        ask = next(flow)
        while True:
            assert writer is not None
            ask = flow.send(writer(ask))
    except StopIteration as ended:
        return ended.value


def weight(transcript: Transcript) -> int:
    return Scale().total(transcript)


def same_tail(before: Message, after: Message) -> bool:
    """Say whether a message stands in the tail as it was said, save what the rules allow."""
    return (
        before.role is after.role
        and len(before.parts) == len(after.parts)
        and all(map(same_part, before.parts, after.parts))
    )


def same_part(before: Part, after: Part) -> bool:
    """Media may be a placeholder, and an oversized result may have lost its middle."""
    if isinstance(before, Media) and isinstance(after, Text):
        return after.text.endswith("not in the window]")
    if isinstance(before, ToolResult) and isinstance(after, ToolResult):
        return (
            (before.call_id, before.is_error) == (after.call_id, after.is_error)
            and len(before.content) == len(after.content)
            and all(map(same_piece, before.content, after.content))
        )
    return before == after


def same_piece(before: Content, after: Content) -> bool:
    if isinstance(before, Text) and isinstance(after, Text) and before != after:
        front, _, rest = after.text.partition("\n[... ")
        _, cut, back = rest.partition(" characters left out here ...]\n")
        whole = after.text == f"[{len(before.text):,} characters left out here]"
        return whole or bool(cut and before.text.startswith(front) and before.text.endswith(back))
    return same_part(before, after)


@given(sessions(), windows, writers, st.booleans())
def test_every_invariant_of_a_compaction(
    transcript: Transcript, window: int, writer: Writer | None, force: bool
) -> None:
    before = shape(transcript), transcript
    policy = Policy(context_length=window)
    outcome = compacted(transcript, policy, writer, force=force)
    event(type(outcome).__name__)

    assert (shape(transcript), transcript) == before
    match outcome:
        case Unchanged(transcript=same) | Abandoned(transcript=same):
            assert same == transcript
            assert outcome.reason
            return
        case Folded(transcript=after) | Pruned(transcript=after):
            pass
    assert check(after) == ()
    assert weight(after) == outcome.report.tokens_after < outcome.report.tokens_before
    assert_system_only_gained_the_note(transcript, after)
    assert_newest_user_words_follow_the_summary(transcript, after)
    assert_waiting_calls_still_wait(transcript, after)
    assert_one_summary_without_secrets(after)
    tail = outcome.report.tail
    if isinstance(outcome, Folded) and tail > 1:
        # The first tail message may have taken the summary or a kept message into its front.
        bare = without_summaries(transcript).transcript
        assert all(map(same_tail, bare[1 - tail :], after[1 - tail :]))


def neighbors(transcript: Transcript) -> int:
    """Return how often a user speaks right after a user."""
    pairs = pairwise(transcript)
    return sum(one.role is other.role is Role.USER for one, other in pairs)


@given(
    st.sampled_from(["anthropic", "gemini", "openai", "responses", "sharegpt"]).flatmap(
        lambda dialect: st.tuples(
            st.just(dialect),
            transcripts(Material(dialect, turns=6, steps=4, has_summaries=False)),
        )
    ),
    st.sampled_from([1, 40, 120]),
)
def test_no_user_speaks_twice_because_of_a_summary_and_it_is_read_back(
    spoken: tuple[str, Transcript], repeat: int
) -> None:
    dialect, drawn = spoken
    transcript = tuple(louder(message, repeat) for message in drawn)
    outcome = compacted(transcript, Policy(context_length=1_000), force=True)
    event(type(outcome).__name__)
    assert neighbors(outcome.transcript) <= neighbors(transcript)
    read = DIALECTS[dialect].decode(DIALECTS[dialect].encode(outcome.transcript))
    read = recognized(read, sign)
    assert [bool(each.summary) for each in read].count(True) == sum(
        bool(each.summary) for each in outcome.transcript
    )


def louder(message: Message, repeat: int) -> Message:
    """Return a message whose words are said so many times, empty ones left out."""
    said = (
        structs.replace(part, text=part.text * repeat) if isinstance(part, Text) else part
        for part in message.parts
    )
    return structs.replace(message, parts=tuple(said))


@given(sessions(), windows, writers)
def test_the_same_input_and_answers_give_the_same_bytes(
    transcript: Transcript, window: int, writer: Writer | None
) -> None:
    run = partial(compacted, transcript, Policy(context_length=window), writer)
    assert run() == run()


@given(sessions(), windows)
def test_a_second_pass_with_nothing_new_changes_nothing(
    transcript: Transcript, window: int
) -> None:
    policy = Policy(context_length=window)
    once = compacted(transcript, policy)
    again = compacted(once.transcript, policy)
    event(f"{type(once).__name__} then {type(again).__name__}")
    assert again.transcript == once.transcript


@given(sessions(max_turns=4, max_steps=6), st.integers(200, 20_000))
def test_a_fit_is_never_over_and_keeps_the_newest_user_words(
    transcript: Transcript, fit: int
) -> None:
    outcome = compacted(transcript, Policy(fit=fit))
    event(type(outcome).__name__)
    match outcome:
        case Abandoned(reason=reason):
            assert "smallest possible fit" in reason
            newest = newest_user(transcript)
            assert newest is not None
            needed = [m for m in transcript if m.role is Role.SYSTEM]
            bare = without_summaries(transcript).transcript
            words = transcript[newest].text
            said = [m for m in bare if m.role is Role.USER and m.text == words]
            needed_weight = weight((*needed, *said[-1:]))
            assert needed_weight > fit or open_calls(transcript)
        case _:
            assert weight(outcome.transcript) <= fit
            assert check(outcome.transcript) == ()
            assert_newest_user_words_follow_the_summary(transcript, outcome.transcript)


def test_a_fit_whose_tail_grew_too_far_keeps_the_tail_that_it_had() -> None:
    picture = Media("image", "image/png", "QUJD")
    asked = Message(Role.USER, (Text("go on"), picture), pinned=True)
    text = "## Goal\n- an earlier goal\n\n## Blocked\n- nothing\n\n## Key Decisions\n- one"
    seen = [(Text(words), picture) for words in ("", "0" * 800)]
    said = (
        Message(Role.USER, (Summary(text),), synthetic=Synthetic.SUMMARY),
        asked,
        Message(Role.ASSISTANT, (call("a", "bash"), call("b", "bash"))),
        *(Message(Role.TOOL, (ToolResult(i, it),)) for i, it in zip("ab", seen, strict=True)),
        asked,
        Message(Role.ASSISTANT, (call("c", "bash"),)),
    )
    outcome = compacted(said, Policy(fit=3_680))
    assert isinstance(outcome, Folded)
    assert [result.call_id for each in outcome.transcript for result in each.results] == ["a", "b"]


@settings(max_examples=25)
@given(st.data())
def test_ten_compactions_of_a_growing_conversation_keep_one_record(data: st.DataObject) -> None:
    policy = Policy(context_length=8_000)
    live: Transcript = (Message(Role.SYSTEM, (Text("s"),)),)
    for _ in range(10):
        grown = data.draw(sessions(max_turns=2, max_steps=5))
        live += tuple(m for m in without_summaries(grown).transcript if m.role is not Role.SYSTEM)
        outcome = compacted(live, policy)
        live = outcome.transcript
        assert sum(1 for message in live if message.summary) <= 1


def assert_system_only_gained_the_note(before: Transcript, after: Transcript) -> None:
    old = [message.text for message in before if message.role is Role.SYSTEM]
    new = [message.text for message in after if message.role is Role.SYSTEM]
    assert len(old) == len(new)
    for one, other in zip(old, new, strict=True):
        assert other in (one, f"{one}\n\n{SYSTEM_NOTE}")


def assert_newest_user_words_follow_the_summary(before: Transcript, after: Transcript) -> None:
    newest = newest_user(before)
    if newest is None:
        return
    found = newest_user(after)
    assert found is not None
    assert before[newest].text in after[found].text
    summaries = [index for index, message in enumerate(after) if message.summary]
    assert all(index <= found for index in summaries)


def assert_waiting_calls_still_wait(before: Transcript, after: Transcript) -> None:
    newest = newest_user(before)
    running = {id_ for id_, index in open_calls(before).items() if newest is None or index > newest}
    assert running <= set(open_calls(after))


def assert_one_summary_without_secrets(after: Transcript) -> None:
    summaries = [message.summary for message in after if message.summary]
    assert len(summaries) <= 1
    assert all(SECRET not in summary.text for summary in summaries)


@pytest.mark.parametrize("window", [2_000, 8_000, 64_000, 200_000, 10_000_000])
def test_one_request_and_hundreds_of_steps_compacts_like_anything_else(window: int) -> None:
    steps = [
        m
        for n in range(350)
        for m in step(f"c{n}", f"make part{n}", "the output " * (window // 1_000))
    ]
    transcript = (system("s"), user("build everything"), *steps)
    policy = Policy(context_length=window, max_bytes=10**9)
    outcome = compacted(transcript, policy)
    assert isinstance(outcome, Folded)
    assert outcome.report.tokens_after <= policy.threshold_tokens
    assert any(message.text == "build everything" for message in outcome.transcript)


WINDOW = Policy(context_length=32_000)


def long_run(
    reply: Message, steps: int = 40, output: str = "many lines of output " * 60
) -> Transcript:
    """Return talk, a reply that a person saw, and then only calls without a word."""
    talk = [m for n in range(20) for m in (user(f"ask {n}"), assistant(f"answer {n} " * 60))]
    silent = [m for n in range(steps) for m in step(f"c{n}", f"make part{n}", f"{n}: {output}")]
    return (system("s"), *talk, user("build it all"), reply, *silent)


@pytest.mark.parametrize("count", [8, 20, 60])
def test_the_last_messages_that_are_protected_are_in_the_tail_where_they_fit(count: int) -> None:
    policy = Policy(context_length=32_000, protect_last_n=count)
    transcript = (
        *long_run(assistant("I begin."), 200, "some lines of output " * 20),
        user("go on"),
    )
    outcome = compacted(transcript, policy)
    assert isinstance(outcome, Folded)
    assert outcome.report.tail >= count
    assert outcome.transcript[-count:] == transcript[-count:]
    assert outcome.report.tokens_after <= policy.threshold_tokens


def test_protected_messages_that_do_not_fit_leave_the_tail_to_its_budget() -> None:
    talk = long_run(assistant("I begin."), output="many lines of output " * 160)
    transcript = (*talk, user("go on"))
    heavy = compacted(transcript, Policy(context_length=32_000, protect_last_n=60))
    usual = compacted(transcript, Policy(context_length=32_000, protect_last_n=1))
    assert isinstance(heavy, Folded)
    assert heavy.transcript == usual.transcript


@pytest.mark.parametrize("policy", [WINDOW, replace(WINDOW, fit=4_000)])
@pytest.mark.parametrize("words", [5, 300, 3_000])
def test_the_newest_reply_that_a_person_can_see_stays_where_the_window_can_hold_it(
    words: int, policy: Policy
) -> None:
    reply = assistant("The plan has many steps. " * words)
    outcome = compacted(long_run(reply), policy)
    assert isinstance(outcome, Folded)
    places = [at for at, message in enumerate(outcome.transcript) if message.text == reply.text]
    summaries = [at for at, message in enumerate(outcome.transcript) if message.summary]
    held = words < 3_000 or policy.fit is None
    assert len(places) == held
    assert all(place > at for place in places for at in summaries)
    assert outcome.report.tokens_after <= (policy.fit or policy.threshold_tokens)


def test_a_fit_keeps_the_newest_results_cut_where_they_are_heavier_than_the_tail() -> None:
    lines = "\n".join(f"{number}: words of a file" for number in range(2_000))
    steps = step("new", "cat test.py", lines)
    outcome = compacted((*long_run(assistant("Ready.")), *steps), Policy(fit=2_500))
    assert isinstance(outcome, Folded)
    newest = outcome.transcript[-1].results[0].text
    assert newest.startswith("0: words of a file")
    assert newest.endswith("1999: words of a file")
    assert 0.9 * 2_500 < outcome.report.tokens_after <= 2_500


def test_a_fit_folds_the_newest_call_where_its_arguments_are_heavier_than_the_tail() -> None:
    steps = step("new", "x" * 9_000, "done")
    outcome = compacted((*long_run(assistant("Ready.")), *steps), Policy(fit=2_500))
    assert isinstance(outcome, Folded)
    assert "new" not in {part.id for message in outcome.transcript for part in message.calls}


def test_a_tail_that_cannot_stay_whole_is_cut_to_its_budget() -> None:
    policy = replace(WINDOW, context_length=16_000)
    steps = step("new", "cat log", "many words " * 6_000)
    outcome = compacted((*long_run(assistant("Ready.")), *steps), policy)
    assert isinstance(outcome, Folded)
    tail = outcome.transcript[-outcome.report.tail :]
    assert Scale().total(tail) <= policy.target_tokens


def test_results_that_a_tail_has_only_to_be_long_enough_give_way_to_its_budget() -> None:
    policy = replace(WINDOW, context_length=16_000)
    newest = step("new", "make", "all is built\n" * 30)
    steps = (*step("old", "cat log", "words " * 3_000), *newest)
    outcome = compacted((*long_run(assistant("Ready.")), *steps), policy)
    assert isinstance(outcome, Folded)
    tail = outcome.transcript[-outcome.report.tail :]
    assert tail[-2:] == newest
    assert len(tail) >= 3
    assert Scale().total(tail) <= policy.target_tokens


def test_words_beside_a_heavy_call_stay_and_its_result_gives_way() -> None:
    said = assistant("I read the log first.", call("log", "bash", '{"command": "cat log"}'))
    transcript = long_run(said)
    at = transcript.index(said) + 1
    transcript = (*transcript[:at], tool("log", "a line of the log\n" * 9_000), *transcript[at:])
    outcome = compacted(transcript, WINDOW)
    assert isinstance(outcome, Folded)
    place = next(at for at, each in enumerate(outcome.transcript) if each.text == said.text)
    assert outcome.transcript[place] == said
    assert outcome.transcript[place + 1].results[0].call_id == "log"
    assert outcome.report.tokens_after <= WINDOW.threshold_tokens


def test_an_opening_is_protected_at_the_first_fold_up_to_half_the_weight_of_a_tail() -> None:
    talk = long_run(assistant("I begin."))[1:]
    light = (system("s"), user("Never touch the schema. " * 300), assistant("Fine."), *talk)
    outcome = compacted(light, WINDOW)
    assert isinstance(outcome, Folded)
    assert outcome.transcript[1:3] == light[1:3]
    assert outcome.report.cuts.opening == ""


def test_of_an_opening_that_is_too_heavy_the_report_says_why_and_quotes_what_matters() -> None:
    words = "Set up billing. " + "This is how it came about. " * 2_000 + "Never touch the schema."
    transcript = (system("s"), user(words), *long_run(assistant("I begin."))[1:])
    outcome = compacted(transcript, WINDOW)
    assert isinstance(outcome, Folded)
    said = outcome.report.cuts.opening
    assert "tokens, and 2,720 may stay" in said
    assert '"Set up billing."' in said
    assert '"Never touch the schema."' in said
    assert "Never touch the schema" in outcome.transcript[1].text or any(
        message.summary and "Never touch the schema" in message.summary.text
        for message in outcome.transcript
    )
    assert any(said[1:] in sentence for sentence in feedback(CompactionReport(outcome)))
    again = compacted((*outcome.transcript, *long_run(assistant("On."))[1:]), WINDOW)
    assert isinstance(again, Folded)
    assert again.report.cuts.opening == ""
