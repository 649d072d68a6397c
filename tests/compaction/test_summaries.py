"""What stands in a window after a compaction: the ledger's share, and a model's answer whole."""

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from holdfast.compaction import Folded, Outcome, PassContext, Policy, compaction
from holdfast.redaction import redact
from holdfast.summary import Written, read_checkpoint
from holdfast.summary.record import number_of
from holdfast.testing.builders import assistant, step, system, user
from holdfast.tokens import Scale
from holdfast.transcript import Transcript

SCALE = Scale()


def compacted(
    transcript: Transcript, policy: Policy, write: Callable[[str], str] | None = None
) -> Outcome:
    window = None if write is None else 32_000
    flow = compaction(
        transcript, policy, PassContext(scale=SCALE, redact=redact, summarizer_window=window)
    )
    try:
        ask = next(flow)
        while True:
            assert write is not None
            ask = flow.send(Written(write(ask.prompt), "tester"))
    except StopIteration as ended:
        return ended.value


def summary_of(outcome: Outcome) -> str:
    return next((each.summary.text for each in outcome.transcript if each.summary), "")


@st.composite
def named(draw: st.DrawFn) -> Transcript:
    """Sessions full of names: more than any record has room for."""
    random = draw(st.randoms(use_true_random=False))
    plain = ("we", "moved", "it", "to", "the", "语言", "because", "of")

    def words() -> str:
        number = random.randrange(10_000)
        names = (f"load_part_{number}", f"src/part_{number}/run.py", f"v2.{number}", f":{number}")
        return " ".join(random.choice((*plain, *names)) for _ in range(random.randrange(4, 30)))

    transcript = [system("Be careful.")]
    for turn in range(draw(st.integers(4, 40))):
        transcript.append(user(words()))
        for number in range(random.randrange(4)):
            output = words() * random.choice((1, 4, 40))
            transcript += step(f"c{turn}_{number}", words(), output)
        transcript.append(assistant(words()))
    return (*transcript, user("And now?"))


@given(named(), st.sampled_from([2_000, 4_000, 16_000, 200_000]), st.integers(0, 8_000))
def test_the_ledger_is_at_most_a_tenth_of_a_summary(
    transcript: Transcript, window: int, fit: int
) -> None:
    policy = Policy(context_length=window, fit=fit if fit > 300 else None)
    outcome = compacted(transcript, policy)
    summary = summary_of(outcome)
    assume(isinstance(outcome, Folded) and summary)
    evidence = read_checkpoint(summary).evidence
    event("with a ledger" if evidence else "without a ledger")
    assert SCALE.text(evidence) * 10 <= SCALE.text(summary)


@given(named(), st.sampled_from([2_000, 4_000, 16_000]))
def test_a_summary_stands_for_whatever_was_folded(transcript: Transcript, window: int) -> None:
    outcome = compacted(transcript, Policy(context_length=window))
    assert not isinstance(outcome, Folded) or summary_of(outcome)


@given(named(), st.sampled_from([2_000, 4_000, 16_000]))
def test_a_second_summary_is_made_of_the_first(transcript: Transcript, window: int) -> None:
    policy = Policy(context_length=window)
    once = compacted(transcript, policy)
    again = compacted((*once.transcript, assistant("Yes."), *transcript[1:]), policy)
    assert summary_of(again).count("## Completed Actions") <= 1


