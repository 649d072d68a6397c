"""OpenHands outputs read as one conversation a task."""

import json

import pytest

from holdfast.errors import DecodeError
from holdfast.formats import read, read_all
from holdfast.transcript import shape
from tests.formats.samples import sample


def test_actions_of_one_answer_are_one_message() -> None:
    document = read(sample("openhands.jsonl"))
    assert (document.format, document.problems) == ("openhands", ())
    assert shape(document.transcript, 100) == "\n".join(
        [
            "00 system    You are an engineer.",
            "01 user      Fix the parser",
            '02 assistant I look around. | -> execute_bash {"command": "ls"} | '
            '-> execute_bash {"command": "pwd"}',
            "03 tool      result: parser.c",
            "04 tool      error: no such command",
            "05 user      [summary] The parser was found.",
            '06 assistant I edit it. | -> edit {"path": "parser.c"}',
            "07 tool      result: edited",
            "08 assistant The parser is fixed.",
        ]
    )


def test_the_oldest_files_pair_by_order() -> None:
    first, second = read_all(sample("openhands_flat.jsonl"))
    assert shape(first.transcript) == "\n".join(
        [
            "00 user      Add a license",
            '01 assistant I add it. | -> run {"command": "touch LICENSE"}',
            "02 tool      result: ok",
            '03 assistant Done. | -> finish {"outputs": {}}',
        ]
    )
    assert shape(second.transcript) == "\n".join(
        [
            "00 user      Say hello",
            '01 assistant -> run {"command": "echo hello"}',
            "02 tool      result: hello",
        ]
    )


def test_arguments_come_from_the_action_when_the_answer_lacks_them() -> None:
    about = {"tool_call_id": "x", "function_name": "run", "model_response": {"id": "g"}}
    action = {"action": "run", "args": {"command": "ls"}, "tool_call_metadata": about}
    stray = {"observation": "run", "content": "for nobody"}
    document = read(json.dumps({"history": [stray, action]}))
    assert shape(document.transcript) == '00 assistant -> run {"command": "ls"}'


def test_several_tasks_are_not_one_conversation() -> None:
    with pytest.raises(DecodeError, match="expected one conversation, found 2"):
        read(sample("openhands_flat.jsonl"))
