"""The record that fits: everything that can be told, the worthiest of it, nothing cut or lost."""

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.redaction import redact
from holdfast.summary.checkpoint import (
    Checkpoint,
    Composed,
    Job,
    read_checkpoint,
    render_checkpoint,
)
from holdfast.summary.draft import draft, trim
from holdfast.summary.reader import read
from holdfast.summary.record import HEADINGS, Record, last_number, number_of, render
from holdfast.transcript import Message
from holdfast.transcript.effects import Family
from holdfast.transcript.toolkit import PlanItem, Toolkit
from tests.summary.material import assistant, count, exchange, job, records, user

FRAME = count(render(Record()))
AMPLE = 1_000_000
TOWNS = ("Oslo", "Bergen", "Turku", "Gdynia")


def record_of(work: Job, answer: Record | None = None) -> Record:
    composed = None if answer is None else Composed(answer, 1, "tester")
    return draft(work, answer=composed).record(work.budget, work.count)[0]


def told(messages: list[Message], previous: Record | None = None, budget: int = AMPLE) -> Record:
    before = None if previous is None else Checkpoint(previous)
    return record_of(job(messages, previous=before, budget=budget))


ASKS = (
    "Make the retry of the upload configurable, with a default of 3.",
    "Why does the importer of invoices drop the last line?",
    "Never touch the schema of the ledger. The parser can change.",
    "My name is Marta Lindqvist and I look after the harbor.",
    "Bitte nur die Tests im Behälter tests/ändern anfassen.",
    "把重试次数改成三次并且写一个测试来证明它真的有效。",
    "yes",
    "Forget the retry. Rename the class Ledger to Journal instead.",
)
REPLIES = (
    "The retry is configurable now. The tests pass, and the default is 3.",
    "It dropped the line because the reader stopped at the first blank one.",
    "Shall I rename the column as well?",
    "We decided to use SQLite because it needs no server of its own.",
    "Das ist erledigt.",
    "测试已经通过，重试次数是三次。",
)
WORK = (
    lambda n: exchange("bash", f"{n} passed in 3s", command=f"pytest -q tests/part_{n}"),
    lambda n: exchange("bash", f"Exit code 1\nerror: no key {n}", command=f"deploy prod{n}"),
    lambda n: exchange("Edit", "ok", file_path=f"src/part_{n}.py", new_string=f"retries = {n}"),
    lambda n: exchange("Read", "x = 1", file_path=f"src/part_{n}.py"),
    lambda n: exchange("bash", f"[main 1a2b3c{n}] Part {n}", command=f"git commit -m {n}"),
)


