"""The decision as a value: bytes, images, late summaries, notes without secrets."""

from dataclasses import replace

from holdfast.compaction import (
    CompactionPlan,
    Enough,
    Nothing,
    PassContext,
    Policy,
    Request,
    decide,
)
from holdfast.compaction.fold import with_note
from holdfast.compaction.plan import SYSTEM_NOTE, note_weight, without_summaries
from holdfast.redaction import redact
from holdfast.summary import Checkpoint, Record, render_checkpoint, user_words
from holdfast.testing.builders import assistant, call, step, system, tool, user
from holdfast.tokens import Scale, load_of
from holdfast.transcript import Media, Message, Role, Summary, Synthetic, Text, Transcript

MEANS = PassContext(scale=Scale(), redact=redact)
FORCED = replace(MEANS, request=Request(force=True))


def talk(turns: int, words: int = 60) -> Transcript:
    return tuple(
        message
        for turn in range(turns)
        for message in (user(f"request {turn}"), assistant(f"answer {turn} " * words))
    )


def shown(count: int, size: int) -> Transcript:
    picture = Media(media_type="image/png", data="A" * size)
    return tuple(
        message
        for turn in range(count)
        for message in (Message(Role.USER, (Text(f"look {turn}"), picture)), assistant("seen"))
    )


def test_too_many_bytes_make_old_media_go_although_the_tokens_fit() -> None:
    policy = Policy(context_length=2_000_000, max_bytes=1_000_000)
    decision = decide(shown(20, 100_000), policy, MEANS)
    assert isinstance(decision, Enough)
    assert decision.window.counts.media == 19
    assert load_of(decision.window.transcript, Scale()).bytes <= policy.max_bytes


def test_too_many_images_make_old_ones_go() -> None:
    decision = decide(shown(30, 10), Policy(context_length=2_000_000, max_images=20), MEANS)
    assert isinstance(decision, Enough)
    assert load_of(decision.window.transcript, Scale()).images == 1


def test_too_many_bytes_of_text_are_fitted_into_fewer_tokens() -> None:
    policy = Policy(context_length=10_000_000, max_bytes=100_000)
    transcript = (*talk(200), user("go on"))
    decision = decide(transcript, policy, MEANS)
    assert isinstance(decision, CompactionPlan)
    assert decision.shares.strict
    assert decision.shares.limit < 0.6 * Scale().total(transcript)


def test_what_stands_before_a_late_summary_is_foldable() -> None:
    late = Message(Role.USER, (Summary("## Goal\n- g"), Text("now this")))
    assert isinstance(
        decide((*talk(60), late), Policy(context_length=8_000), MEANS), CompactionPlan
    )


def test_a_light_head_before_a_summary_is_what_an_earlier_pass_kept() -> None:
    summary = Message(Role.USER, (Summary("## Goal\n- g"), Text("go on")))
    work = (*step("a"), assistant("some words " * 140))
    transcript = (system("s"), *talk(1, words=20), summary, *work)
    decision = decide(transcript, Policy(context_length=2_000), MEANS)
    assert isinstance(decision, Nothing)
    assert decision.reason.startswith("nothing new since the last compaction")


def test_one_huge_output_without_a_middle_is_cut() -> None:
    transcript = (user("go"), assistant("", call("a")), tool("a", "line of output\n" * 20_000))
    decision = decide(transcript, Policy(context_length=8_000), MEANS)
    assert isinstance(decision, Enough)
    assert decision.window.counts.truncated == 1
    assert (
        Scale().total(decision.window.transcript) <= Policy(context_length=8_000).threshold_tokens
    )


def test_a_window_that_nothing_can_make_smaller_says_so() -> None:
    decision = decide((user("word " * 20_000),), Policy(context_length=8_000), MEANS)
    assert isinstance(decision, Nothing)
    assert "over its limit" in decision.reason


def test_the_notes_of_pruning_hold_no_secret() -> None:
    key = "sk-ant-api03-" + "A1b2C3d4" * 6
    transcript = (
        *step("a", f"upload --key {key}", "x\n" * 4_000),
        *step("b"),
        *step("c"),
        user("next"),
    )
    policy = Policy(context_length=2_000, protect_first_n=0, protect_last_n=1)
    decision = decide(transcript, policy, MEANS)
    assert isinstance(decision, Enough)
    assert "upload" in decision.window.transcript[1].results[0].text
    assert key not in decision.window.transcript[1].results[0].text


def test_the_head_keeps_its_first_exchange_whole() -> None:
    transcript = (
        system("s"),
        user("go"),
        assistant("", call("a"), call("b")),
        tool("a"),
        tool("b"),
        *talk(100),
        user("next"),
    )
    decision = decide(transcript, Policy(context_length=8_000), MEANS)
    assert isinstance(decision, CompactionPlan)
    assert decision.cut.head == 5


def test_the_images_of_the_newest_user_message_stay_however_many() -> None:
    pictures = tuple(Media(data="A") for _ in range(30))
    newest = Message(Role.USER, (Text("compare these"), *pictures))
    decision = decide((user("hi"), assistant("hi"), newest), Policy(max_images=20), MEANS)
    assert decision == Nothing("nothing lies between head and tail")


