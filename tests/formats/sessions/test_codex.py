"""A Codex rollout reads as the items that the model saw."""

import json

from holdfast.formats import Problem, live, read
from holdfast.transcript import Thinking, shape
from tests.formats.samples import sample


def test_items_become_messages_and_events_are_skipped() -> None:
    document = read(sample("codex.jsonl"))
    assert (document.format, document.dialect, document.problems) == ("codex", "responses", ())
    assert shape(document.transcript, 90) == "\n".join(
        [
            "00 system    You are a coding agent.",
            "01 system    Sandbox: workspace-write",
            "02 user      Why is the build red?",
            '03 assistant (thinking) | I look at the log. | -> exec_command {"cmd":"make"} | '
            '-> exec_command {"cmd"…',
            "04 tool      result: exit code 2: no rule to make target",
            "05 tool      result: a1b2c3d fix",
            '06 assistant -> apply_patch {"input": "*** Begin Patch\\n*** End Patch"}',
            '07 tool      result: {"output":"ok"}',
            "08 user      [summary] The build was fixed by a patch to the Makefile.",
            "09 user      Ship it",
            "10 assistant Shipped.",
        ]
    )


def test_the_live_window_keeps_the_instructions() -> None:
    transcript = read(sample("codex.jsonl")).transcript
    assert live(transcript) == (*transcript[:2], *transcript[8:])


def test_encrypted_reasoning_is_kept() -> None:
    thought = read(sample("codex.jsonl")).transcript[3].parts[0]
    assert isinstance(thought, Thinking)
    assert thought.signature == "b3BhcXVl"


def test_the_oldest_files_hold_bare_items() -> None:
    assert shape(read(sample("codex_bare.jsonl")).transcript) == "\n".join(
        [
            "00 user      List the files",
            '01 assistant -> shell {"command":["ls"]}',
            '02 tool      result: {"output":"main.rs","metadata":{"exit_code":0}}',
            "03 assistant One file: main.rs",
        ]
    )


def test_an_item_that_cannot_be_read_is_a_problem() -> None:
    lines = [
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "hi"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": 5}},
        {"type": "compacted", "payload": {"message": ""}},
    ]
    document = read("\n".join(map(json.dumps, lines)))
    assert shape(document.transcript) == "00 user      hi"
    assert [problem.line for problem in document.problems] == [2]
    assert isinstance(document.problems[0], Problem)
