import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.facts import Evidence, Fact, Kind
from holdfast.summary.checkpoint import Checkpoint, read_checkpoint, render_checkpoint
from holdfast.summary.deterministic import deterministic
from holdfast.summary.reader import read
from holdfast.summary.record import Record, last_number, number_of
from holdfast.summary.render import render
from holdfast.transcript import Message
from holdfast.transcript.families import Family
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import assistant, count, exchange, job, user


def seen(kind: Kind, text: str) -> Evidence:
    return Evidence(Fact(kind, text), 0, 0)


def session() -> list[Message]:
    return [
        user("Set up the billing service. Never touch the schema."),
        assistant("I'll look first."),
        *exchange("Read", "x = 1", file_path="src/billing.py"),
        assistant("We decided to use SQLite because it needs no server."),
        *exchange("Edit", "ok", file_path="src/billing.py", new_string="def charge(): ..."),
        *exchange("bash", "Exit code 1\nFAIL: test_charge", command="cd /work && make test"),
        assistant("The billing service is set up."),
        user("Now make the retry policy configurable, default 3"),
        *exchange("TodoWrite", "ok", todos=[{"content": "add option", "status": "pending"}]),
        assistant("I am adding the option."),
    ]


def test_every_section_is_made_from_what_happened() -> None:
    evidence = [seen(Kind.PORT, "localhost:8080"), seen(Kind.PATH, "src/billing.py")]
    assert deterministic(job(session()), evidence) == Record(
        task=("Now make the retry policy configurable, default 3",),
        goal=("Set up the billing service. Never touch the schema.",),
        constraints=("Never touch the schema.",),
        actions=(
            "1. READ src/billing.py [tool: Read]",
            "2. EDITED src/billing.py - defines charge [tool: Edit]",
            '3. RAN cd /work && make test - exit 1, 2 lines, "FAIL: test_charge" [tool: bash]',
        ),
        state=("Directory: /work", "Tests: FAIL: test_charge (cd /work && make test)"),
        in_progress=(
            "We decided to use SQLite because it needs no server.",
            "The billing service is set up.",
            "I am adding the option.",
        ),
        blocked=('cd /work && make test - "FAIL: test_charge"',),
        decisions=("We decided to use SQLite because it needs no server.",),
        resolved=(
            '"Set up the billing service. Never touch the schema."'
            " - The billing service is set up.",
        ),
        files=("src/billing.py - changed: charge",),
        remaining=("add option (pending)",),
        critical=("Ports: localhost:8080",),
    )


def test_a_short_input_keeps_what_it_was_said_to() -> None:
    turns = [user("Clean the cache of the build"), assistant("Shall I delete it?"), user("yes")]
    assert deterministic(job(turns), ()).task == (
        "yes",
        "(said after the assistant wrote: Shall I delete it?)",
        "(said after: Clean the cache of the build)",
    )
    assert deterministic(job([user("yes")]), ()).task == ("yes",)
    assert deterministic(job([assistant("Shall I?"), user("yes")]), ()).task[1:] == (
        "(said after the assistant wrote: Shall I?)",
    )


def test_asks_without_an_answer_are_pending() -> None:
    turns = [user("rename it"), user("stop, fix the parser instead of that please now")]
    assert deterministic(job(turns), ()).pending == ('"rename it"',)


def test_ten_updates_keep_one_record_with_numbers_continued() -> None:
    previous, record = None, Record()
    numbers: list[int] = []
    for pass_number in range(10):
        turns = [user(f"Do part {pass_number} of the long plan that we made together")]
        for step in range(30):
            turns += exchange("bash", "ok", command=f"make part{pass_number} step{step}")
        turns.append(assistant(f"Part {pass_number} is done."))
        record = deterministic(job(turns, previous=previous, budget=1_500), ())
        text = render_checkpoint(Checkpoint(record))
        assert count(text) <= 1_500
        assert text.count("## Completed Actions") == 1
        assert text.count("CONDENSED") <= 1
        assert last_number(record.actions) == 30 * (pass_number + 1)
        numbers = [number_of(entry) for entry in record.actions]
        assert numbers == sorted(set(numbers))
        previous = read_checkpoint(text)
        assert previous == Checkpoint(record)
    assert record.goal == ("Do part 0 of the long plan that we made together",)
    assert record.task == ("Do part 9 of the long plan that we made together",)
    assert record.actions[0].split(" - ")[0].endswith(f"CONDENSED 1-{numbers[0]}")


