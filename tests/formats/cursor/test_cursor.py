"""The transcripts of Cursor's agent, told line by line."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.cursor import CURSOR
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("cursor.jsonl").encode())
FOLDER = "projects/sky/agent-transcripts/c-1"


def line(role: str, *blocks: object) -> object:
    return {"role": role, "message": {"content": list(blocks)}}


def test_lines_become_messages_and_results_find_the_calls_that_have_no_id() -> None:
    calls = (
        ToolCall("#2.2", "Shell", '{"command": "make test"}'),
        ToolCall("#2.3", "Shell", '{"command": "make lint"}'),
    )
    results = (
        ToolResult("#2.2", (Text("2 failed"),), is_error=True),
        ToolResult("#2.3", (Text("clean"),), name="Shell"),
    )
    said = (
        Message(Role.USER, (Text("Which tests fail?"),)),
        Message(Role.ASSISTANT, (Thinking("Run them."), Text("I run them."), *calls)),
        Message(Role.TOOL, results),
        Message(Role.ASSISTANT, (Text("Two of them."),)),
    )
    told = [
        MessageEvent(strand=MAIN, line=number, key=f"#{number}", message=message)
        for number, message in enumerate(said, 1)
    ]
    answer = MessageEvent(
        strand=MAIN, line=2, key="#2", message=said[1], native=SourceMetadata(model="auto-1")
    )
    assert list(CURSOR.read(RECORDS)) == [
        StrandStarted(strand=MAIN, line=1, about=About()),
        told[0],
        answer,
        told[2],
        Problem(4, "a block of type 'hologram' is not known"),
        told[3],
    ]


def test_a_call_is_the_models_whoever_the_line_names() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Shell", "input": {}}
    (_, told) = CURSOR.read([SourceRecord(1, line("user", {"type": "text", "text": "So"}, call))])
    parts = (Text("So"), ToolCall("t", "Shell", "{}"))
    assert isinstance(told, MessageEvent)
    assert told.message == Message(Role.ASSISTANT, parts)


def test_a_result_answers_no_call_from_before_the_user_spoke() -> None:
    records = [
        SourceRecord(1, line("assistant", {"type": "tool_use", "name": "old", "input": {}})),
        SourceRecord(2, line("user", {"type": "text", "text": "Go on"})),
        SourceRecord(3, line("assistant", {"type": "tool_use", "name": "new", "input": {}})),
        SourceRecord(
            4, line("user", {"type": "tool_result", "tool_use_id": "t", "content": "done"})
        ),
    ]
    (result,) = [each for each in CURSOR.read(records) if isinstance(each, MessageEvent)][-1:]
    assert result.message == Message(Role.TOOL, (ToolResult("#3.0", (Text("done"),)),))


def test_results_and_words_of_one_line_are_two_messages() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "text"}
    records = [
        SourceRecord(1, line("assistant", call)),
        SourceRecord(2, line("user", answer, {"type": "text", "text": "Well?"})),
    ]
    told = [each for each in CURSOR.read(records) if isinstance(each, MessageEvent)]
    assert [(each.key, each.message.role) for each in told[1:]] == [
        ("#2", Role.TOOL),
        ("#2.1", Role.USER),
    ]
    assert told[1].message.results[0].call_id == "t1"


def test_the_path_says_which_session_a_sub_agent_works_for() -> None:
    paths = {
        f"{FOLDER}/c-1.jsonl": About(id="c-1"),
        f"{FOLDER}/subagents/c-2.jsonl": About(id="c-2", parent="c-1", fork=Fork.DELEGATION),
        "somewhere/else.jsonl": About(),
        r"projects\sky\c-1\c-1.jsonl": About(id="c-1"),
    }
    for path, about in paths.items():
        first = next(CURSOR.read([SourceRecord(1, RECORDS[0].value, path)]))
        assert first == StrandStarted(strand=MAIN, line=1, about=about)


def test_a_line_with_a_type_is_another_agents() -> None:
    assert (
        CURSOR.recognize([SourceRecord(1, {"type": "user", "role": "user", "message": {}})]) is None
    )


@given(st.data())
def test_whatever_a_transcript_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(CURSOR, data.draw(surprised(RECORDS))) == []
