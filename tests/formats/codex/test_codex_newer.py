"""What newer and the oldest releases of Codex write is read as what it means."""

import json
from collections.abc import Mapping

from holdfast.formats import read, write
from holdfast.formats.codex import CODEX
from holdfast.formats.events import Event, MessageEvent, Problem
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import ToolCall, ToolResult

META = ("session_meta", {"id": "s", "cwd": "/srv"})


def tell(*lines: tuple[str, Mapping[str, object]]) -> list[Event]:
    return list(
        CODEX.read(
            SourceRecord(place, {"type": kind, "payload": payload})
            for place, (kind, payload) in enumerate(lines, 1)
        )
    )


def says(role: str, text: str) -> tuple[str, Mapping[str, object]]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return "response_item", {"type": "message", "role": role, "content": content}


def tokens(sent: int, received: int) -> Mapping[str, int]:
    return {"input_tokens": sent, "output_tokens": received, "cached_input_tokens": 0}


def record(sent: int, received: int, thread: str = "s") -> tuple[str, Mapping[str, object]]:
    return "token_usage_record", {"thread_id": thread, "usage": tokens(sent, received)}


def counted(sent: int, received: int, total: int) -> tuple[str, Mapping[str, object]]:
    info = {
        "last_token_usage": tokens(sent, received),
        "total_token_usage": {"total_tokens": total},
    }
    return "event_msg", {"type": "token_count", "info": info}


def spent(events: list[Event]) -> list[Usage]:
    told = [each for each in events if isinstance(each, MessageEvent)]
    return [each.native.usage for each in told if each.native.usage is not None]


def test_the_record_of_an_answer_and_the_counts_after_it_are_one_cost() -> None:
    events = tell(
        META,
        says("user", "Hello"),
        says("assistant", "Hi"),
        record(10, 2),
        counted(10, 2, 12),
        says("user", "Go on"),
        says("assistant", "Yes"),
        record(20, 3),
        counted(20, 3, 999),
    )
    assert spent(events) == [Usage(1, 10, 2), Usage(1, 20, 3)]


def test_what_was_counted_before_there_were_records_stays_counted() -> None:
    events = tell(
        META,
        says("assistant", "Hi"),
        counted(10, 2, 12),
        says("user", "Go on"),
        says("assistant", "Yes"),
        record(20, 3),
    )
    assert spent(events) == [Usage(1, 10, 2), Usage(1, 20, 3)]


def test_the_record_of_another_session_is_not_counted_here() -> None:
    assert spent(tell(META, says("assistant", "Hi"), record(10, 2, thread="parent"))) == []


def test_a_result_in_an_object_is_its_words_and_says_whether_it_failed() -> None:
    events = tell(
        META,
        (
            "response_item",
            {"type": "function_call", "name": "shell", "arguments": {"cmd": "ls"}, "call_id": "a"},
        ),
        (
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": {"content": "no such file", "success": False},
            },
        ),
    )
    (_, result) = [each.message.parts[0] for each in events if isinstance(each, MessageEvent)]
    assert isinstance(result, ToolResult)
    assert (result.text, result.is_error) == ("no such file", True)


def test_a_tool_of_its_own_that_was_given_an_object_is_still_a_call() -> None:
    made = {"type": "custom_tool_call", "name": "patch", "input": {"path": "a.py"}, "call_id": "c"}
    events = tell(META, ("response_item", made))
    assert not [each for each in events if isinstance(each, Problem)]
    (call,) = [each.message.parts[0] for each in events if isinstance(each, MessageEvent)]
    assert isinstance(call, ToolCall)
    assert "a.py" in call.arguments


def test_what_the_program_notes_for_itself_is_passed_over_in_silence() -> None:
    kinds = ("world_state", "retained_context", "security_risk_score", "holodeck_state")
    events = tell(META, *((kind, {"full": True}) for kind in kinds), says("user", "Hello"))
    assert not [each for each in events if isinstance(each, Problem)]
    assert [each.message.text for each in events if isinstance(each, MessageEvent)] == ["Hello"]


def test_words_that_came_without_a_type_are_written_as_the_messages_that_they_are() -> None:
    items = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Hello"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi"}],
        },
    ]
    document = read(json.dumps({"input": items}))
    again = read(write(document, document.transcript, to="codex"))
    assert [each.text for each in again.transcript] == ["Be brief", "Hello", "Hi"]
