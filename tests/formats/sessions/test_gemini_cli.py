"""Gemini CLI chats read the same from an object and from lines."""

import json

from holdfast.formats import read
from holdfast.transcript import open_calls, shape
from tests.formats.samples import sample

EXPECTED = "\n".join(
    [
        "00 user      Count the files | [image]",
        '01 assistant (thinking) | -> run_shell_command {"command": "ls"} | -> re…',
        "02 tool      result: a b",
        '03 tool      error: {"error": {"code": 404}} see above',
        "04 assistant Two files.",
    ]
)


def test_an_object_with_messages() -> None:
    assert shape(read(sample("gemini_cli.json")).transcript) == EXPECTED


def test_a_message_a_line_where_the_newest_version_counts() -> None:
    assert shape(read(sample("gemini_cli.jsonl")).transcript) == EXPECTED


def test_a_call_that_still_runs_is_open() -> None:
    assert open_calls(read(sample("gemini_cli.json")).transcript) == {"run-3": 1}


def test_a_chat_without_a_project_is_known_by_its_messages() -> None:
    chat = {"sessionId": "s", "messages": [{"type": "gemini", "content": "hello"}]}
    assert shape(read(json.dumps(chat)).transcript) == "00 assistant hello"