@st.composite
def sessions(draw: st.DrawFn, most: int = 8) -> list[Message]:
    """Sessions of asks, work and replies in three languages."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, most))):
        messages.append(user(draw(st.sampled_from(ASKS))))
        for step in range(draw(st.integers(0, 4))):
            messages += draw(st.sampled_from(WORK))(turn * 10 + step)
        if draw(st.booleans()):
            messages.append(assistant(draw(st.sampled_from(REPLIES))))
    return messages


def bare(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum())


# What a record holds, and how much of it.


@given(sessions(), st.integers(0, 3_000) | st.integers(0, 1_000_000))
def test_a_record_never_weighs_more_than_its_budget(messages: list[Message], budget: int) -> None:
    record = told(messages, budget=budget)
    assert count(render(record)) <= max(budget, FRAME)


@given(sessions(), st.integers(FRAME + 1, 1_500))
def test_the_statements_that_it_reports_are_those_that_it_tells(
    messages: list[Message], budget: int
) -> None:
    record, chosen = draft(job(messages)).record(budget, count)
    written = bare(render(record))
    assert [each.text for each in chosen if bare(each.text) not in written] == []


@given(st.lists(st.text(max_size=300), max_size=8), st.integers(150, 900))
def test_any_language_makes_a_record_within_its_budget(said: list[str], budget: int) -> None:
    turns = [
        message
        for text in said
        for message in (user(text), assistant(text), *exchange("bash", text, command=text))
    ]
    record = told(turns, budget=budget)
    text = render(record)
    assert count(text) <= budget
    assert read(text) == record


@given(sessions(), st.integers(0, 2_000))
def test_the_same_turns_make_the_same_record(messages: list[Message], budget: int) -> None:
    assert told(messages, budget=budget) == told(list(messages), budget=budget)


@settings(max_examples=50)
@given(sessions())
def test_a_larger_budget_never_tells_less(messages: list[Message]) -> None:
    everything = draft(job(messages))
    told_at = [len(everything.record(budget, count)[1]) for budget in (200, 400, 800, 1_600, AMPLE)]
    assert told_at == sorted(told_at)
    assert told_at[-1] == len(everything.statements)


@settings(max_examples=50)
@given(sessions(), st.integers(FRAME, 900))
def test_nothing_is_cut_inside_a_word_or_a_name(messages: list[Message], budget: int) -> None:
    said = " ".join(
        part.text if hasattr(part, "text") else part.arguments  # type: ignore[union-attr]
        for message in messages
        for part in message.parts
    )
    words = set(re.findall(r"[\w./-]+", said))
    for _, entries in told(messages, budget=budget).sections():
        for entry in entries:
            for line in entry.split("\n"):
                ends = re.search(r"([\w./-]+)…", line)
                assert ends is None or ends[1] in words or not ends[1].isascii()


@pytest.mark.parametrize("factor", [1.1, 1.5, 2, 3, 6])
def test_words_that_weigh_more_together_than_apart_still_make_a_record(factor: float) -> None:
    def heavier(text: str) -> int:
        return int(count(text) * (factor if text.startswith("## ") else 1))

    said = [user(f"My {name} is in room {number}.") for number, name in enumerate(TOWNS * 8)]
    frame = heavier(render(Record()))
    record, _ = draft(job(said)).record(frame + 60, heavier)
    assert record
    assert heavier(render(record)) <= frame + 60


def test_a_long_message_is_cut_between_words_and_names() -> None:
    address = "https://example.org/" + "a" * 700
    record = told([user("word " * 200 + address), assistant("Shall I?")], budget=600)
    for _, entries in record.sections():
        for entry in entries:
            assert "aaa" not in entry or address in entry
            assert not re.search(r"\bwor?…", entry)


def test_every_section_is_made_from_what_happened() -> None:
    record = told(
        [
            user("Set up the billing service for the mill. Never touch the schema."),
            *exchange("Read", "x = 1", file_path="src/billing.py"),
            assistant("We decided to use SQLite because it needs no server of its own."),
            *exchange("Edit", "ok", file_path="src/billing.py", new_string="def charge(): ..."),
            *exchange("bash", "Exit code 1\nFAIL: test_charge", command="cd /work && make test"),
            assistant("The billing service is set up."),
            user("How long does a charge take in the worst case?"),
            assistant("Two seconds at the worst."),
            user("Now make the retry policy configurable, default 3"),
            *exchange("Edit", "ok", file_path="src/retry.py", new_string="retries = 3"),
        ]
    )
    assert record.task == ("Now make the retry policy configurable, default 3",)
    assert "billing service" in record.goal[0]
    assert record.constraints == ("Never touch the schema.",)
    assert [number_of(entry) for entry in record.actions] == [1, 2, 3]
    assert "Assistant: The billing service is set up." in record.actions[0]
    assert "Directory: /work" in record.state
    assert any("FAIL: test_charge" in entry for entry in record.blocked)
    decided = "We decided to use SQLite because it needs no server of its own. (see 1)"
    assert record.decisions == (decided,)
    assert "Assistant: Two seconds at the worst." in record.actions[1]
    assert [entry.partition(" - ")[0] for entry in record.files] == [
        "src/billing.py",
        "src/retry.py",
    ]
    assert "src/retry.py" in " ".join(record.in_progress)


def test_files_stand_in_the_order_of_the_work_and_stay_changed_when_they_are_read_again() -> None:
    paths = [f"src/part{number}.py" for number in range(4)]
    edits = [
        exchange("Edit", "ok", file_path=path, old_string="x = 1", new_string="x = 2")
        for path in paths
    ]
    first = told([user("Change the parts."), *edits[0], *edits[1], *edits[2], assistant("Done.")])
    again = exchange("Read", "x = 2", file_path=paths[0])
    second = told([user("Look at part 0 and change part 3."), *again, *edits[3]], first)
    third = told([user("Thank you."), assistant("You are welcome.")], second)
    assert second.files == third.files == tuple(f"{paths[at]} - changed" for at in (1, 2, 0, 3))


def test_chinese_turns_fill_the_sections() -> None:
    turns = [
        user("请修复登录页面并且写一个测试来证明它真的有效。不要修改数据库结构。"),
        *exchange("bash", "12 passed", command="pytest"),
        assistant("登录页面已经修复了，测试也通过了，一共十二个。"),
        user("把重试次数改成三次, 并且写一个测试来证明它真的有效, 然后告诉我结果是什么"),
    ]
    record = told(turns)
    assert record.task == (turns[-1].text,)
    assert record.goal[0].startswith("Began with: 请修复登录页面")
    assert record.constraints == ("不要修改数据库结构。",)
    assert "登录页面已经修复了" in record.actions[0]
    assert record.pending == ()


def test_no_secret_stands_in_a_record() -> None:
    secret = "hunter2hunter2"
    turns = [
        user(f"the password is {secret}, never print {secret}"),
        assistant(f"we decided on {secret} because of {secret} and nothing else"),
        *exchange("bash", f"error: {secret} refused", command="x " * 80 + secret, failed=True),
        *exchange("Read", "x", file_path=f"/tmp/{secret}"),
        *exchange("Edit", "ok", file_path="a.py", new_string=f"key = '{secret}'"),
        *exchange("Edit", "ok", file_path="b.py", old_string=f"key = '{secret}'", new_string=""),
        *exchange("exec_command", "ok", cmd="ls", workdir=f"/srv/{secret}"),
        *exchange("my_tool", secret, token=secret),
        assistant("done"),
    ]
    masked = job(turns, redact=lambda text: text.replace(secret, "[REDACTED]"), budget=AMPLE)
    found = draft(masked)
    assert not [each for each in found.statements if "hunter2" in each.text]
    assert "[REDACTED]" in render(found.record(AMPLE, count)[0])


def test_a_key_that_a_cut_would_halve_is_masked_whole() -> None:
    key = "sk-ant-api03-" + "A1b2C3d4" * 12
    for size in range(0, 2_400, 97):
        turns = [
            user("Log in to the ledger with the key that is in the file"),
            *exchange("bash", f"{'x ' * size}{key}", command=f"{'y ' * size}{key}"),
        ]
        text = render(record_of(job(turns, redact=redact, budget=AMPLE)))
        assert "A1b2C3d4A1b2" not in text


# The task and what is open.


def test_a_goal_says_what_its_first_words_announce() -> None:
    place = "I have put all sources of the harbor, with their many tests, on this machine for you."
    opened = f"{place} Consider the following issue:\n\nThe tide is late."
    (goal,) = told([user(opened), assistant("It was the clock.")]).goal
    assert goal.endswith("Consider the following issue: The tide is late.")


def test_a_patch_that_was_handed_in_is_nobodys_task() -> None:
    ran = assistant("The tide is on time, I hand it in.\n\n```bash\ngit diff --cached\n```")
    record = told([user("Mend the tide."), ran, user("diff --git a/t.py b/t.py\n+high = 3")])
    assert (record.task, record.goal) == ((), ("Mend the tide.",))


def test_a_short_input_keeps_what_it_was_said_to() -> None:
    turns = [user("Clean the cache of the build"), assistant("Shall I delete it?"), user("yes")]
    task, *note = told(turns).task
    assert task == "yes"
    assert "Shall I delete it?" in " ".join(note)
    assert told([user("yes")]).task == ("yes",)
    assert "Shall I?" in " ".join(told([assistant("Shall I?"), user("yes")]).task[1:])


def test_an_approval_after_the_folded_turns_is_not_given_to_a_folded_proposal() -> None:
    folded = [user("Clean up the disk of the server"), assistant("Shall I delete the logs?")]
    after = [user("no"), assistant("Shall I buy a larger disk?"), user("yes")]
    work = replace(job(folded, budget=AMPLE), task="yes", context=(*folded, *after))
    task = " ".join(record_of(work).task)
    assert "larger disk" in task
    assert "delete the logs" not in task


def test_a_task_that_was_answered_is_no_task() -> None:
    turns = [user("Rename the class Ledger to Journal"), assistant("Ledger is Journal now.")]
    assert told(turns).task == ()
    assert "Ledger is Journal now." in told(turns).actions[0]


def test_a_reply_that_ends_with_a_question_is_not_told_as_being_worked_on() -> None:
    work = exchange("Edit", "ok", file_path="notes.md", old_string="a", new_string="b")
    offer = assistant("The release notes are in notes.md now. Shall I tag the release as well?")
    found = draft(job([user("Write the release notes, please."), *work, offer], budget=AMPLE))
    (state,) = found.record(AMPLE, count)[0].in_progress
    assert state == (
        'The newest request has a reply, in which the assistant asked: "Shall I tag the release as'
        ' well?"'
    )
    again = told([user("yes"), *work], previous=found.record(AMPLE, count)[0])
    assert "Then under way" not in " ".join(again.actions)


def test_asks_without_an_answer_are_open_and_answered_ones_are_not() -> None:
    waiting = told([user("Rename the class Ledger"), user("Then stop and fix the parser")])
    unfinished = (*waiting.pending, *waiting.in_progress)
    assert any("Rename the class Ledger" in entry for entry in unfinished)
    answered = told(
        [user("Rename the class Ledger"), user("And the file"), assistant("Both are renamed.")]
    )
    assert answered.pending == ()


def test_an_ask_whose_answer_stays_in_the_window_is_not_pending() -> None:
    folded = [user("Ship the first part of it"), *exchange("bash", "ok", command="make first")]
    after = [assistant("The first part is shipped."), user("Ship the second part of it")]
    work = replace(job(folded, budget=AMPLE), context=(*folded, *after), task=after[-1].text)
    record = record_of(work)
    assert record.pending == ()
    assert record.task[0] == "Ship the second part of it"


def test_old_pending_asks_go_once_they_were_answered() -> None:
    before = Record(pending=('"Rename the class Ledger to Journal"',))
    went_on = [
        user("And?"),
        assistant("Done: the class Ledger is now Journal."),
        user("Now ship it to everybody"),
    ]
    assert told(went_on, before).pending == ()
    assert told([user("Now ship it, please")], before).pending == before.pending


def test_a_plan_is_told_by_what_is_left_and_a_finished_one_leaves_nothing() -> None:
    before = Checkpoint(Record(remaining=("write the tests of the parser",)))
    open_plan = replace(
        job([user("Go on with the plan")], previous=before),
        plan=(PlanItem("one", "completed"), PlanItem("two", "pending")),
    )
    assert "1 of 2" in " ".join(record_of(open_plan).remaining)
    done = replace(open_plan, plan=(PlanItem("one", "completed"),))
    assert record_of(done).remaining == ()


def test_a_plan_that_nobody_wrote_on_is_told_with_its_age() -> None:
    turns = [user("Plan it"), *exchange("TodoWrite", "ok", todos=[]), assistant("Planned.")]
    later = [
        message
        for n in range(4)
        for message in (user(f"Paint pier {n}"), assistant(f"Pier {n} is blue."))
    ]
    for said, age in ((turns, ""), ([*turns, *later], "4 turns were concluded since")):
        known = replace(job(said, budget=AMPLE), plan=(PlanItem("one", "pending"),))
        (line,) = record_of(known).remaining
        assert line.startswith("1 of 1 plan items are not done")
        assert age in line
        assert ("concluded" in line) == bool(age)


def test_failed_work_that_later_succeeded_is_not_blocked() -> None:
    failed = exchange("bash", "Exit code 1\nFAIL: test_charge", command="make test")
    passed = exchange("bash", "12 passed", command="make test")
    ask = user("Mend the charges of the billing service")
    first = told([ask, *failed])
    assert len(first.blocked) == 1
    assert told([ask, *failed, *passed]).blocked == ()
    assert told([user("Go on with it, please"), *passed], first).blocked == ()
    assert told([user("Go on with it, please")], first).blocked == first.blocked


def test_a_file_that_was_given_up_since_the_record_before_is_no_file_of_it() -> None:
    def edit(path: str) -> list[Message]:
        return exchange("Edit", "ok", file_path=path, old_string="a", new_string="b")

    ask = user("Mend the charges of the billing service")
    first = told([ask, *edit("/work/try.py"), *edit("/work/src/mill.py"), *edit("/work/sail.py")])
    undo = exchange("bash", "", command="cd /work && rm try.py && git checkout src/mill.py")
    after = told([user("Go on with it, please"), *undo], first)
    assert after.files == ("/work/sail.py - changed",)
    again = told([user("Go on with it, please"), *undo, *edit("/work/try.py")], first)
    assert set(again.files) == {"/work/sail.py - changed", "/work/try.py - changed"}


def test_what_a_turn_left_behind_when_it_went_on_blocks_nobody() -> None:
    failed = exchange("bash", "Exit code 1\nerror: no such option", command="npx tsc --all")
    passed = exchange("bash", "exit status 0", command="npm run build")
    ask, done = user("Mend the types of the mill"), assistant("The types of the mill are mended.")
    then = user("Now look at the sails of the mill")
    assert told([ask, *failed, *passed, done, then]).blocked == ()
    assert len(told([ask, *failed, *passed]).blocked) == 1
    assert len(told([ask, *passed, *failed, done, then]).blocked) == 1
    assert len(told([ask, *failed, then, *passed]).blocked) == 1
    assert told([ask, *failed, then, *passed, done]).blocked == ()


def test_a_check_of_other_files_leaves_no_failed_check_behind() -> None:
    failed = exchange("bash", "Exit code 1\n1 failed", command="pytest tests/test_keel.py")
    other = exchange("bash", "3 passed", command="pytest tests/test_sail.py")
    whole = exchange("bash", "9 passed", command="pytest -q")
    piped = exchange("bash", "1 failed, 8 passed", command="pytest -q | tail -1")
    ask, done = user("Mend the sails of the boat"), assistant("The sails hold; the keel fails.")
    first = told([ask, *failed, *other, done, user("Now look at the mast of the boat")])
    assert len(first.blocked) == 1
    then = user("Go on with it, please")
    assert told([then, *other], first).blocked == first.blocked
    assert first.blocked[0] in told([then, *piped], first).blocked
    assert told([then, *whole], first).blocked == ()


def test_a_failed_check_of_many_files_is_known_again_where_its_command_was_cut() -> None:
    files = " ".join(f"tests/unit/boat/test_plank_{number}.py" for number in range(9))
    failed = exchange("bash", "Exit code 1\n1 failed", command=f"pytest {files}")
    passed = exchange("bash", "9 passed", command=f"pytest {files} -q")
    first = told([user("Mend the planks of the boat"), *failed])
    assert "…" in first.blocked[0]
    assert told([user("Go on with it, please"), *passed], first).blocked == ()


def test_what_blocked_before_is_resolved_by_another_attempt_with_other_options() -> None:
    ask = user("Mend the charges of the billing service")
    first = told([ask, *exchange("bash", "Exit code 1\nFAIL: a", command="make -j4 test")])
    passed = exchange("bash", "12 passed", command="make -j1 test")
    assert len(first.blocked) == 1
    assert told([user("Go on with it, please"), *passed], first).blocked == ()


def test_an_agent_without_tool_calls_has_files_and_outcomes() -> None:
    turns = [
        user("Fix the parser so that it keeps the last token of a line"),
        assistant("THOUGHT: edit\n```bash\nsed -i 's/a/b/' src/parser.py\n```"),
        user("<returncode>0</returncode>\n<output>\n</output>"),
        assistant("```bash\npytest\n```"),
        user("<returncode>0</returncode>\n<output>\n3 passed in 1s\n</output>"),
    ]
    record = told(turns)
    assert record.files == ("src/parser.py - changed",)
    (entry,) = record.actions
    assert "sed -i" in entry
    assert "3 passed in 1s" in entry
    assert entry.startswith('1. User: "Fix the parser')


def test_old_calls_are_counted_and_tools_can_be_registered() -> None:
    runs = (exchange("my_runner", "ok", command=f"step {i}") for i in range(900))
    turns = [user("Do all of the steps"), *(message for run in runs for message in run)]
    toolkit = Toolkit({"my_runner": Family.SHELL})
    record = draft(job(turns, budget=24_000), toolkit).record(24_000, count)[0]
    assert "earlier calls" in record.actions[0]
    assert "RAN" in record.actions[0]
    assert "step 899" in record.actions[0]


# Updates: one record, carried on.


def test_ten_updates_keep_one_record_with_numbers_continued() -> None:
    previous, record = None, Record()
    for number in range(10):
        turns = [user(f"Do part {number} of the long plan that we made together")]
        for step in range(30):
            turns += exchange("bash", "ok", command=f"make part{number} step{step}")
        turns.append(assistant(f"Part {number} of the long plan is done."))
        record = record_of(job(turns, previous=previous, budget=1_500))
        text = render_checkpoint(Checkpoint(record))
        assert count(text) <= 1_500
        assert text.count("## Completed Actions") == 1
        assert last_number(record.actions) == number + 1
        numbers = [number_of(entry) for entry in record.actions]
        assert numbers == sorted(set(numbers))
        previous = read_checkpoint(text)
        assert previous == Checkpoint(record)
    assert record.goal == ("Began with: Do part 0 of the long plan that we made together",)
    assert [number_of(entry) for entry in record.actions] == list(range(1, 11))


def test_an_update_with_nothing_said_keeps_the_task_and_the_goal() -> None:
    before = Record(task=("Fix the upload of large files",), goal=("Ship the mill in May",))
    record = told(exchange("bash", "ok", command="ls"), before)
    assert (record.task, record.goal) == (before.task, before.goal)


def test_a_long_task_that_was_shortened_is_told_once_when_it_is_done() -> None:
    words = f"Paint the boat {'and the oars and the mast and the keel and the ropes ' * 20}blue."
    before = Record(task=("Paint the boat and the oars and the mast… (and more, below)",))
    record = told([user(words), assistant("The boat is blue."), user("Thanks")], before)
    assert sum("Paint the boat" in entry for entry in record.actions) == 1
    other = Record(task=("Count the oars and the ropes… (and more, below)",))
    record = told([user(words), assistant("The boat is blue."), user("Thanks")], other)
    assert sum("Count the oars" in entry for entry in record.actions) == 1


def test_who_the_user_is_and_what_must_not_be_done_survive_many_folds() -> None:
    name, rule = "My name is Marta Lindqvist.", "Never open the sluice without asking me first."
    record = told(
        [
            user(f"{name} I look after the harbor of Aalsund, and this is about its gates."),
            assistant("Hello Marta."),
            user(f"Here is how we work on it together. {rule} The rest is up to you."),
            assistant("Understood."),
        ],
        budget=900,
    )
    for number in range(12):
        turns = [user(f"Now look at gate number {number} and tell me what you think of it")]
        for step in range(6):
            turns += exchange("bash", f"gate {number} is at {step}", command=f"gate {number}{step}")
        turns.append(assistant(f"Gate {number} looks sound to me, though its hinge is old."))
        record = told(turns, record, budget=900)
        text = render(record)
        assert "Marta Lindqvist" in text, number
        assert rule in text, number


def test_a_rule_that_was_taken_back_goes() -> None:
    first = told([user("Never push to the main branch of the ledger."), assistant("Understood.")])
    assert first.constraints == ("Never push to the main branch of the ledger.",)
    lifted = [
        user("You can push to the main branch of the ledger again, forget that rule."),
        assistant("Good, I will push to it."),
    ]
    assert told(lifted, first).constraints == ()


def test_a_second_rule_of_the_same_kind_does_not_replace_the_first() -> None:
    rules = ("Never open port 8080 of the ledger.", "Never open port 9090 of the ledger.")
    record = told(
        [
            user(f"Here is how we work on it together. {rules[0]}"),
            assistant("Understood."),
            user(f"One more thing that you should know. {rules[1]}"),
            assistant("Understood."),
        ]
    )
    assert record.constraints == rules


def test_a_value_that_was_corrected_is_told_as_it_is_now() -> None:
    words = "My budget for the trip to Aalsund is {} euros."
    first = told([user(words.format(900)), assistant("Good.")])
    assert "900 euros" in render(first)
    after = told([user(words.format(700)), assistant("Good.")], first)
    now = " ".join((*after.critical, *after.constraints))
    assert "700 euros" in now
    assert "900 euros" not in now


ATTACHED = [
    ("Don't push until I say so.", "Pushing is fine now, push the branch."),
    (
        "Always run the whole suite before a commit.",
        "You can go back to running the touched suite.",
    ),
    ("The importer must also accept XLSX.", "Actually no, forget XLSX."),
]


@pytest.mark.parametrize(("rule", "words"), ATTACHED)
def test_a_rule_is_told_with_words_that_may_lift_or_drop_it(rule: str, words: str) -> None:
    (entry,) = later(rule, words).constraints
    assert entry.startswith(rule)
    assert words in entry


def test_never_mind_is_no_rule() -> None:
    record = told([user("never mind the boat, Marta does that"), assistant("Good.")])
    assert record.constraints == ()


LIFTED = [
    ("Never touch src/legacy.py.", "You may touch src/legacy.py now."),
    ("Do not change the login page.", "The rule about the login page no longer applies."),
    ("Fass src/alt.py niemals an.", "Du darfst src/alt.py jetzt ändern."),
    ("不要修改登录页面。", "现在可以修改登录页面了。"),
]
SIMILAR = [
    ("Never push to main.", "You may push to staging now."),
    ("Never deploy on Fridays.", "You may deploy the docs now."),
    ("Never deploy.", "You may deploy the docs now."),
    ("Never touch the login page.", "Never mind the login page."),
    ("Never touch the login page.", "You may read the login page now."),
    ("Never touch src/legacy.py.", "You may touch src/legacy.js now."),
    ("Never use v1 of the API.", "You may use v2 of the API now."),
    ("Never copy data from prod to dev.", "You may copy data from dev to prod now."),
    ("Do not delete anything in the backup folder.", "You can delete the temp folder now."),
    (
        "Rules: never touch src/legacy.py, and never push to main.",
        "You may touch src/legacy.py now.",
    ),
    ("Fass src/alt.py niemals an.", "Du darfst src/neu.py jetzt anfassen."),
    ("不要修改登录页面。", "现在可以修改支付页面了。"),
]


def later(first: str, then: str, budget: int = AMPLE) -> Record:
    """Return the record after two folds, in each of which a user says one thing."""
    before = told([user("Migrate the harbor."), assistant("Yes."), user(first), assistant("OK.")])
    return told([user(f"Go on. {then}"), assistant("The next part is done.")], before, budget)


@pytest.mark.parametrize(("rule", "lifting"), LIFTED)
def test_a_rule_goes_when_words_lift_it_that_name_what_it_is_about(rule: str, lifting: str) -> None:
    assert later(rule, lifting).constraints == ()


@pytest.mark.parametrize(("rule", "words"), SIMILAR)
def test_a_rule_stays_when_words_permit_something_else(rule: str, words: str) -> None:
    record = later(rule, words)
    assert any(entry.startswith(rule) for entry in record.constraints)
    assert words in render(record)


def test_a_rule_that_is_lifted_in_part_is_told_with_the_words_that_lift_it() -> None:
    both = "Never touch src/legacy.py, and never push to main."
    lifting = "You may touch src/legacy.py now."
    turns = [user(f"Begin. {both}"), assistant("OK."), user(f"Go on. {lifting}"), assistant("OK.")]
    record = told(turns)
    assert record.constraints == (f"{both} {lifting}",)
    for number in range(3):
        record = told([user(f"Look at gate {number}."), assistant("It is sound.")], record)
        assert record.constraints == (f"{both} {lifting}",)


CORRECTED = [
    (
        "The production database is called orion-7 and listens on 5499.",
        "Correction: the production database listens on 5501.",
    ),
    (
        "Turn 3. The bucket is called kilo and has 9 files.",
        "Turn 20. Correction: the bucket is called lima.",
    ),
    ("The deadline is May 4.", "The deadline has moved to May 11."),
    ("Always use tabs in new files.", "Use spaces instead of tabs from now on."),
    ("The port of the relay is 8080, its name is kilo.", "The port of the relay is 9090."),
    (
        "Die Datenbank heißt orion-7 und hört auf Port 5499.",
        "Korrektur: Die Datenbank hört auf Port 5501.",
    ),
    ("生产数据库叫做 orion-7，监听端口5499。", "更正：生产数据库监听端口5501。"),
]


@pytest.mark.parametrize(("words", "correction"), CORRECTED)
def test_what_was_corrected_is_told_only_with_its_correction(words: str, correction: str) -> None:
    at_once = told([user(words), assistant("OK."), user(correction), assistant("OK.")])
    for record in (at_once, later(words, correction), told([user("Go on.")], at_once)):
        entries = (*record.constraints, *record.critical)
        told_together = [entry for entry in entries if words in entry]
        assert [entry.endswith(correction) for entry in told_together] == [True], entries
    for budget in range(150, 600, 15):
        text = render(later(words, correction, budget))
        assert words not in text or correction in text, budget


REPLACED = [
    ("The staging host is kilo-3.", "Sorry, I was wrong: the staging host is lima-4."),
    ("Der Port vom Relay ist 8080.", "Korrektur: der Port vom Relay ist 9090."),
    ("数据库端口是5499。", "更正：数据库端口是5501。"),
]


@pytest.mark.parametrize(("words", "correction"), REPLACED)
def test_a_value_that_was_all_that_was_said_gives_way_to_its_correction(
    words: str, correction: str
) -> None:
    assert later(words, correction).critical == (correction,)


def test_a_value_of_something_alike_stays() -> None:
    first, then = "The port of gauge v1 is 8080.", "The port of gauge v2 is 9090."
    assert later(first, then).critical == (first, then)


def test_a_correction_is_kept_when_it_is_corrected_again() -> None:
    first, then = CORRECTED[0]
    last = then.replace("5501", "5502")
    record = told([user(f"{last} Go on."), assistant("Done.")], later(first, then))
    assert " ".join(record.critical[0].split()) == f"{first} {then} {last}"


def test_a_rule_that_is_set_again_after_it_was_lifted_stands() -> None:
    rule, lifting = LIFTED[0]
    record = told([user(f"{rule} Go on."), assistant("Done.")], later(rule, lifting))
    assert record.constraints == (rule,)


def filled(section: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Entries that a record can have, each of them different from the others."""
    topics = ("parser", "upload", "invoice", "harbor", "schema", "journal", "sluice")
    forms = {
        "state": lambda topic: f"Branch: fix/{topic}",
        "files": lambda topic: f"src/{topic}.py - changed",
        "blocked": lambda topic: f'deploy {topic} - "error: the {topic} has no key"',
        "actions": lambda topic: f'User: "Mend the {topic}"\nAssistant: The {topic} is mended.',
    }
    form = forms.get(section, lambda topic: f"The {topic} was settled with Marta in {section}.")
    most = 1 if section == "state" else 3
    return st.lists(st.sampled_from(topics), max_size=most, unique=True).map(
        lambda found: tuple(map(form, found))
    )