FACTS = (
    "The retry of the upload is configurable with 3 attempts.",
    "Never touch the schema of the ledger.",
    "src/upload.py was changed, and 12 tests pass.",
)
FORMS = {
    "our headings": "## Goal\n- {}\n\n## Blocked\n- {}\n\n## Active State\n- {}",
    "other headings": "# Summary\n\n## Overview\n{}\n\n## Weather\n{}\n\n## Next steps\n- {}",
    "a numbered list": "1. {}\n2. {}\n3. {}",
    "prose": "{} {} {}",
    "paragraphs": "{}\n\n{}\n\n{}",
    "German headings": "## Ziel\n{}\n\n## Regeln\n- {}\n\n## Stand\n{}",
    "Chinese headings": "## 目标\n{}\n\n## 规则\n- {}\n\n## 状态\n{}",
    "tags": "<summary>\n## Goal\n{}\n\n## Rules\n{}\n\n{}\n</summary>",
    "a fence": "```markdown\n# Summary\n{}\n\n- {}\n- {}\n```",
    "words before and after": "Here is it:\n\n## Goal\n{}\n\n## Rules\n{}\n\n## State\n{}\n\nDone!",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("window", [8_000, 32_000])
def test_what_a_model_wrote_in_any_form_stands_whole_in_the_window(form: str, window: int) -> None:
    turns = [
        message
        for number in range(60)
        for message in (
            user(f"Please look after part {number} of the upload"),
            *step(f"c{number}", f"make part{number}", "some output " * 60),
            assistant(f"Part {number} is in order."),
        )
    ]
    outcome = compacted(
        (system("s"), *turns, user("And now?")),
        Policy(context_length=window),
        lambda _: FORMS[form].format(*FACTS),
    )
    assert isinstance(outcome, Folded)
    assert outcome.report.summary is not None
    assert outcome.report.summary.origin in {"model", "chunked"}
    summary = summary_of(outcome)
    assert [fact for fact in FACTS if fact not in summary] == []


def test_a_question_whose_answer_left_the_window_is_told_as_answered() -> None:
    answer = "Staging uses port 5433. " + "5432 is taken by the legacy server. " * 60
    talk = (
        system("s"),
        *(each for at in range(9) for each in step(f"c{at}", f"cat part{at}", "some output " * 60)),
        user("Which port does staging use?"),
        assistant(answer),
    )
    told = {
        fit: "which stands below, is answered" in summary_of(compacted(talk, Policy(fit=fit)))
        for fit in (500, 1_500)
    }
    assert told == {500: True, 1_500: False}
    shown = compacted(talk, Policy(fit=1_500)).transcript
    assert shown[-1] == assistant(answer)


@pytest.mark.parametrize("opening", [(), (user("Hello."), assistant("Hi."))])
def test_a_pinned_message_of_a_user_survives_any_number_of_passes(opening: Transcript) -> None:
    words = "Column A is the number, column B the tax number, column C the total."
    window: Transcript = (system("Be careful."), *opening, user(words, pinned=True))
    window = (*window, assistant("Noted."))
    for turn in range(6):
        window = (*window, user(f"Go on with part {turn}."))
        for number in range(8):
            window += step(f"c{turn}_{number}", "", "nothing in particular " * 80)
        window = (*window, assistant(f"Part {turn} is done."))
        window = compacted(window, Policy(context_length=8_000)).transcript
        assert [each.text for each in window if each.pinned] == [words]


def test_a_second_pin_stands_beside_the_first_and_both_survive() -> None:
    pins = [user(f"Column {name} is the {name} number.", pinned=True) for name in "ABC"]
    window: Transcript = (system("Be careful."), user("Move the shop."), assistant("Which one?"))
    for turn in range(5):
        window = (*window, *pins[turn : turn + 1], user(f"Go on with part {turn}."))
        for number in range(8):
            window += step(f"c{turn}_{number}", "", "nothing in particular " * 80)
        window = compacted((*window, assistant("Done.")), Policy(context_length=8_000)).transcript
        kept = [part for each in window if each.pinned for part in each.parts]
        assert kept == [part for each in pins[: turn + 1] for part in each.parts]


def test_a_value_that_was_pinned_and_corrected_later_is_not_told_as_new() -> None:
    old, new = "The release date is 2026-12-04.", "Correction: the release date is 2026-12-11."
    window: Transcript = (system("Be careful."), user("Move the shop."), assistant("Which one?"))
    window = (*window, user(old, pinned=True), assistant("Noted."), user(new), assistant("Noted."))
    for turn in range(4):
        window = (*window, user(f"Go on with part {turn}."))
        for number in range(8):
            window += step(f"c{turn}_{number}", f"look at {number}", "nothing in particular " * 80)
        window = (*window, assistant(f"Part {turn} is done."))
        outcome = compacted(window, Policy(context_length=8_000))
        window = outcome.transcript
        assert isinstance(outcome, Folded)
        assert read_checkpoint(summary_of(outcome)).record.critical == (new,)


def test_each_turn_is_told_once_and_in_order_however_often_it_is_folded() -> None:
    asks = ["Migrate all modules of the shop to the new API."]
    asks += [f"Go on with {name}." for name in ("billing", "dunning", "currency", "exports")]
    window: Transcript = (system("Be careful."),)
    for turn, ask in enumerate(asks):
        rule = "The release is on 2026-12-11. " if turn == 2 else ""
        window = (*window, user(rule + ask))
        for number in range(8):
            window += step(f"c{turn}_{number}", "", f"line {turn} {number} of nothing " * 60)
        window = (*window, assistant(f"Part {turn} is done."))
        if turn > 1:
            outcome = compacted(window, Policy(context_length=10_000))
            window = outcome.transcript
            assert isinstance(outcome, Folded)
            actions = read_checkpoint(summary_of(outcome)).record.actions
            said = [re.findall(r'User: "(.*)"|Assistant: (.*)', entry) for entry in actions]
            told = [words for entry in said for words in entry]
            whole = [
                pair
                for at, each in enumerate(asks)
                for pair in ((each, ""), ("", f"Part {at} is done."))
            ]
            # The opening and the newest turns stand in the window.
            first = whole.index(told[0])
            assert told == whole[first : first + len(told)]
            assert first == (turn == 2)
            assert [number_of(entry) for entry in actions] == [*range(1, len(actions) + 1)]
