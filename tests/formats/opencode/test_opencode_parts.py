"""The parts of opencode's messages."""

from holdfast.formats.opencode.session import is_settled, pieces, said, usage_of, words_of
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

PICTURE = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0="}


def test_a_user_says_words_tasks_and_files() -> None:
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "subtask", "prompt": "Find moons", "agent": "explore"},
        PICTURE,
        {"type": "file", "mime": "text/plain", "url": "file:///sky/moons.txt"},
        {"type": "agent", "name": "explore"},
    ]
    assert said(parts) == (
        Text("Look"),
        Text("Find moons"),
        Media("image", "image/png", "iVBORw0="),
        Media("file", "text/plain", url="file:///sky/moons.txt"),
    )
    assert words_of(parts) == "Look\n\nFind moons"


def test_a_tool_is_a_call_and_once_it_answered_its_result() -> None:
    state = {"status": "completed", "input": {"a": 1}, "output": "done", "attachments": [PICTURE]}
    part = {"type": "tool", "callID": "c", "tool": "read", "state": state}
    picture = Media("image", "image/png", "iVBORw0=")
    result = ToolResult("c", (Text("done"), picture), name="read")
    assert list(pieces(part)) == [
        ("", None, Message(Role.ASSISTANT, (ToolCall("c", "read", '{"a": 1}'),))),
        ("/result", None, Message(Role.TOOL, (result,))),
    ]
    waiting = {**part, "state": {"status": "running", "input": {}}}
    assert [suffix for suffix, *_ in pieces(waiting)] == [""]


def test_marks_and_empty_words_say_nothing() -> None:
    for part in ({"type": "step-start"}, {"type": "text", "text": ""}, {"type": "patch"}):
        assert list(pieces(part)) == []
    thought = {"type": "reasoning", "text": "Hm.", "time": {"start": 1_790_000_000_000}}
    assert list(pieces(thought)) == [
        ("", 1_790_000_000_000, Message(Role.ASSISTANT, (Thinking("Hm."),)))
    ]


def test_a_part_is_settled_when_it_ended() -> None:
    assert is_settled({"type": "text", "time": {"start": 1, "end": 2}})
    assert not is_settled({"type": "text", "time": {"start": 1}})
    assert is_settled({"type": "step-start"})
    assert is_settled({"type": "tool", "state": {"status": "error"}})
    assert not is_settled({"type": "tool", "state": {"status": "pending"}})


def test_thinking_counts_as_output() -> None:
    tokens = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}
    assert usage_of({"tokens": tokens, "cost": 0.5}) == Usage(1, 1, 5, 4, 5, 0.5)
    assert usage_of({"cost": {"usd": 1}}) is None
