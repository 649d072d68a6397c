"""Agents that write their commands as text: users speak in their first messages alone."""

import json

import holdfast
from holdfast.summary.actions import told
from holdfast.summary.turns import Deed
from holdfast.transcript import Summary, ToolCall
from holdfast.transcript.effects import Effect
from holdfast.transcript.toolkit import Toolkit
from holdfast.wire import DIALECTS, Body

FRAME = "(Open file: n/a)\n(Current directory: /mill)\nbash-$"
DEMONSTRATION = (
    "Here is a demonstration of how to correctly accomplish this task.\n"
    + "ISSUE: the weathercock shows south\n```\nsubmit\n```\n" * 30
)
TASK = (
    "We are asked to mend this issue: the sluice opens at night.\n"
    + "It was seen by the keeper of gate 7 in the harbor of Brill.\n" * 40
    + f"When all is done, run `hand-in --final` and nothing else.\n{FRAME}"
)


def session(steps: int) -> list[dict[str, object]]:
    """Return a session of an agent in which programs answer in the user's name."""
    found = [("user", DEMONSTRATION), ("user", TASK)]
    for number in range(steps):
        found.append(("assistant", f"Gate {number} next.\n\n```\nopen gate_{number}.py\n```"))
        found.append(("user", f"gate = {number}\n" * 60 + FRAME))
    return [{"role": role, "content": text} for role, text in found]


def records_of(messages: list[dict[str, object]], fit: int) -> tuple[str, ...]:
    """Return the records that a fit leaves in the window."""
    done = holdfast.compress(messages, fit=fit, summarizer="none")
    transcript = DIALECTS["openai"].decode(Body(list(done.messages)))
    summaries = (message.summary for message in transcript)
    return tuple(each.text for each in summaries if isinstance(each, Summary))


def section(record: str, heading: str) -> str:
    """Return the entries under a heading."""
    return record.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_the_task_is_told_with_its_beginning_and_its_end_where_only_output_stays() -> None:
    (record,) = records_of(session(40), fit=4_000)
    task = section(record, "Historical Task Snapshot")
    assert task.startswith("- We are asked to mend this issue: the sluice opens at night.")
    assert "run `hand-in --final` and nothing else." in task
    assert "bash-$" not in task
    assert "the sluice opens at night" in section(record, "Goal")
    assert "below" not in section(record, "Historical In-Progress State")


def test_a_demonstration_is_nobodys_wish() -> None:
    (record,) = records_of(session(40), fit=4_000)
    assert "weathercock" not in record


def test_the_task_is_told_whole_where_there_is_room() -> None:
    (record,) = records_of(session(200), fit=12_000)
    task = section(record, "Historical Task Snapshot")
    assert task.count("the keeper of gate 7") == 40


def edited(command: str, answer: str) -> list[dict[str, object]]:
    """Return a step in which an editor that is used through words changes a file."""
    shown = f"[File: /mill/wheel.py (9 lines total)]\n1:turns = 3\n{answer}\n{FRAME}"
    said: dict[str, object] = {
        "role": "assistant",
        "content": f"I change it.\n\n```\n{command}\n```",
    }
    return [said, {"role": "user", "content": shown}]


def test_what_an_editor_changed_is_told_as_a_change_of_its_file() -> None:
    made = edited("create /mill/wheel.py", "")
    changed = edited("edit 1:1\nturns = 3\nend_of_edit", "File updated. Please review it.")
    (record,) = records_of([*session(3), *made, *changed, *session(40)[2:]], fit=6_000)
    actions = section(record, "Completed Actions")
    assert "WROTE /mill/wheel.py" in actions
    assert "EDITED /mill/wheel.py: turns = 3" in actions
    assert "edit 1:1" not in actions


def test_an_edit_by_a_call_without_a_name_is_one_of_the_open_file() -> None:
    arguments = {"search": "turns = 2", "replace": "turns = 3"}
    call = ToolCall("1", "edit", json.dumps(arguments))
    action = Toolkit().action(call)
    line = told(Deed(action, Effect("Text replaced."), "turns = 2", 1))
    assert line is not None
    assert (line.verb, line.line, line.detail) == ("EDITED", "the open file", "turns = 3")
    found = ToolCall("2", "find_file", json.dumps({"file_name": "wheel.py", "dir": "mill"}))
    assert Toolkit().describe(found, None) == "find_file: wheel.py in mill (no result)"