def test_an_update_with_nothing_said_keeps_the_task() -> None:
    previous = Checkpoint(Record(task=("fix it",), goal=("ship",)))
    turns = exchange("bash", "ok", command="ls")
    record = deterministic(job(turns, previous=previous), ())
    assert (record.task, record.goal) == (("fix it",), ("ship",))


@given(st.lists(st.text(max_size=300), max_size=8), st.integers(150, 900))
def test_any_language_makes_a_record_within_its_budget(said: list[str], budget: int) -> None:
    turns = [
        message
        for text in said
        for message in (user(text), assistant(text), *exchange("bash", text, command=text))
    ]
    record = deterministic(job(turns, budget=budget), ())
    text = render(record)
    assert count(text) <= budget
    assert read(text) == record


def test_chinese_turns_fill_the_sections() -> None:
    turns = [
        user("请修复登录页面。不要修改数据库结构。"),
        assistant("我们决定使用 SQLite, 因为它不需要服务器。"),
        user("把重试次数改成三次, 并且写一个测试来证明它真的有效, 然后告诉我结果是什么"),
    ]
    record = deterministic(job(turns), ())
    assert record.task == (turns[-1].text,)
    assert record.constraints == ("不要修改数据库结构。",)
    assert record.decisions == ("我们决定使用 SQLite, 因为它不需要服务器。",)


def test_no_secret_stands_in_the_record() -> None:
    secret = "hunter2hunter2"
    turns = [
        user(f"the password is {secret}, never print {secret}"),
        assistant(f"we decided on {secret} because of {secret}"),
        *exchange("bash", f"error: {secret} refused", command="x " * 80 + secret, failed=True),
        *exchange("Read", "x", file_path=f"/tmp/{secret}"),
        assistant("done"),
    ]
    masked = job(turns, redact=lambda text: text.replace(secret, "[REDACTED]"))
    text = render(deterministic(masked, ()))
    assert "hunter2" not in text
    assert "[REDACTED]" in text


def test_old_calls_are_counted_and_tools_can_be_registered() -> None:
    turns = [m for i in range(610) for m in exchange("my_runner", "ok", command=f"step {i}")]
    toolkit = Toolkit({"my_runner": Family.SHELL})
    record = deterministic(job(turns, budget=24_000), (), toolkit)
    assert record.actions[0] == "10. CONDENSED 1-10 - RAN 10"
    assert record.actions[-1] == '610. RAN step 609 - "ok" [tool: my_runner]'
    again = deterministic(job(turns, previous=Checkpoint(record), budget=40_000), (), toolkit)
    assert "620. CONDENSED 611-620 - RAN 10" in again.actions
    assert last_number(again.actions) == 1_220


def test_megabytes_take_no_longer_than_their_share() -> None:
    output = "\n".join(
        f"line {index} of the output of src/module_{index}.py" for index in range(40)
    )

    def seconds(count: int) -> float:
        """Return the processor's time for so many turns, the best of three."""
        runs = (exchange("bash", f"{output}{i}", command=f"run {i}") for i in range(count))
        work = replace(job([message for run in runs for message in run]), budget=8_000)
        times: list[float] = []
        for _ in range(3):
            started = time.process_time()
            deterministic(work, ())
            times.append(time.process_time() - started)
        return min(times)

    # Work that grows with the square would take up to sixty-four times as long.
    assert seconds(2_400) < 10 * seconds(300)


def test_many_rules_and_decisions_keep_the_newest() -> None:
    turns: list[Message] = []
    for index in range(60):
        turns += [
            user(f"Never use tool number {index}."),
            assistant(f"We decided on variant {index} because it works."),
        ]
    record = deterministic(job(turns, budget=20_000), ())
    assert (record.constraints[0], record.constraints[-1], len(record.constraints)) == (
        "Never use tool number 36.",
        "Never use tool number 59.",
        24,
    )
    assert record.decisions[-1] == "We decided on variant 59 because it works."
    assert len(record.decisions) == 16
