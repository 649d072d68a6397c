"""Gemini CLI chats read the same from an object and from lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.gemini_cli import GEMINI_CLI
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import (
    Message,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    open_calls,
    shape,
)
from tests.formats.conformance import broken_rules
from tests.formats.samples import sample

Entry = dict[str, object]
HEAD: Entry = {"sessionId": "g", "projectHash": "abc"}
EXPECTED = "\n".join(
    [
        "00 user      Count the files | [image]",
        '01 assistant (thinking) | -> run_shell_command {"command": "ls"} | -> re…',
        "02 tool      result: a b",
        '03 tool      error: {"error": {"code": 404}} see above',
        "04 assistant Two files.",
    ]
)


def tell(*entries: object) -> list[Event]:
    events = list(
        GEMINI_CLI.read(SourceRecord(line, value) for line, value in enumerate(entries, 1))
    )
    assert broken_rules(events) == []
    return events


def told(*entries: object) -> list[MessageEvent]:
    return [each for each in tell(*entries) if isinstance(each, MessageEvent)]


def user(id: str, text: object) -> Entry:  # noqa: A002
    return {"id": id, "type": "user", "content": text}


def gemini(id: str, text: object = "", **fields: object) -> Entry:  # noqa: A002
    return {"id": id, "type": "gemini", "content": text, **fields}


def call(id: str, answer: str = "") -> Entry:  # noqa: A002
    made: Entry = {"id": id, "name": "ls", "args": {}, "status": "executing"}
    if answer:
        made["status"] = "success"
        made["result"] = [{"functionResponse": {"response": {"output": answer}}}]
    return made


def test_an_object_with_messages() -> None:
    assert shape(read(sample("gemini_cli.json")).transcript) == EXPECTED


def test_a_message_a_line() -> None:
    assert shape(read(sample("gemini_cli.jsonl")).transcript) == EXPECTED


def test_a_call_that_still_runs_is_open() -> None:
    assert open_calls(read(sample("gemini_cli.json")).transcript) == {"run-3": 1}


def test_a_chat_without_a_project_is_known_by_its_messages() -> None:
    chat = {"sessionId": "s", "messages": [{"type": "gemini", "content": "hello"}]}
    assert shape(read(json.dumps(chat)).transcript) == "00 assistant hello"


def test_the_oldest_files_call_the_model_gemini_and_date_messages_in_seconds() -> None:
    answer = {"role": "gemini", "parts": [{"text": "a cat"}], "ts": 1_695_000_005}
    asked = {"role": "user", "parts": [{"text": "what is it?"}], "ts": 1_695_000_000}
    value = {"history": [asked, answer], "meta": {"model": "m"}, "summary": "cats"}
    sign = GEMINI_CLI.recognize([SourceRecord(1, value)])
    assert sign is not None
    assert sign.confidence < 1
    begun, *_ = tell(value)
    assert begun == StrandStarted(strand=MAIN, line=1, about=About(title="cats", model="m"))
    assert [(each.message, each.native.at) for each in told(value)] == [
        (Message(Role.USER, (Text("what is it?"),)), 1_695_000_000_000),
        (Message(Role.ASSISTANT, (Text("a cat"),)), 1_695_000_005_000),
    ]


def test_the_head_says_whose_session_it_is_and_what_it_is_about() -> None:
    events = tell(
        HEAD | {"startTime": "2026-01-01T00:00:00.000Z", "kind": "main"},
        gemini("a", "hello", model="m-1"),
        gemini("b", "hello", model="m-1"),
        {"$set": {"summary": "A greeting", "lastUpdated": "x"}},
        {"$set": {"summary": "A greeting"}},
    )
    more = {"projectHash": "abc", "kind": "main"}
    about = About(id="g", started=1_767_225_600_000, more=more)
    assert events[0] == StrandStarted(strand=MAIN, line=1, about=about)
    assert [each.about for each in events if isinstance(each, MetadataUpdated)] == [
        About(model="m-1"),
        About(title="A greeting"),
    ]


def test_of_a_grown_message_only_what_was_added_is_told() -> None:
    thought = {"subject": "Files", "description": "I look."}
    found = told(
        HEAD,
        gemini("a", thoughts=[thought]),
        gemini("a", thoughts=[thought], toolCalls=[call("1"), call("2", "x")]),
        gemini("a", "Done.", thoughts=[thought], toolCalls=[call("1", "y"), call("2", "x")]),
        gemini("a", "Done.", thoughts=[thought], toolCalls=[call("1", "y"), call("2", "x")]),
    )
    calls = (ToolCall("1", "ls"), ToolCall("2", "ls"))
    assert [each.message for each in found] == [
        Message(Role.ASSISTANT, (Thinking("Files\nI look."),)),
        Message(Role.ASSISTANT, calls),
        Message(Role.TOOL, (ToolResult("2", (Text("x"),), name="ls"),)),
        Message(Role.ASSISTANT, (Text("Done."),)),
        Message(Role.TOOL, (ToolResult("1", (Text("y"),), name="ls"),)),
    ]
    assert [each.native.reply for each in found] == ["a", "a", "", "a", ""]
    assert {each.native.id for each in found} == {"a"}


def test_what_an_answer_cost_is_told_once() -> None:
    tokens = {"input": 100, "cached": 60, "output": 5, "thoughts": 2, "tool": 1}
    found = told(
        HEAD,
        gemini("a", "one", tokens=tokens),
        gemini("a", "one", tokens=tokens, toolCalls=[call("1")]),
        gemini("b", "two"),
        gemini("b", "two", tokens={"input": 1}),
        gemini("c", "three"),
    )
    assert [each.native.usage for each in found] == [
        Usage(1, 41, 7, 60),
        None,
        None,
        Usage(1, 1),
    ]


def test_what_was_taken_back_is_not_shown() -> None:
    lines = [HEAD, user("a", "one"), gemini("b", "two", toolCalls=[call("1", "x")]), user("c", "3")]
    events = tell(
        *lines, {"$rewindTo": "b"}, user("d", "4"), {"$rewindTo": "?"}, {"$rewindTo": "?"}
    )
    rewound = [each for each in events if isinstance(each, RewindEvent)]
    assert rewound == [
        RewindEvent(strand=MAIN, line=5, shows=("a",)),
        RewindEvent(strand=MAIN, line=7, shows=()),
    ]


def test_a_compression_replaces_what_is_shown() -> None:
    snapshot = "<state_snapshot>All is well.</state_snapshot>"
    lines = [HEAD, user("a", "one"), gemini("b", "two"), user("c", "three")]
    kept = [
        user("s", [{"text": snapshot}]) | {"toolCalls": [call("1", "x")]},
        gemini("t", "Got it."),
        user("c", "three"),
    ]
    events = tell(*lines, {"$set": {"messages": kept}})
    assert [each.key for each in events if isinstance(each, MessageEvent)] == [
        "a",
        "b",
        "c",
        "s",
        "t",
    ]
    (summary,) = [
        each.message for each in events if isinstance(each, MessageEvent) and each.key == "s"
    ]
    assert summary.summary == Summary(snapshot, "gemini-cli")
    assert events[-1] == CompactionEvent(strand=MAIN, line=5, id="#5", shows=("s", "t", "c"))


def test_messages_that_are_written_again_as_they_were_change_nothing() -> None:
    lines = [HEAD, user("a", "one"), gemini("b", "two")]
    assert tell(*lines, {"$set": {"messages": lines[1:]}}) == tell(*lines)


def test_messages_that_are_left_out_are_not_shown() -> None:
    events = tell(
        HEAD, user("a", "one"), gemini("b", "two"), {"$set": {"messages": [user("a", "one")]}}
    )
    assert events[-1] == RewindEvent(strand=MAIN, line=4, shows=("a",))


def test_parts_are_read_as_the_api_writes_them() -> None:
    parts = [
        {"text": "hmm", "thought": True, "thoughtSignature": "c2VhbA=="},
        "Well.",
        {"functionCall": {"id": "1", "name": "ls", "args": {}}},
    ]
    (told_once,) = told(HEAD, gemini("a", parts, toolCalls=[call("1")]))
    assert [type(part).__name__ for part in told_once.message.parts] == [
        "Thinking",
        "Text",
        "ToolCall",
    ]
    (thought, _, _) = told_once.message.parts
    assert isinstance(thought, Thinking)
    assert thought.signature == "c2VhbA=="


def test_notices_for_the_screen_are_passed_over() -> None:
    notices = [{"id": kind, "type": kind, "content": "x"} for kind in ("info", "error", "warning")]
    assert told(HEAD, *notices) == []


def test_what_was_told_of_a_document_stays_told_when_its_last_answer_gets_calls() -> None:
    head = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"}
    asked, answer = user("u", "look"), gemini("g", "I look.")
    before = told({**head, "messages": [asked, answer]})
    done = {**answer, "toolCalls": [call("c", "found")]}
    after = told({**head, "messages": [asked, done, gemini("h", "There.")]})
    assert after[: len(before)] == before
    assert [each.message.role for each in after[len(before) :]] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert after[2].native.reply == after[1].native.reply == "g"


def test_what_was_told_stays_told_when_a_file_grows() -> None:
    lines: list[Entry] = [
        HEAD,
        user("a", "one"),
        gemini("b", tokens={"input": 3}, toolCalls=[call("1")]),
        gemini("b", "x", tokens={"input": 3}, toolCalls=[call("1", "y")]),
        {"$rewindTo": "b"},
        gemini("c", "z"),
    ]
    whole = [each for each in tell(*lines) if not isinstance(each, MetadataUpdated)]
    for count in range(len(lines)):
        part = [each for each in tell(*lines[:count]) if not isinstance(each, MetadataUpdated)]
        assert part == whole[: len(part)]


SCRAPS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("id", "type", "text", "content", "result", "functionCall", "name")),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
FIELDS = (
    "id type content parts toolCalls thoughts tokens model summary sessionId messages $set "
    "$rewindTo timestamp"
).split()
ENTRIES = st.dictionaries(
    st.sampled_from(FIELDS), st.sampled_from(("user", "gemini", "a")) | SCRAPS, max_size=6
)


@given(st.lists(ENTRIES | ENTRIES.map(lambda entry: {"$set": {"messages": [entry]}}), max_size=5))
def test_no_record_is_too_strange_to_read(entries: list[Entry]) -> None:
    tell(*entries)


def test_a_model_thought_and_called_whoever_the_line_names() -> None:
    call = {"id": "c", "name": "ls", "args": {}}
    thoughts = [{"subject": "Look", "description": ""}]
    said = told(HEAD, {**user("1", "Go"), "thoughts": thoughts, "toolCalls": [call]})
    assert [each.message for each in said] == [
        Message(Role.USER, (Text("Go"),)),
        Message(Role.ASSISTANT, (Thinking("Look"), ToolCall("c", "ls", "{}"))),
    ]