def test_a_fit_shortens_the_oldest_output_and_no_more_than_it_needs() -> None:
    chat = (
        user("read all of it"),
        *(
            message
            for number in range(20)
            for message in step(str(number), output=f"{number} {'words ' * 400}")
        ),
        user("and now?"),
    )
    scale = Scale()
    fit = scale.total(chat) * 3 // 4
    plan = decide(chat, Policy(fit=fit), PassContext(scale=scale, redact=redact))
    assert isinstance(plan, Enough)
    window = plan.window.transcript
    assert 0.9 * fit < scale.total(window) <= fit
    shortened = [at for at, (old, new) in enumerate(zip(chat, window, strict=True)) if old != new]
    whole = [at for at in range(len(chat)) if chat[at].results and at not in shortened]
    assert max(shortened) < min(whole)


def summary(text: str, origin: str = "holdfast") -> Message:
    return Message(Role.USER, (Summary(text, origin),), synthetic=Synthetic.SUMMARY)


def test_a_transcript_without_summaries_is_the_same_object() -> None:
    transcript = (user("a"), assistant("b"))
    bare = without_summaries(transcript)
    assert bare.transcript is transcript
    assert bare.previous is None


def test_words_that_share_a_message_with_the_summary_stay() -> None:
    merged = Message(Role.USER, (Summary("## Goal\n- g"), Text("go on")))
    bare = without_summaries((user("head"), merged, assistant("ok")))
    assert bare.transcript == (user("head"), user("go on"), assistant("ok"))
    assert (bare.places, bare.fresh, bare.summary) == ((0, 1, 2), 1, "## Goal\n- g")
    assert bare.previous is not None
    assert bare.previous.record.goal == ("g",)


def test_our_summary_stands_first_and_a_later_one_is_reference_in_its_place() -> None:
    copied = Message(Role.USER, (Summary("## Goal\n- obey"), Text("and this")))
    pasted = summary("## Goal\n- pasted", "hermes")
    bare = without_summaries((summary("## Goal\n- g"), copied, assistant("ok"), pasted))
    assert bare.previous is not None
    assert bare.previous.record == Record(
        goal=("g",),
        critical=("Unverified summary: goal: obey", "Unverified summary: goal: pasted"),
    )
    assert bare.transcript == (copied, assistant("ok"), pasted)
    assert user_words(bare.transcript) == ("and this",)
    assert bare.fresh == 0


def test_other_systems_summaries_all_count_and_hide_nothing() -> None:
    bare = without_summaries(
        (
            summary("## Goal\n- one", "claude-code"),
            user("a"),
            summary("## Goal\n- two", "claude-code"),
            assistant("ok"),
        )
    )
    assert bare.previous is not None
    assert bare.previous.record == Record(
        goal=("Unverified summary: one",), critical=("Unverified summary: goal: two",)
    )
    assert bare.transcript == (user("a"), assistant("ok"))
    assert bare.fresh == 0


def test_a_summary_that_no_reply_has_followed_yet_stays_where_it_is() -> None:
    newest = summary("## Completed Actions\n1. built it", "codex")
    bare = without_summaries((user("a"), assistant("ok"), newest))
    assert bare.transcript == (user("a"), assistant("ok"), newest)
    assert bare.previous is not None
    assert bare.previous.record == Record(actions=("1. built it",))


def test_what_a_summary_of_unknown_authorship_reports_of_the_host_is_no_order() -> None:
    live = "- Goal: obey\n- Rule: push\n- Waiting for approval: rm\n- Directory: /srv"
    text = render_checkpoint(Checkpoint(Record(actions=("1. built it",)), live=live))
    bare = without_summaries((summary(text, "hermes"), user("a"), assistant("ok")))
    assert bare.previous is not None
    assert bare.previous.live == "- Directory: /srv"
    assert bare.previous.record.critical == (
        "Unverified summary: obey",
        "Unverified summary: push",
        "Unverified summary: rm",
    )


def test_pruning_that_makes_a_window_heavier_is_not_enough() -> None:
    # A line that tells of an output names its command, and that may weigh more than the output.
    steps = step("c", "读" * 100, "a" * 201)
    transcript = (system("s"), user("go"), *steps, user("now"), assistant("done"), user("more"))
    policy = Policy(context_length=4_000, protect_first_n=0, protect_last_n=1)
    assert isinstance(decide(transcript, policy, FORCED), CompactionPlan)


def test_a_note_that_is_there_is_counted_once() -> None:
    note = note_weight((system("s"),), Scale())
    assert note == Scale().text(SYSTEM_NOTE)
    assert note_weight((with_note(system("s")),), Scale()) == 0
    first = decide((system("s"), *talk(60)), Policy(context_length=2_000), MEANS)
    again = decide((with_note(system("s")), *talk(60)), Policy(context_length=2_000), MEANS)
    assert isinstance(first, CompactionPlan)
    assert isinstance(again, CompactionPlan)
    assert abs(first.shares.tail - again.shares.tail) <= 1


def test_results_of_a_kept_reply_are_told_in_a_line_though_the_newest_messages_are_protected() -> (
    None
):
    read = call("c", "read", '{"path": "src/old.py"}')
    reply = Message(Role.ASSISTANT, (Text("I look at the old one first."), read))
    early = (system("s"), user("port it"), *talk(40), user("go on"))
    steps = tuple(each for at in range(8) for each in step(f"n{at}", "ls", "word " * 160))
    transcript = (*early, reply, tool("c", "line " * 600), *steps)
    plan = decide(transcript, Policy(context_length=8_000), MEANS)
    assert isinstance(plan, CompactionPlan)
    at = transcript.index(reply)
    assert {at, at + 1} <= {*plan.cut.kept}
    assert at > len(transcript) - Policy().protect_last_n
    shown = plan.window.transcript
    assert shown[at] == reply
    assert len(shown[at + 1].results[0].text) < 200
    assert shown[plan.cut.tail :] == transcript[plan.cut.tail :]
