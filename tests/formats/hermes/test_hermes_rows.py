"""A row of Hermes' database is read by the columns that it has."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import SourceMetadata
from holdfast.formats.hermes import COLUMNS, fingerprint, message_of, native_of
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

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def test_the_oldest_rows_have_words_and_calls() -> None:
    row = {"role": "assistant", "content": "look", "tool_calls": json.dumps([CALL])}
    call = ToolCall("c", "f", '{"a": 1}')
    assert message_of(row) == (Message(Role.ASSISTANT, (Text("look"), call)), "")


def test_calls_that_cannot_be_read_are_a_problem_and_the_words_are_kept() -> None:
    row = {"role": "assistant", "content": "look", "tool_calls": "[{"}
    reason = "its tool calls are no JSON list"
    assert message_of(row) == (Message(Role.ASSISTANT, (Text("look"),)), reason)


def test_a_result_has_its_name_and_says_when_it_failed() -> None:
    row = {"role": "tool", "content": "no", "tool_call_id": "c", "tool_name": "f"}
    result = ToolResult("c", (Text("no"),), name="f")
    assert message_of(row) == (Message(Role.TOOL, (result,)), "")
    message, _ = message_of({**row, "finish_reason": "error"})
    assert message.results[0].is_error


def test_reasoning_that_stands_in_two_columns_is_read_once() -> None:
    row = {"role": "assistant", "content": "x", "reasoning": "hm", "reasoning_content": "hm"}
    message, _ = message_of(row)
    assert [part.text for part in message.parts if isinstance(part, Thinking)] == ["hm"]
    message, _ = message_of({**row, "reasoning": "other"})
    thoughts = [part.text for part in message.parts if isinstance(part, Thinking)]
    assert sorted(thoughts) == ["hm", "other"]


def test_items_of_reasoning_are_kept() -> None:
    items = [{"type": "reasoning.encrypted", "data": "x"}]
    row = {"role": "assistant", "content": "x", "reasoning_details": json.dumps(items)}
    message, _ = message_of(row)
    assert message.extras == {"openai": {"reasoning_details": items}}


def test_parts_come_out_of_the_text_that_they_were_stored_as() -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    for stored in (parts, {"content": parts}):
        message, problem = message_of({"role": "user", "content": "\0json:" + json.dumps(stored)})
        assert message.parts == (Text("see"), Media("image", "image/png", "AAAA"))
        assert problem == ""


def test_parts_that_are_damaged_stay_text() -> None:
    row = {"role": "user", "content": "\0json:[{"}
    assert message_of(row) == (Message(Role.USER, (Text("\0json:[{"),)), "")


def test_a_call_that_cannot_be_read_leaves_the_words() -> None:
    row = {"role": "assistant", "content": "look", "tool_calls": '[{"id": 1}]'}
    message, problem = message_of(row)
    assert message == Message(Role.ASSISTANT, (Text("look"),))
    assert problem == "expected text, found a number"


def test_a_row_that_is_marked_as_a_summary_is_one_in_any_words() -> None:
    row = {"role": "user", "content": "They met.", "_compressed_summary": 1}
    message, problem = message_of(row)
    assert (message.summary, problem) == (Summary("They met.", "hermes"), "")
    silent, _ = message_of({**row, "content": None})
    assert silent.summary is None


def test_what_stands_beside_the_words_is_kept() -> None:
    row = {
        "id": 7,
        "timestamp": 1_700_000_000.25,
        "finish_reason": "stop",
        "token_count": 0,
        "platform_message_id": "",
        "display_kind": "hidden",
        "observed": 1,
    }
    more = {"finish_reason": "stop", "token_count": 0, "display_kind": "hidden", "observed": True}
    assert native_of(row) == SourceMetadata(id="7", at=1_700_000_000_250, more=more)


def test_what_stands_beside_the_words_is_text_where_a_column_holds_bytes() -> None:
    row: dict[str, object] = {"id": 1, "role": "user", "token_count": b"\xfft"}
    assert native_of(row).more == {"token_count": "\ufffdt"}


def test_rows_with_the_same_message_have_the_same_print_whenever_they_were_written() -> None:
    row = {"role": "user", "content": "x", "timestamp": 1.0, "active": 1}
    assert fingerprint(row) == fingerprint({**row, "timestamp": 2.0, "active": 0})
    assert fingerprint(row) != fingerprint({**row, "content": "y"})
    assert fingerprint(row) == fingerprint({**row, "content": "x \n"})


VALUES = st.none() | st.integers() | st.floats() | st.text() | st.binary()
ROLES = st.sampled_from(["system", "user", "assistant", "tool"])


@given(ROLES, st.dictionaries(st.sampled_from(COLUMNS), VALUES))
def test_any_row_is_a_message(role: str, row: dict[str, object]) -> None:
    whole = {**row, "role": role}
    message, _ = message_of(whole)
    assert message.role in Role
    assert fingerprint(whole) == fingerprint(dict(whole))
    assert isinstance(native_of(whole), SourceMetadata)