@given(st.builds(Record, **{name: filled(name) for name in HEADINGS}))
def test_with_ample_room_every_statement_of_the_record_before_is_kept(before: Record) -> None:
    turns = [
        user("What does the weather look like tomorrow morning in Aalsund?"),
        assistant("It will rain a little in the morning."),
    ]
    written = bare(render(told(turns, before)))
    for name, entries in before.sections():
        for entry in entries:
            for line in entry.split("\n"):
                words = line.partition(". ")[2] if number_of(line) else line
                assert bare(words) in written, (name, entry)


@given(st.builds(Record, **{name: filled(name) for name in HEADINGS}))
def test_with_ample_room_and_nothing_new_each_section_stays_as_it_was(before: Record) -> None:
    after = told([], before)
    for name in ("task", "goal", "constraints", "decisions", "critical", "state"):
        assert getattr(after, name) == getattr(before, name), name
    for name in ("actions", "blocked", "resolved", "pending", "files", "remaining"):
        assert set(getattr(before, name)) <= set(getattr(after, name)), name


@given(sessions(4), sessions(4))
def test_numbers_only_rise_from_fold_to_fold(first: list[Message], then: list[Message]) -> None:
    before = told(first)
    after = told(then, before)
    numbers = [number_of(entry) for entry in after.actions]
    assert numbers == sorted(set(numbers))
    assert set(range(1, last_number(before.actions) + 1)) <= set(numbers)


