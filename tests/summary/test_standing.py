from holdfast.summary.standing import failures, file_notes, plan_left, state_lines
from holdfast.summary.story import Deed, tell
from holdfast.transcript import Message, Role, ToolCall
from holdfast.transcript.toolkit import Toolkit
from tests.summary.material import exchange


def deeds(*messages: list[Message]) -> tuple[Deed, ...]:
    return tell([message for each in messages for message in each], Toolkit()).deeds


def test_the_state_is_what_commands_and_their_output_last_showed() -> None:
    found = deeds(
        exchange("bash", "On branch main\nnothing", command="cd /old && git status"),
        exchange(
            "bash", "[fix/login 1a2b3c4] Fix login\n 1 file", command="cd /work && git commit"
        ),
        exchange("exec_command", "2 failed, 9 passed", cmd="pytest -q", workdir="/work/app"),
        exchange("bash", "", command="npm start &"),
        exchange("bash", "x", command="git diff a && git diff b &&"),
        exchange("bash", "x", cwd=7, command="true"),
    )
    assert state_lines(found) == (
        "Started in the background: npm start &",
        "Directory: /work/app",
        "Tests: 2 failed, 9 passed (pytest -q)",
        "Branch: fix/login",
        "Commits: 1a2b3c4 Fix login",
    )


def test_nothing_shown_is_no_state() -> None:
    waiting = [Message(Role.ASSISTANT, (ToolCall("1", "bash", '{"command": "x"}'),))]
    assert state_lines(deeds(waiting)) == ()


def test_a_failure_stands_until_the_same_work_succeeds() -> None:
    found = deeds(
        exchange("bash", "Exit code 1\nerror: no key", command="deploy prod"),
        exchange("bash", "Exit code 1\nFAIL: test_a", command="make test -k a"),
        exchange("bash", "ok", command="make test"),
        exchange("bash", "Exit code 1\n", command="grep nothing"),
        exchange("Read", "Error: missing", file_path="x.py", failed=True),
        exchange("bash", "", command="deploy prod")[:1],
    )
    assert failures(found) == ('deploy prod - "error: no key"', 'x.py - "Error: missing"')


def test_a_success_settles_every_step_of_its_command_line() -> None:
    failing = [
        exchange("bash", "Exit code 1\nFAIL: a", command="cd /app; CI=1 make test 2>&1 | tail"),
        exchange("bash", "Exit code 1\nerror: x", command="python -m mypy src"),
        exchange("Read", "Error: not found", file_path="x.py", failed=True),
    ]
    settling = [
        exchange("bash", "ok", command="make test -k a && make lint"),
        exchange("Write", "ok", file_path="x.py", content="x"),
        exchange("bash", "ok", command="python -m pytest"),
    ]
    assert len(failures(deeds(*failing))) == 3
    assert failures(deeds(*failing, *settling)) == ('python -m mypy src - "error: x"',)


def test_files_carry_their_newest_state_and_one_note() -> None:
    found = deeds(
        exchange("Read", "x", file_path="a.py"),
        exchange("Edit", "ok", file_path="a.py", new_string="def main(): ..."),
        exchange("Edit", "ok", file_path="a.py", new_string="x"),
        exchange("Read", "x", file_path="b.py", offset=3, limit=2),
        exchange("Read", "Error", file_path="gone.py", failed=True),
        exchange("Read", "x", file_path="c.py"),
    )
    assert file_notes(found) == (
        "c.py - read",
        "b.py - read, lines 3-4",
        "a.py - changed, 2 edits: main",
    )


def test_the_newest_plan_tells_what_was_left() -> None:
    found = deeds(
        exchange("TodoWrite", "ok", todos=[{"content": "old", "status": "pending"}]),
        exchange(
            "update_plan",
            "ok",
            plan=[
                {"step": "one", "status": "completed"},
                {"step": "two", "status": "in_progress"},
                {"step": "three"},
                {"status": "pending"},
                "four",
            ],
        ),
        exchange("TaskUpdate", "ok", taskId="1", status="completed"),
        exchange("bash", "x", command="ls"),
    )
    assert plan_left(found, (), Toolkit()) == (
        "two (in_progress)",
        "three (pending)",
        "four (pending)",
    )


def test_a_plan_after_the_folded_turns_is_the_newest() -> None:
    old = deeds(exchange("TodoWrite", "ok", todos=[{"content": "a", "status": "pending"}]))
    newer = exchange("TodoWrite", "ok", todos=[{"content": "a", "status": "completed"}])
    assert plan_left(old, (), Toolkit()) == ("a (pending)",)
    assert plan_left(old, newer, Toolkit()) == ()


def test_no_plan_leaves_nothing() -> None:
    broken = [Message(Role.ASSISTANT, (ToolCall("1", "todo", "not json"),))]
    odd = [Message(Role.ASSISTANT, (ToolCall("2", "todo", "[]"),))]
    assert plan_left(deeds(broken, odd), (), Toolkit()) is None
