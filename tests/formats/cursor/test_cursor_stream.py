"""What Cursor's command line prints as stream-json is read as the session that it is."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import detect, read
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.cursor import CURSOR
from holdfast.formats.events import Event, MessageEvent, MetadataUpdated, Problem, StrandStarted
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Media, Role, Text, Thinking, ToolCall, ToolResult
from tests.formats.conformance import broken_rules, spoken
from tests.formats.surprises import breaks, surprised

INIT = {
    "type": "system",
    "subtype": "init",
    "apiKeySource": "login",
    "cwd": "/srv/shop",
    "session_id": "s",
    "model": "Auto",
    "permissionMode": "default",
}


def says(role: str, text: str, **more: object) -> dict[str, object]:
    content = [{"type": "text", "text": text}]
    message = {"role": role, "content": content}
    return {"type": role, "message": message, "session_id": "s", **more}


def thinks(text: str) -> dict[str, object]:
    return {"type": "thinking", "subtype": "delta", "text": text, "session_id": "s"}


def call(phase: str, id: str, tool: Mapping[str, object]) -> dict[str, object]:  # noqa: A002
    return {
        "type": "tool_call",
        "subtype": phase,
        "call_id": id,
        "tool_call": tool,
        "session_id": "s",
        "model_call_id": "m1",
        "timestamp_ms": 1_790_000_000_000,
    }


ASKED = {"args": {"command": "ls src"}}
PRINTED = {"stdout": "a.py\n", "stderr": "", "exitCode": 0}
STREAM = (
    INIT,
    says("user", "How many files?"),
    thinks("I look "),
    thinks("first."),
    {"type": "thinking", "subtype": "completed", "session_id": "s"},
    says("assistant", "Let me see.", timestamp_ms=1, model_call_id="m1"),
    call("started", "c1", {"shellToolCall": ASKED, "toolCallId": "c1"}),
    call("completed", "c1", {"shellToolCall": ASKED | {"result": {"success": PRINTED}}}),
    says("assistant", "One."),
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Let me see.One.",
        "session_id": "s",
        "usage": {"inputTokens": 9, "outputTokens": 4, "cacheReadTokens": 2, "cacheWriteTokens": 1},
    },
)


def tell(*lines: Mapping[str, object]) -> list[Event]:
    return list(CURSOR.read(SourceRecord(place, line) for place, line in enumerate(lines, 1)))


def told(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def texts(events: list[Event]) -> list[str]:
    return [each.message.text for each in told(events) if each.message.text]


def result_of(tool: str, result: object) -> ToolResult:
    (_, _, answer) = tell(INIT, call("completed", "c", {tool: {"args": {}, "result": result}}))
    assert isinstance(answer, MessageEvent)
    return answer.message.results[0]


def call_of(tool: Mapping[str, object]) -> ToolCall:
    (_, asked) = tell(INIT, call("started", "c", tool))
    assert isinstance(asked, MessageEvent)
    return asked.message.calls[0]


def test_a_stream_is_recognized_by_its_content_and_not_taken_for_another_agents() -> None:
    text = "\n".join(json.dumps(line) for line in STREAM)
    assert detect(text).format == "cursor"
    assert [each.role for each in read(text).transcript] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    without_calls = [SourceRecord(1, INIT), SourceRecord(2, STREAM[1]), SourceRecord(3, STREAM[8])]
    assert CURSOR.recognize(without_calls) is not None
    assert CLAUDE_CODE.recognize(without_calls) is None
    assert CURSOR.recognize([SourceRecord(1, {**INIT, "tools": ["Bash"]})]) is None


def test_a_stream_tells_its_session_words_thoughts_calls_and_costs() -> None:
    events = tell(*STREAM)
    assert isinstance(events[0], StrandStarted)
    about = events[0].about
    assert (about.id, about.cwd, about.model) == ("s", "/srv/shop", "Auto")
    user, opening, asked, answer, closing = told(events)
    assert user.message.text == "How many files?"
    assert opening.message.parts == (Thinking("I look first."), Text("Let me see."))
    assert asked.message.calls == (ToolCall("c1", "shell", '{"command": "ls src"}'),)
    assert opening.native.reply == asked.native.reply == "m1"
    assert asked.native.at == 1_790_000_000_000
    assert answer.message.results[0].text == "a.py\n"
    assert not answer.message.results[0].is_error
    assert (closing.message.text, closing.native.model) == ("One.", "Auto")
    (spent,) = [each.about.usage for each in events if isinstance(each, MetadataUpdated)]
    assert spent == Usage(1, 9, 4, 2, 1)
    assert not broken_rules(events)


def test_pieces_are_put_together_and_their_copies_are_not_told_again() -> None:
    events = tell(
        INIT,
        says("user", "Go"),
        says("assistant", "Let ", timestamp_ms=1),
        says("assistant", "me see.", timestamp_ms=2),
        says("assistant", "Let me see.", timestamp_ms=3, model_call_id="m1"),
        call("started", "c1", {"readToolCall": {"args": {"path": "a"}}}),
        says("assistant", "Ha", timestamp_ms=4),
        says("assistant", "Ha", timestamp_ms=5),
        says("assistant", "HaHa"),
        {"type": "result", "result": "Let me see.HaHa", "session_id": "s"},
    )
    assert texts(events) == ["Go", "Let me see.", "HaHa"]


def test_words_that_only_the_result_has_and_words_of_a_cut_stream_are_told() -> None:
    only = {"type": "result", "subtype": "success", "result": "Done.", "session_id": "s"}
    assert texts(tell(INIT, says("user", "Go"), only)) == ["Go", "Done."]
    assert texts(tell(INIT, says("user", "Go"), says("assistant", "Half"))) == ["Go", "Half"]


def test_half_a_message_at_the_end_is_reported_and_left_out() -> None:
    left = Problem(3, "the last message has no end and is left out")
    piece = says("assistant", "Hal", timestamp_ms=1)
    for last in (piece, thinks("I look")):
        events = tell(INIT, says("user", "Go"), last)
        assert texts(events) == ["Go"]
        assert events[-1] == left


@pytest.mark.parametrize("length", range(1, len(STREAM)))
def test_what_was_told_of_a_stream_stays_when_it_grows(length: int) -> None:
    before, after = spoken(tell(*STREAM[:length])), spoken(tell(*STREAM))
    assert [each.message for each in before] == [each.message for each in after][: len(before)]  # type: ignore[union-attr]


def test_a_run_that_failed_is_reported() -> None:
    failed = {"type": "result", "subtype": "error", "is_error": True, "result": "No credit."}
    assert [each for each in tell(INIT, failed) if isinstance(each, Problem)] == [
        Problem(2, "No credit.")
    ]


def test_two_runs_of_one_session_add_up_and_another_session_is_its_own() -> None:
    other = [{**line, "session_id": "t"} for line in STREAM]
    events = tell(*STREAM, *STREAM, *other)
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == ["", "t"]
    spent = [
        (each.strand, each.about.usage) for each in events if isinstance(each, MetadataUpdated)
    ]
    assert spent[1:] == [("", Usage(2, 18, 8, 4, 2)), ("t", Usage(1, 9, 4, 2, 1))]
    assert not broken_rules(events)


@pytest.mark.parametrize(
    ("result", "text", "failed"),
    [
        ({"success": {"content": "# Shop"}}, "# Shop", False),
        ({"success": {"path": "a"}, "isBackground": False}, '{"path": "a"}', False),
        ({"success": PRINTED | {"exitCode": 1, "stderr": "no"}}, "a.py\n\nno", True),
        ({"success": PRINTED | {"interleavedOutput": "both"}}, "both", False),
        ({"rejected": {"reason": "not now"}}, '{"reason": "not now"}', True),
        ({"error": {"errorMessage": "gone"}}, '{"errorMessage": "gone"}', True),
        ({"readPermissionDenied": {"path": "a"}}, '{"path": "a"}', True),
        ("fn main() {}", "fn main() {}", False),
        (None, "", False),
    ],
)
def test_a_result_says_what_came_of_a_call(result: object, text: str, failed: bool) -> None:
    found = result_of("shellToolCall", result)
    assert (found.text, found.is_error) == (text, failed)


def test_tools_of_servers_and_functions_are_called_by_their_own_names() -> None:
    asked = {"name": "docs-find", "providerIdentifier": "docs", "toolName": "find"}
    made = call_of({"mcpToolCall": {"args": asked | {"args": {"q": "port"}}}})
    assert (made.name, made.arguments) == ("mcp__docs__find", '{"q": "port"}')
    assert call_of({"mcpToolCall": {"args": {"name": "docs-find"}}}).name == "docs-find"
    function = {"function": {"name": "apply", "arguments": '{"a": 1}'}}
    assert call_of(function) == ToolCall("c", "apply", '{"a": 1}')


def test_the_content_of_a_server_is_kept_with_its_pictures() -> None:
    picture = {"image": {"data": "iVBO", "mimeType": "image/png"}}
    content = [{"text": {"text": "8443"}}, picture]
    found = result_of("mcpToolCall", {"success": {"content": content, "isError": True}})
    assert found.content == (Text("8443"), Media(media_type="image/png", data="iVBO"))
    assert found.is_error


@given(st.data())
def test_whatever_a_stream_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    mcp = {
        "mcpToolCall": {
            "args": {"name": "n", "args": {}},
            "result": {"success": {"content": [{"text": {"text": "a"}}]}},
        }
    }
    lines = [*STREAM, call("completed", "c2", mcp), *STREAM[1:3]]
    records = [SourceRecord(place, line) for place, line in enumerate(lines, 1)]
    assert breaks(CURSOR, data.draw(surprised(records))) == []
