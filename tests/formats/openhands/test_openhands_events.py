"""The event log of the OpenHands SDK reads as a conversation."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import Problem, read
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    StrandStarted,
)
from holdfast.formats.openhands.events import OPENHANDS_EVENTS
from holdfast.formats.source import SourceRecord, parse
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised


def tell(*events: object) -> list[Event]:
    return list(
        OPENHANDS_EVENTS.read(SourceRecord(line, each) for line, each in enumerate(events, 1))
    )


def says(name: str) -> dict[str, object]:
    message = {"role": "user", "content": [{"type": "text", "text": name}]}
    return {"id": name, "kind": "MessageEvent", "source": "user", "llm_message": message}


def acts(name: str, reply: str) -> dict[str, object]:
    call = {"tool_name": "terminal", "tool_call_id": name, "tool_call": {"arguments": "{}"}}
    words = {"thought": [{"type": "text", "text": "I look."}], "llm_response_id": reply}
    return {"id": name, "kind": "ActionEvent", "source": "agent", **call, **words}


def condense(name: str, *gone: str, **fields: object) -> dict[str, object]:
    ids = list(gone)
    return {"id": name, "kind": "Condensation", "source": "environment", **fields} | {
        "forgotten_event_ids": ids
    }


def folds(*events: object) -> list[tuple[str, ...]]:
    return [event.shows for event in tell(*events) if isinstance(event, CompactionEvent)]


def test_events_become_messages() -> None:
    document = read(sample("openhands_events.jsonl"))
    assert document.format == "openhands-events"
    assert shape(document.transcript, 110) == "\n".join(
        [
            "00 system    You are an engineer.",
            "01 user      Review the change",
            '02 assistant (thinking) | I read both files. | -> terminal {"command": "cat a"} | '
            '-> terminal {"command": "cat b"}',
            "03 tool      result: aaa",
            "04 tool      error: no file b",
            '05 assistant (thinking) | -> terminal {"command": "rm a"}',
            "06 tool      error: Do not delete",
            "07 user      [summary] Two files were read.",
            "08 assistant The change is good.",
        ]
    )


def test_what_a_terminal_says_around_an_output_is_part_of_it() -> None:
    metadata = {"exit_code": 4, "prefix": "[below is more]\n", "suffix": "\n[exit code 4]"}
    content = [{"type": "text", "text": "no rule"}]
    seen = {"content": content, "metadata": metadata}
    ended = {"kind": "ObservationEvent", "source": "environment", "tool_call_id": "a"}
    *_, told = tell(acts("a", "r"), {**ended, "observation": seen})
    assert isinstance(told, MessageEvent)
    assert told.message.results[0].text == "[below is more]\nno rule\n[exit code 4]"


def test_thoughts_keep_their_seal() -> None:
    transcript = read(sample("openhands_events.jsonl")).transcript
    thoughts = [transcript[2].parts[0], transcript[5].parts[0]]
    assert thoughts == [Thinking("two files"), Thinking("remove it", "c2VhbA==", {"anthropic": {}})]


def test_a_result_without_its_action_is_a_problem() -> None:
    assert read(sample("openhands_events.jsonl")).problems == (
        Problem(12, "a result answers call 'v9', which is not in the file"),
    )


def test_a_condensation_forgets_events_and_puts_its_summary_among_the_rest() -> None:
    summary = condense("f", "b", summary="so far", summary_offset=1)
    assert folds(says("a"), says("b"), says("c"), summary) == [("a", "f", "c")]


def test_a_summary_is_seen_until_a_condensation_forgets_it() -> None:
    first = condense("f", "a", summary="one", summary_offset=0)
    second = condense("g", "f-summary", summary="two", summary_offset=0)
    assert folds(says("a"), says("b"), first, second) == [("f", "b"), ("g", "b")]


def test_a_condensation_without_a_summary_only_forgets() -> None:
    assert folds(says("a"), says("b"), condense("f", "a")) == [("b",)]


def test_calls_of_one_answer_say_its_words_once_and_statistics_what_all_cost() -> None:
    def stats(prompt: int) -> dict[str, object]:
        tokens = {"prompt_tokens": prompt, "completion_tokens": 1, "cache_read_tokens": 2}
        metrics = {"accumulated_cost": 0.5, "accumulated_token_usage": tokens}
        return {
            "kind": "ConversationStateUpdateEvent",
            "source": "environment",
            "key": "stats",
            "value": {"usage_to_metrics": {"default": metrics}},
        }

    events = tell(stats(10), acts("a", "r"), acts("b", "r"), stats(30), acts("c", "s"))
    told = [event for event in events if isinstance(event, MessageEvent)]
    assert [event.message.parts for event in told] == [
        (Text("I look."), ToolCall("a", "terminal", "{}")),
        (ToolCall("b", "terminal", "{}"),),
        (Text("I look."), ToolCall("c", "terminal", "{}")),
    ]
    costs = [
        event.about.usage for event in events if isinstance(event, StrandStarted | MetadataUpdated)
    ]
    assert costs == [Usage(0, 8, 1, 2, 0, 0.5), Usage(0, 28, 1, 2, 0, 0.5)]
    assert [event.native.usage for event in told] == [None, None, None]


def test_a_folder_is_one_conversation_and_its_state_says_what_it_is() -> None:
    usages = [{"response_id": "r", "prompt_tokens": 9, "completion_tokens": 1}]
    state = {
        "id": "6f0c",
        "agent": {"llm": {"model": "m"}},
        "workspace": {"working_dir": "/srv"},
        "execution_status": "idle",
        "stats": {"usage_to_metrics": {"agent": {"token_usages": usages}}},
    }
    records = [
        SourceRecord(1, state, "runs/6f0c/base_state.json"),
        SourceRecord(1, says("a"), "runs/6f0c/events/event-00000-a.json"),
        SourceRecord(1, acts("b", "r"), "runs/6f0c/events/event-00001-b.json"),
        SourceRecord(1, says("x"), "runs/77aa/events/event-00000-x.json"),
        SourceRecord(1, {**state, "id": "77aa"}, "runs/77aa/base_state.json"),
        SourceRecord(1, 5, "runs/77aa/events/event-00001-y.json"),
    ]
    sign = OPENHANDS_EVENTS.recognize(records[:1])
    assert sign is not None
    assert sign.confidence < 1
    events = list(OPENHANDS_EVENTS.read(records))
    about = About(id="6f0c", model="m", cwd="/srv", usage=Usage(1, 9, 1))
    assert [event for event in events if not isinstance(event, MessageEvent)] == [
        StrandStarted(strand="runs/6f0c", line=1, about=about),
        StrandStarted(strand="runs/77aa", line=1, about=About(id="77aa")),
        MetadataUpdated(strand="runs/77aa", about=replace(about, id="77aa")),
        Problem(1, "expected an event, found a number", "runs/77aa/events/event-00001-y.json"),
    ]
    told = [event for event in events if isinstance(event, MessageEvent)]
    strands = [(event.strand, event.key) for event in told]
    assert strands == [("runs/6f0c", "a"), ("runs/6f0c", "b"), ("runs/77aa", "x")]
    assert told[1].native.model == "m"


def test_what_was_added_to_a_prompt_is_part_of_what_was_said() -> None:
    extended = {**says("a"), "extended_content": [{"type": "text", "text": "a skill"}]}
    system = {
        "kind": "SystemPromptEvent",
        "source": "agent",
        "system_prompt": {"type": "text", "text": "Be good."},
        "dynamic_context": {"type": "text", "text": "It is Monday."},
    }
    told = [event for event in tell(system, extended) if isinstance(event, MessageEvent)]
    assert [event.message for event in told] == [
        Message(Role.SYSTEM, (Text("Be good."), Text("It is Monday."))),
        Message(Role.USER, (Text("a"), Text("a skill"))),
    ]
    assert [event.strand for event in told] == [MAIN, MAIN]


def test_the_manifest_counts_changes_of_state_as_messages(shared: Path) -> None:
    path = shared / "data/sessions/openhands/sdk_events.jsonl"
    records = parse(path.read_bytes()).records
    events = list(OPENHANDS_EVENTS.read(records))
    told = [event for event in events if isinstance(event, MessageEvent)]
    states = [record for record in records if "key" in record.value]  # type: ignore[operator]
    assert len(told) + len(states) == 10
    *_, newest = (
        event.about.usage for event in events if isinstance(event, StrandStarted | MetadataUpdated)
    )
    assert newest == Usage(0, 39_265, 1347, 68_193)


SAMPLES = st.sampled_from(("openhands_events.jsonl",))


@given(SAMPLES.flatmap(lambda name: surprised(records_of(sample(name).encode()))))
def test_a_file_with_surprises_is_told_by_the_rules(records: list[SourceRecord]) -> None:
    assert breaks(OPENHANDS_EVENTS, records) == []