@pytest.mark.parametrize("section", ["in_progress", "state", "task"])
def test_an_action_keeps_its_number_whatever_becomes_history(section: str) -> None:
    before = replace(
        Record(actions=("1. RAN make - exit 0", "2. RAN make lint - exit 0")),
        **{section: ("Mending the upload of large files",)},
    )
    turns = [user("Ship the mill to everybody in May"), assistant("The mill is shipped.")]
    after = told(turns, before)
    assert set(before.actions) <= set(after.actions)
    (newest,) = [entry for entry in after.actions if "The mill is shipped." in entry]
    assert number_of(newest) == last_number(after.actions) > 2


def test_names_of_an_earlier_ledger_do_not_become_a_section() -> None:
    evidence = "- moved it to src/mill/parser.py because of the cycle\n- ran make deploy_ledger"
    before = Checkpoint(Record(goal=("Ship the mill in May",)), evidence=evidence)
    found = draft(job([user("Go on with the parser, please")], previous=before))
    record, chosen = found.record(AMPLE, count)
    assert "deploy_ledger" not in render(record)
    assert not [each for each in chosen if each.section not in HEADINGS]
    assert any("deploy_ledger" in each.text for each in found.told())


# What a model wrote.

FACTS = (
    "The retry of the upload is configurable with 3 attempts.",
    "Never touch the schema of the ledger.",
    "src/upload.py was changed, and 12 tests pass.",
)
GERMAN = (
    "Die Wiederholung des Uploads ist einstellbar, mit 3 Versuchen.",
    "Das Schema des Hauptbuchs darf nie angefasst werden.",
    "src/upload.py wurde geändert, und 12 Tests laufen durch.",
)
CHINESE = (
    "上传的重试次数现在可以配置为三次。",
    "永远不要修改账本的数据库结构。",
    "共有十二个测试通过。",
)
FORMS = {
    "thirteen headings": render(
        Record(goal=FACTS[:1], constraints=FACTS[1:2], actions=(f"1. {FACTS[2]}",))
    ),
    "other headings": f"# Summary\n\n## Overview\n{FACTS[0]}\n\n## Weather\n{FACTS[1]}\n\n"
    f"## Next steps\n- {FACTS[2]}",
    "bold headings": f"**What was done:**\n{FACTS[0]}\n\n**Rules**\n- {FACTS[1]}\n\n{FACTS[2]}",
    "numbered list": "\n".join(f"{at}. {fact}" for at, fact in enumerate(FACTS, 1)),
    "prose": " ".join(FACTS),
    "paragraphs": "\n\n".join(FACTS),
    "German": f"## Ziel\n{GERMAN[0]}\n\n## Regeln\n- {GERMAN[1]}\n\n## Stand\n{GERMAN[2]}",
    "Chinese": f"## 目标\n{CHINESE[0]}\n\n## 规则\n- {CHINESE[1]}\n\n{CHINESE[2]}",
    "in tags": f"<summary>\n## Goal\n{FACTS[0]}\n\n## Rules\n{FACTS[1]}\n\n{FACTS[2]}\n</summary>",
    "in a fence": f"```markdown\n# Summary\n{FACTS[0]}\n\n- {FACTS[1]}\n- {FACTS[2]}\n```",
    "in a fence with our headings": f"```\n## Goal\n- {FACTS[0]}\n## Blocked\n- {FACTS[1]}\n"
    f"## Active State\n- {FACTS[2]}\n```",
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_model_wrote_in_any_form_is_told_whole_where_it_fits(form: str) -> None:
    answer = read(FORMS[form])
    assert answer is not None
    turns = [
        user("Make the retry of the upload configurable for me"),
        *exchange("bash", "12 passed", command="pytest"),
        assistant("It is configurable now."),
    ]
    written = bare(render(record_of(job(turns, budget=3_000), answer)))
    facts = {"German": GERMAN, "Chinese": CHINESE}.get(form, FACTS)
    assert [fact for fact in facts if bare(fact) not in written] == []


@given(records())
def test_a_models_record_is_told_whole_where_it_fits(answer: Record) -> None:
    turns = [user("Mend the parser of the mill"), assistant("The parser is mended.")]
    after = record_of(job(turns, budget=AMPLE), answer)
    for name, entries in answer.sections():
        if name != "task":
            written = bare(" ".join(getattr(after, name)))
            assert [entry for entry in entries if bare(entry) not in written] == [], name


@given(records(), sessions(4), st.integers(0, 2_000))
def test_a_models_record_beside_the_turns_never_weighs_more_than_its_budget(
    answer: Record, messages: list[Message], budget: int
) -> None:
    record = record_of(job(messages, budget=budget), answer)
    assert count(render(record)) <= max(budget, FRAME)


def test_what_the_turns_show_for_certain_stands_beside_what_a_model_wrote() -> None:
    turns = [
        user("Mend the upload of large files, please"),
        *exchange("bash", "Exit code 1\nerror: no key for prod", command="cd /work && deploy prod"),
        *exchange("Edit", "ok", file_path="src/upload.py", new_string="retries = 3"),
    ]
    record = record_of(job(turns, budget=3_000), Record(goal=("Mend the upload.",)))
    assert "Directory: /work" in record.state
    assert any("no key for prod" in entry for entry in record.blocked)
    assert any("src/upload.py" in entry for entry in record.files)
    assert record.task == ("Mend the upload of large files, please",)


# A focus.


def test_a_short_input_keeps_the_point_that_it_named() -> None:
    put = assistant("1. **Tide first** - count the boats.\n2. Harbor first.\n\nWhich order?")
    work = exchange("bash", "ok", command="make tide")
    record = told([user("Plan the survey of the harbor"), put, user("1"), *work])
    assert record.task == (
        "1",
        "(said after the assistant wrote: 1) Tide first; Which order?)",
    )


def test_a_focus_gets_its_topic_told_where_room_is_short() -> None:
    turns: list[Message] = []
    for number in range(60):
        topic = "database schema" if number == 5 else f"page {number} of the site"
        turns += [
            user(f"Please have a look at the {topic} and mend it"),
            *exchange("bash", "ok", command=f"make part{number}"),
            assistant(f"The {topic} is mended, with {number} lines changed."),
        ]
    plain = job(turns, budget=500)
    focused = replace(plain, focus="database schema")
    assert "database schema" not in render(record_of(plain))
    assert "The database schema is mended, with 5 lines changed." in render(record_of(focused))


# How long it takes.


def test_megabytes_take_no_longer_than_their_share() -> None:
    output = "\n".join(
        f"line {index} of the output of src/module_{index}.py" for index in range(40)
    )

    def seconds(size: int) -> float:
        """Return the processor's time for so many turns, the best of three."""
        runs = (exchange("bash", f"{output}{i}", command=f"run {i}") for i in range(size))
        work = job([message for run in runs for message in run], budget=8_000)
        times: list[float] = []
        for _ in range(3):
            started = time.process_time()
            record_of(work)
            times.append(time.process_time() - started)
        return min(times)

    # Work that grows with the square would take up to sixty-four times as long.
    assert seconds(2_400) < 10 * seconds(300)


def test_a_long_conversation_takes_no_longer_than_its_share() -> None:
    def seconds(size: int) -> float:
        turns: list[Message] = []
        for number in range(size):
            turns += [
                user(f"Never use tool number {number} of the box. What is in box {number}?"),
                assistant(f"There are {number} things. We decided on {number} because of it."),
            ]
        work, taken = job(turns, budget=4_000), list[float]()
        for _ in range(3):
            started = time.process_time()
            record_of(work)
            taken.append(time.process_time() - started)
        return min(taken)

    # Rules are held against each other; work that grows with the square takes 64 times as long.
    assert seconds(1_600) < 24 * max(seconds(200), 0.02)


# A record that is too long.


def wide() -> st.SearchStrategy[Record]:
    entries = st.lists(st.text(max_size=400), max_size=12).map(tuple)
    return st.builds(Record, **dict.fromkeys(HEADINGS, entries))


@given(wide() | records(), st.integers(FRAME, FRAME + 900))
def test_a_trimmed_record_fits_its_budget(record: Record, budget: int) -> None:
    assert count(render(trim(record, budget, count))) <= budget


@given(records())
def test_a_record_that_fits_is_left_alone(record: Record) -> None:
    assert trim(record, count(render(record)), count) is record


def test_a_counter_that_does_not_add_up_changes_nothing_about_the_promise() -> None:
    def odd(text: str) -> int:
        return count(text) + len(text) // 300 * 40

    record = Record(decisions=tuple(f"we chose number {index}" for index in range(200)))
    for budget in range(odd(render(Record())), 900, 50):
        assert odd(render(trim(record, budget, odd))) <= budget
    assert trim(record, 900, odd).decisions[-1] == "we chose number 199"


def test_a_trimmed_record_keeps_the_task_and_the_newest_actions() -> None:
    record = Record(
        task=("fix the login",),
        actions=tuple(f"RAN step {index} - exit 0" for index in range(3_000)),
        critical=("x" * 50_000,),
    )
    cut = trim(record, 1_000, count)
    assert cut.task == ("fix the login",)
    assert cut.actions[-1] == "3000. RAN step 2999 - exit 0"
    assert 500 < count(render(cut)) <= 1_000


def test_the_headings_alone_are_the_least_a_record_can_weigh() -> None:
    assert trim(Record(goal=("g" * 100,)), 5, count) == Record()


def test_an_action_is_never_cut_through_its_number() -> None:
    record = Record(actions=("123456. RAN a", "123457. RAN " + "x " * 2_000))
    for budget in range(FRAME, FRAME + 60):
        actions = trim(record, budget, count).actions
        assert {number_of(entry) for entry in actions} <= {123456, 123457}


def test_words_that_were_sent_again_are_told_once() -> None:
    ask = "Please add logging to the importer of invoices."
    record = told([user(ask), user(f"{ask} And to the exporter."), assistant("Both log now.")])
    assert len(record.actions) == 1
    (twice,) = told([user(ask), user(ask)]).actions
    assert twice.count(ask) == 1
    turns = [user(ask), assistant("Which one?"), user(ask), assistant("Done.")]
    assert len(told(turns).actions) == 2


def test_a_plan_that_becomes_a_request_is_told_as_the_request() -> None:
    plan = "# Count the boats\n\n1. Add `berths` to the harbor table.\n2. Run `make tide`."
    planned = [user("How would you count boats?"), *exchange("ExitPlanMode", "Wait.", plan=plan)]
    alone = told(planned)
    assert "Plan: 1. Add `berths`" in alone.actions[0]
    asked = [*planned, user(f"Implement the following plan:\n\n{plan}"), assistant("Done.")]
    first, second = told(asked).actions
    assert 'PLANNED Count the boats - "Wait."' in first
    assert "berths" not in first
    assert "berths" in second


def test_a_turn_that_goes_on_from_fold_to_fold_is_told_under_one_number() -> None:
    ask = user("Rename decode_batch to decode_all everywhere.")
    begun = [user("Hello"), assistant("Hello, what is to be done?"), ask]
    work = [
        exchange("Edit", "ok", file_path=f"src/part{n}.py", old_string="a", new_string="b")
        for n in range(2)
    ]
    record = told([*begun, *work[0]])
    decided = assistant("We keep the old name in api.py, because clients still call it.")
    more = [ask, *work[1], decided, *work[0], assistant("All callers are renamed.")]
    before = Checkpoint(record)
    again = record_of(replace(job(more, previous=before, budget=AMPLE), fresh=1))
    assert record.actions[-1] == f'2. User: "{ask.text}"\nEDITED src/part0.py [tool: Edit]'
    assert again.actions == (
        record.actions[0],
        f'2. User: "{ask.text}"\nEDITED src/part0.py; src/part1.py [tool: Edit]'
        "\nAssistant: All callers are renamed.",
    )
    assert again.decisions == (
        "We keep the old name in api.py, because clients still call it. (see 2)",
    )


def test_what_was_done_last_is_told_where_the_window_does_not_show_it() -> None:
    work = exchange("Edit", "ok", file_path="src/part.py", old_string="a", new_string="b")
    found = draft(job([user("Rename decode_batch everywhere, please."), *work], budget=AMPLE))
    (hidden,) = found.record(AMPLE, count)[0].in_progress
    (shown,) = found.record(AMPLE, count, {0, 1, 2})[0].in_progress
    assert hidden == f"{shown} - last: EDITED src/part.py"


def test_what_a_user_wants_on_second_thought_is_the_goal() -> None:
    first = [user("Please hide the harbor bell"), assistant("The bell is hidden.")]
    again = [user("On second thought, remove the harbor bell"), assistant("It is gone.")]
    other = [user("On second thought, the tide table is fine"), assistant("Good.")]
    assert told([*first, *again]).goal == ("On second thought, remove the harbor bell",)
    assert told([*first, *other]).goal == ("Began with: Please hide the harbor bell",)


def test_a_goal_that_nobody_named_and_that_is_reached_is_what_the_work_began_with() -> None:
    first = [user("Please hide the harbor bell, and say how."), assistant("The bell is hidden.")]
    then = [*first, user("Now paint the pier"), assistant("It is blue.")]
    open_ = [first[0], assistant("Shall I hide the smaller bell, too?"), *then[2:]]
    named = [user("Our goal is a quiet harbor."), assistant("Good."), *then[2:]]
    wanted = "Please hide the harbor bell, and say how."
    assert [told(each).goal for each in (first, then, open_, named)] == [
        (wanted,),
        (f"Began with: {wanted}",),
        (wanted,),
        ("Our goal is a quiet harbor.",),
    ]
    # What was still under way at the last fold is known to be past at the next.
    before = Record(goal=(wanted,), actions=told(then).actions)
    assert told([user("What is left?")], before).goal == (f"Began with: {wanted}",)
    assert told([user("Go on")], replace(before, actions=before.actions[:1])).goal == (wanted,)


@pytest.mark.parametrize("room", [100, 124, 140, 156])
def test_what_the_work_began_with_takes_the_room_of_no_value(room: int) -> None:
    values = (
        "My name is Marta Lindqvist, and I look after the harbor service.",
        "The settings of the service are in /srv/harbor/config/tides.toml.",
        "The time of our nightly backup is 04:15.",
        "The port of the gauge reader is 8471.",
    )
    first = f"Tell me of {'the stations of the river and of the lock and of ' * 6}it."
    said = [message for each in values for message in (user(each), assistant("Good."))]
    turns = [user(first), assistant("There are many."), *said, user("What of the tide?")]
    assert told(turns, budget=FRAME + room).critical == values
    assert told(turns).goal[0].startswith("Began with: Tell me of")


def test_of_many_messages_in_a_row_the_first_is_the_goal() -> None:
    asks = [f"Then look after part {number} of the importer." for number in range(6)]
    turns = [user("Write an importer for invoices."), *map(user, asks), assistant("It is written.")]
    assert told(turns).goal == ("Write an importer for invoices.",)


def test_a_task_is_short_in_a_small_record() -> None:
    ask = "Count the boats of the north basin again, and of the south one too. " * 6
    turns = [user(ask), *exchange("Read", "x", file_path="a.py")]
    (short,) = told(turns, budget=300).task
    (whole,) = told(turns).task
    assert len(short) < 120 < len(whole)
    assert short.endswith("(and more, below)")


def test_all_that_a_model_wrote_goes_before_what_the_turns_tell_beside_it() -> None:
    turns = [user(f"Mend part {at} of the mill, please") for at in range(60)]
    code = "`" + "x = mill.turn(1); " * 8 + "`"
    answer = Record(files=(f"src/mill.py - changed:\n```\n{code[1:-1]}\n```",))
    record = record_of(job(turns, budget=260), answer)
    assert "x = mill.turn(1)" in " ".join(record.files)


def test_a_message_that_a_model_only_quotes_is_told_once_with_what_came_of_it() -> None:
    ask = "Mend the parser of the mill. It chokes on long lines, so keep a test for those."
    turns = [user(ask), assistant("The parser is mended, and 40 tests pass.")]
    quotes = (f'1. "{ask}"', '2. "Mend the parser of the mill... keep a test for those."')
    for quoted in quotes:
        answer = Record(actions=("1. Let me go through it:", quoted), goal=("A mill",))
        record = record_of(job(turns, budget=3_000), answer)
        assert render(record).count("Mend the parser of the mill") == 1
        (entry,) = record.actions
        assert entry.endswith("Assistant: The parser is mended, and 40 tests pass.")


def test_what_an_earlier_record_told_has_its_share_beside_what_a_model_wrote() -> None:
    before = Checkpoint(Record(actions=("1. Moved the ledger of 1987 to the cellar.",)))
    turns = [
        message
        for at in range(40)
        for message in (user(f"Mend part {at}"), assistant(f"Part {at} of 40 is mended, see b{at}"))
    ]
    answer = Record(actions=(*before.record.actions, "2. Mended the mill."))
    record = record_of(job(turns, previous=before, budget=400), answer)
    assert record.actions[:2] == (
        "1. Moved the ledger of 1987 to the cellar.",
        "2. Mended the mill.",
    )


def test_the_opening_is_told_before_the_turns_that_followed_it() -> None:
    first = [user("Hello"), assistant("What is to be done?"), user("Count the boats, please.")]
    before = Checkpoint(
        Record(
            actions=(
                "2. RAN make boats [tool: bash]\nAssistant: 41 boats.",
                '3. User: "Paint the pier."',
            )
        )
    )
    asked = [user("Which gate is open?"), assistant("The northern gate is open.")]
    turns = [*first, assistant("The pier is blue."), *asked]
    record = record_of(replace(job(turns, previous=before, budget=AMPLE), fresh=len(first)))
    assert record.actions == (
        '1. User: "Hello"\nAssistant: What is to be done?',
        '2. User: "Count the boats, please."\nRAN make boats [tool: bash]\nAssistant: 41 boats.',
        '3. User: "Paint the pier."\nAssistant: The pier is blue.',
        '4. User: "Which gate is open?"\nAssistant: The northern gate is open.',
    )


def test_an_ask_that_stayed_while_its_turn_was_folded_stands_before_what_was_done() -> None:
    before = Checkpoint(
        Record(actions=('1. User: "Paint the pier."', "2. EDITED src/gate.py [tool: Edit]"))
    )
    ask = user("Now rename the gate everywhere.")
    work = exchange("Edit", "ok", file_path="src/pier.py", old_string="a", new_string="b")
    more = [user("Now count the boats."), assistant("There are 41 boats.")]
    record = record_of(job([ask, *work, *more], previous=before, budget=AMPLE))
    assert record.actions == (
        before.record.actions[0],
        f'2. User: "{ask.text}"\nEDITED src/gate.py; src/pier.py [tool: Edit]',
        '3. User: "Now count the boats."\nAssistant: There are 41 boats.',
    )


def test_a_reply_that_stayed_in_the_window_ends_the_turn_before_the_one_that_is_under_way() -> None:
    before = Checkpoint(
        Record(actions=('1. User: "Paint the pier."', "2. EDITED src/gate.py [tool: Edit]"))
    )
    painted = assistant("The pier is blue.")
    ask = user("Now rename the gate everywhere.")
    work = exchange("Edit", "ok", file_path="src/pier.py", old_string="a", new_string="b")
    turns = [painted, ask, *work, assistant("All of it is renamed.")]
    assert told(turns, before.record).actions == (
        '1. User: "Paint the pier."\nAssistant: The pier is blue.',
        f'2. User: "{ask.text}"\nEDITED src/gate.py; src/pier.py [tool: Edit]'
        "\nAssistant: All of it is renamed.",
    )
    # Where the last turn of the record has its ask, what follows is the rest of that turn.
    begun = Record(actions=('1. User: "Paint the pier."\nEDITED src/pier.py [tool: Edit]',))
    assert told([painted, ask], begun).actions == (
        '1. User: "Paint the pier."\nEDITED src/pier.py [tool: Edit]\nAssistant: The pier is blue.',
        f'2. User: "{ask.text}"',
    )


@pytest.mark.parametrize(
    ("ask", "asked", "rules"),
    [
        ("Cut text must stop at a line break.", "Cut text must stop at a line break.", ()),
        ("Never import requests here.", "Never import requests here.", (0,)),
        (
            "Never touch the schema. Rename the gate.",
            "Rename the gate.",
            ("Never touch the schema.",),
        ),
        (
            "Rename the gate. Never touch the schema.",
            "Rename the gate.",
            ("Never touch the schema.",),
        ),
    ],
)
def test_what_was_worked_on_is_told_as_the_ask_of_its_turn(
    ask: str, asked: str, rules: tuple[str | int, ...]
) -> None:
    work = exchange("Edit", "ok", file_path="src/pier.py", old_string="a", new_string="b")
    record = told([user(ask), *work, assistant("It is done.")])
    assert record.actions == (
        f'1. User: "{asked}"\nEDITED src/pier.py [tool: Edit]\nAssistant: It is done.',
    )
    assert record.constraints == tuple(each or ask for each in rules)


def test_what_was_worked_on_may_stand_before_a_word_that_only_says_go_on() -> None:
    ask = "A queued line must not be wider than the window, look into it"
    work = exchange("Edit", "ok", file_path="src/pier.py", old_string="a", new_string="b")
    record = told([user("/pier"), user(ask), user("continue"), *work, assistant("It is done.")])
    assert ask in record.actions[0]
    assert record.constraints == (ask,)


def test_a_rule_that_answers_a_question_is_told_with_it() -> None:
    asks = [user("Add a header to each answer."), assistant("On errors, too, or only at first?")]
    rule = "only at the first answer and not on errors"
    record = told([*asks, user(rule), assistant("Updated: at the first answer alone.")])
    assert record.actions[1] == f'2. User: "{rule}"\nAssistant: Updated: at the first answer alone.'
    assert record.constraints == ()


def test_a_rule_that_nobody_worked_on_is_told_as_a_rule_alone() -> None:
    record = told([user("The suite must stay under a minute."), assistant("Good.")])
    assert record.constraints == ("The suite must stay under a minute.",)
    assert record.actions == ("1. Assistant: Good.",)


def test_a_past_task_is_told_under_its_turn_and_its_rules_stay() -> None:
    task = "Sum the identity matrix. It gives zero. Never touch the tests. Show the steps."
    begun = 'User: "Sum the identity matrix. … Show the steps."'
    before = Record(
        task=(task,),
        constraints=("Never touch the tests.",),
        actions=(f"1. {begun}\nEDITED src/sum.py [tool: Edit]",),
    )
    record = told([user("Thanks. Now count the boats.")], before)
    assert record.actions[0] == (
        '1. User: "Sum the identity matrix. It gives zero. … Show the steps."'
        "\nEDITED src/sum.py [tool: Edit]"
    )
    assert len(record.actions) == 2
    assert record.constraints == before.constraints


def test_a_past_task_that_was_quoted_too_is_put_back_once() -> None:
    words = "Rename the gate. Keep the old name for a year."
    before = Checkpoint(
        Record(task=(words,), actions=('1. User: "Rename the gate."\nAssistant: Renamed.',)),
        said=(words,),
    )
    record = record_of(job([user("Thanks. Now count the boats.")], previous=before, budget=AMPLE))
    assert record.actions[0] == f'1. User: "{words}"\nAssistant: Renamed.'


def test_what_was_left_out_once_is_marked_after_every_fold() -> None:
    entry = '1. User: "Sum it. … Show the steps."\nAssistant: It is zero. … The steps are in a.py.'
    small = told(
        [], Record(actions=(entry, *(f"{n}. Painted pier {n}." for n in range(2, 60)))), 400
    )
    assert small.actions[0].startswith('1. User: "Sum it.')
    assert "Sum it. Show" not in small.actions[0]
    assert "zero. The steps" not in small.actions[0]


@pytest.mark.parametrize(
    "words",
    [
        "We decided to leave silent stations out, because the curve looked calm.",
        "Wir haben entschieden, stille Stationen wegzulassen.",
        "我们决定不用静默的站点。",
    ],
)
def test_what_a_user_decided_is_a_decision(words: str) -> None:
    turns = [user("Show me the mean level."), assistant("It is 3 m."), user(words)]
    assert told([*turns, assistant("Understood.")]).decisions == (words,)
    work = exchange("Edit", "ok", file_path="src/pier.py", old_string="a", new_string="b")
    assert words in told([*turns, *work, assistant("It is done.")]).actions[1]


def test_a_row_of_a_table_is_no_rule() -> None:
    table = "| step | what |\n|---|---|\n| sum | Must sum all of it, never a part |\n"
    assert told([user(f"Do this plan:\n{table * 3}"), assistant("Done.")]).constraints == ()


def test_a_quote_is_told_under_its_turn_and_anew_only_where_no_turn_tells_it() -> None:
    quoted = "Paint the pier. Take the blue that is left. And no rush."
    before = Checkpoint(
        Record(actions=('1. User: "Paint the pier."\nAssistant: It is blue.',)),
        said=("Who counts the boats?", quoted),
    )
    record = record_of(job([user("Thanks, paint the gate")], previous=before, budget=AMPLE))
    assert record.actions == (
        '1. User: "Paint the pier. Take the blue that is left. And no rush."'
        "\nAssistant: It is blue.",
        '2. User: "Who counts the boats?"',
        '3. User: "Thanks, paint the gate"',
    )
