"""Who speaks in a message."""

import json

import pytest

from holdfast.facts.sources import Voice, clipped, spoken
from holdfast.transcript import (
    Media,
    Message,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Message(Role.USER, (Text("fix it"),)), [(Voice.ASKED, "fix it")]),
        (Message(Role.ASSISTANT, (Text("done"),)), [(Voice.SAID, "done")]),
        (Message(Role.SYSTEM, (Text("be good"),)), [(Voice.GIVEN, "be good")]),
        (Message(Role.TOOL, (Text("out"),)), [(Voice.PRINTED, "out")]),
        (Message(Role.TOOL, (ToolResult("c", (Text("out"),)),)), [(Voice.PRINTED, "out")]),
        (Message(Role.USER, (Summary("before"),)), [(Voice.KEPT, "before")]),
        (Message(Role.ASSISTANT, (Thinking("hm"), Media())), []),
    ],
)
def test_each_part_has_the_voice_of_its_speaker(
    message: Message, words: list[tuple[Voice, str]]
) -> None:
    assert list(spoken(message)) == words


def test_the_values_of_a_call_are_read_and_its_keys_are_not() -> None:
    arguments = {"file_path": "a.py", "edits": [{"old": "x", "line": 3}], "all": True, "no": None}
    message = Message(Role.ASSISTANT, (ToolCall("c", "Edit", json.dumps(arguments)),))
    assert list(spoken(message)) == [(Voice.CALLED, "a.py\nx\n3")]


def test_arguments_that_are_no_json_are_read_as_they_are() -> None:
    message = Message(Role.ASSISTANT, (ToolCall("c", "apply_patch", "*** Begin Patch"),))
    assert list(spoken(message)) == [(Voice.CALLED, "*** Begin Patch")]


def test_arguments_nested_without_end_are_left_alone() -> None:
    message = Message(Role.ASSISTANT, (ToolCall("c", "x", "[" * 40 + "1" + "]" * 40),))
    assert list(spoken(message)) == [(Voice.CALLED, "")]


def test_agents_without_tool_calls_call_in_fenced_blocks_and_hear_in_user_messages() -> None:
    call = Message(Role.ASSISTANT, (Text("Look:\n```bash\nls src\n```"),))
    answer = Message(Role.USER, (Text("<returncode>0</returncode>\n<output>a.py</output>"),))
    assert [voice for message in (call, answer) for voice, _ in spoken(message)] == [
        Voice.SAID,
        Voice.CALLED,
        Voice.PRINTED,
    ]


def test_the_middle_of_an_enormous_text_is_not_read() -> None:
    text = "start" + "." * 50_000 + "end"
    short = clipped(text)
    assert (len(short), short[:5], short[-3:]) == (16_001, "start", "end")
