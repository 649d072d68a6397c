"""Documents of providers are told with everything that stands beside their messages."""

import json
from pathlib import Path

import pytest

from holdfast.formats import read, read_all
from holdfast.formats.content import summarized
from holdfast.formats.documents import document_events, window_events
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    Problem,
    SourceMetadata,
    StrandStarted,
    with_native,
)
from holdfast.formats.reading import read_documents_tolerantly
from holdfast.formats.source import stream_records
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult
from tests.formats.samples import sample

HELLO = {"role": "user", "content": "hello"}


def about(value: object) -> About:
    first = next(document_events(read(json.dumps(value))))
    assert isinstance(first, StrandStarted)
    return first.about


def told(value: object) -> list[MessageEvent]:
    return [
        each for each in document_events(read(json.dumps(value))) if isinstance(each, MessageEvent)
    ]


def test_a_session_of_hermes_says_when_where_and_with_which_model() -> None:
    value = {
        "session_id": "h1",
        "model": "m",
        "platform": "cli",
        "session_start": "2026-01-01T00:00:00Z",
        "last_updated": "2026-01-01T00:05:00Z",
        "model_config": {"cwd": "/srv"},
        "base_url": "",
        "tools": [{"name": "f"}],
        "messages": [HELLO],
    }
    assert about(value) == About(
        id="h1", model="m", cwd="/srv", started=1_767_225_600_000, more={"platform": "cli"}
    )


def test_the_prompt_that_hermes_keeps_beside_the_messages_is_told_first() -> None:
    value = {
        "session_id": "h",
        "session_start": "",
        "system_prompt": "be good",
        "messages": [HELLO],
    }
    prompt = Message(Role.SYSTEM, (Text("be good"),))
    assert [each.message for each in told(value)] == [prompt, Message(Role.USER, (Text("hello"),))]
    again = {**value, "messages": [{"role": "system", "content": "be good"}, HELLO]}
    assert [each.message for each in told(again)] == [each.message for each in told(value)]


def test_an_answer_that_a_log_of_requests_keeps_is_told_last_unless_it_is_there() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    response = {
        "id": "r",
        "model": "m",
        "created": 1_767_225_600,
        "choices": [{"message": answer}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }
    value = {"messages": [HELLO], "response": response, "cost": 0.5}
    _, last = told(value)
    assert last.message == Message(Role.ASSISTANT, (ToolCall("c", "f", "{}"),))
    assert last.native == SourceMetadata(
        reply="r", model="m", usage=Usage(1, 9, 2, cost=0.5), at=1_767_225_600_000
    )
    assert len(told({**value, "messages": [HELLO, answer]})) == 2
    assert len(told({**value, "response": {"choices": [5]}})) == 1


def test_a_thought_that_is_written_under_two_names_is_told_once() -> None:
    answer = {"role": "assistant", "content": "so", "reasoning": "hm", "reasoning_content": "hm"}
    (said,) = told([answer])
    assert [type(part) for part in said.message.parts] == [Thinking, Text]
    (apart,) = told([{**answer, "reasoning": "well"}])
    assert [type(part) for part in apart.message.parts] == [Thinking, Thinking, Text]


def test_a_result_of_hermes_has_its_name_and_says_when_it_failed() -> None:
    answer = {"role": "tool", "content": "no", "tool_call_id": "c", "tool_name": "f"}
    value = {
        "session_id": "h",
        "session_start": "",
        "messages": [{**answer, "finish_reason": "error"}],
    }
    (found,) = told(value)
    assert found.message.parts == (ToolResult("c", (Text("no"),), is_error=True, name="f"),)


def test_messages_say_their_id_and_their_time() -> None:
    dated = {**HELLO, "id": "m1", "timestamp": 1_700_000_000.5}
    first, second = told({"messages": [dated, HELLO]})
    assert (first.key, first.native) == ("m1", SourceMetadata(id="m1", at=1_700_000_000_500))
    assert (second.key, second.native) == ("#2", SourceMetadata())


@pytest.mark.parametrize(
    ("value", "started"),
    [
        ({"created_at": 1_700_000_000, "model": "m", "input": [HELLO]}, 1_700_000_000_000),
        ({"created": 1_700_000_000, "messages": [HELLO]}, 1_700_000_000_000),
        (
            {
                "timestamp": "2026-01-01T00:00:00",
                "conversations": [{"from": "human", "value": "x"}],
            },
            1_767_225_600_000,
        ),
    ],
    ids=["responses", "openai", "sharegpt"],
)
def test_every_dialect_may_say_when_it_was(value: object, started: int) -> None:
    assert about(value).started == started


def test_a_long_id_names_a_session_and_a_short_one_only_counts_samples() -> None:
    assert about({"id": "resp_0123456789", "input": [HELLO]}).id == "resp_0123456789"
    found = about({"id": "17", "conversations": [{"from": "human", "value": "x"}]})
    assert (found.id, found.more) == ("", {"id": "17"})


def test_a_bare_list_of_messages_says_nothing_besides() -> None:
    assert about([HELLO]) == About()


def test_every_conversation_of_a_file_is_told_with_names_of_its_own() -> None:
    documents = read_all(sample("trajectories.jsonl"))
    keys = [
        event.key
        for number, document in enumerate(documents)
        for event in document_events(document, strand=str(number))
        if isinstance(event, MessageEvent)
    ]
    assert len(documents) > 1
    assert len(keys) == len(set(keys))


def test_a_conversation_that_was_cut_off_is_a_problem_and_those_before_it_are_told() -> None:
    whole = sample("trajectories.jsonl").strip().encode()
    lines = whole.count(b"\n") + 1
    events = list(read_documents_tolerantly("auto", stream_records([whole[:-20]])))
    assert sum(isinstance(event, StrandStarted) for event in events) == lines - 1
    last = events[-1]
    assert isinstance(last, Problem)
    assert last.line == lines


def test_ids_are_names_only_once_and_never_in_two_strands() -> None:
    twice = [with_native(Message(Role.USER, (Text("x"),)), SourceMetadata(id="a"))] * 2
    keys = [each.key for each in window_events(twice, About()) if isinstance(each, MessageEvent)]
    assert keys == ["a", "#2"]
    other = [
        each.key
        for each in window_events(twice, About(), strand="1")
        if isinstance(each, MessageEvent)
    ]
    assert other == ["1/a", "1#2"]


def test_a_summary_is_told_as_a_compaction_that_left_what_stands_before_it() -> None:
    messages = [Message(Role.SYSTEM, (Text("p"),)), summarized("they met", "pi")]
    (fold,) = [
        each for each in window_events(messages, About()) if isinstance(each, CompactionEvent)
    ]
    assert fold == CompactionEvent(strand="", line=2, id="#2/fold", shows=("#1", "#2"))


REAL = {
    "glaive_toolcall_en_demo.json": 1914,
    "glaive_toolcall_zh_demo.json": 1880,
    "reason_tool_use_demo_50.jsonl": 274,
}


@pytest.mark.parametrize("name", REAL)
def test_the_turns_of_a_real_collection_are_the_messages_that_the_manifest_counts(
    shared: Path, name: str
) -> None:
    path = shared / "data" / "sessions" / "sharegpt" / name
    if not path.exists():
        pytest.skip(f"no {name} here")
    events = [
        event for document in read_all(path.read_bytes()) for event in document_events(document)
    ]
    assert sum(isinstance(event, MessageEvent) for event in events) == REAL[name]
