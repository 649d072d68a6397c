"""OpenHands outputs read as one conversation a task."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.formats import read, read_all
from holdfast.formats.events import MAIN, About, CompactionEvent, Event, MessageEvent, StrandStarted
from holdfast.formats.openhands import OPENHANDS
from holdfast.formats.source import SourceRecord, parse
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, said_in, shape
from holdfast.transcript.effects import Family, effect
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised


def tell(*tasks: object) -> list[Event]:
    return list(OPENHANDS.read(SourceRecord(line, task) for line, task in enumerate(tasks, 1)))


def says(number: int) -> dict[str, object]:
    return {"id": number, "source": "user", "action": "message", "args": {"content": str(number)}}


def condense(number: int, **arguments: object) -> dict[str, object]:
    return {"id": number, "action": "condensation", "args": arguments}


def folds(*events: object) -> list[tuple[str, ...]]:
    told = tell({"history": list(events)})
    return [event.shows for event in told if isinstance(event, CompactionEvent)]


def test_actions_of_one_answer_are_one_message() -> None:
    document = read(sample("openhands.jsonl"))
    assert (document.format, document.problems) == ("openhands", ())
    assert shape(document.transcript, 100) == "\n".join(
        [
            "00 system    You are an engineer.",
            "01 user      Fix the parser",
            '02 assistant I look around. | -> execute_bash {"command": "ls"} | '
            '-> execute_bash {"command": "pwd"}',
            "03 tool      result: parser.c",
            "04 tool      error: no such command",
            "05 user      [summary] The parser was found.",
            '06 assistant I edit it. | -> edit {"path": "parser.c"}',
            "07 tool      result: edited",
            "08 assistant The parser is fixed.",
        ]
    )


def test_the_oldest_files_pair_by_order() -> None:
    first, second = read_all(sample("openhands_flat.jsonl"))
    assert shape(first.transcript) == "\n".join(
        [
            "00 user      Add a license",
            '01 assistant I add it. | -> run {"command": "touch LICENSE"}',
            "02 tool      result: ok",
            '03 assistant Done. | -> finish {"outputs": {}}',
        ]
    )
    assert shape(second.transcript) == "\n".join(
        [
            "00 user      Say hello",
            '01 assistant -> run {"command": "echo hello"}',
            "02 tool      result: hello",
        ]
    )


def test_arguments_come_from_the_action_when_the_answer_lacks_them() -> None:
    about = {"tool_call_id": "x", "function_name": "run", "model_response": {"id": "g"}}
    action = {"action": "run", "args": {"command": "ls"}, "tool_call_metadata": about}
    document = read(json.dumps({"history": [action]}))
    assert shape(document.transcript) == '00 assistant -> run {"command": "ls"}'


def test_an_observation_that_answers_nothing_is_told_as_the_model_got_it() -> None:
    stray = {"observation": "think", "content": "The agent is stuck"}
    (_, told) = tell({"history": [stray]})
    assert isinstance(told, MessageEvent)
    assert told.message == Message(Role.USER, (Text("The agent is stuck"),))


def test_an_error_that_answers_nothing_is_no_word_of_the_user() -> None:
    stray = {"source": "agent", "observation": "error", "content": "The command is unknown"}
    (_, told) = tell({"history": [stray]})
    assert isinstance(told, MessageEvent)
    words = "The command is unknown\n[Error occurred in processing last action]"
    assert told.message == Message(Role.USER, (Text(words),))
    assert not said_in(told.message)
    (_, said) = tell({"history": [{**stray, "source": "user"}]})
    assert isinstance(said, MessageEvent)
    assert said_in(said.message) == "The command is unknown"


@pytest.mark.parametrize(
    "known",
    [
        {"extras": {"metadata": {"exit_code": 3, "suffix": "\n[It finished with exit code 3.]"}}},
        {"extras": {"exit_code": 3}},
        {"exit_code": 3},
    ],
)
def test_how_a_command_ended_is_part_of_its_result(known: dict[str, object]) -> None:
    run = {"action": "run", "id": 1, "args": {"command": "make test"}}
    ended = {"observation": "run", "cause": 1, "content": "no such target", **known}
    *_, told = tell({"history": [run, ended]})
    assert isinstance(told, MessageEvent)
    assert effect(told.message.results[0], Family.SHELL).exit_code == 3
    assert told.message.results[0].text.startswith("no such target\n[")


def test_several_tasks_are_not_one_conversation() -> None:
    with pytest.raises(DecodeError, match="expected one conversation, found 2"):
        read(sample("openhands_flat.jsonl"))


def test_a_condensation_names_what_it_forgets_and_where_its_summary_stands() -> None:
    summary = {"summary": "so far", "summary_offset": 1}
    events = [says(0), says(1), says(2), condense(3, forgotten_event_ids=[1], **summary)]
    assert folds(*events) == [("#0", "#3", "#2")]


def test_a_condensation_may_forget_everything_between_two_events() -> None:
    span = {"forgotten_events_start_id": 1, "forgotten_events_end_id": 10**12}
    assert folds(says(0), says(1), says(2), condense(3, **span)) == [("#0",)]


def test_of_several_summaries_an_agent_sees_the_newest() -> None:
    first = condense(2, forgotten_event_ids=[0], summary="one", summary_offset=0)
    second = condense(4, forgotten_event_ids=[1], summary="two", summary_offset=0)
    assert folds(says(0), says(1), first, says(3), second) == [("#2", "#1"), ("#4", "#3")]


def test_quiet_events_take_a_place_that_a_summary_counts() -> None:
    recall = {"id": 1, "action": "recall", "args": {}}
    state = {"id": 2, "observation": "agent_state_changed", "content": ""}
    summary = condense(4, forgotten_event_ids=[], summary="one", summary_offset=2)
    assert folds(says(0), recall, state, says(3), summary) == [("#0", "#4", "#3")]


def test_an_answer_costs_what_its_response_says_and_the_task_its_price() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    answer = {"content": "", "reasoning_content": "hm", "tool_calls": []}
    response = {"id": "g", "model": "m", "usage": usage, "choices": [{"message": answer}]}
    about = {"tool_call_id": "c", "function_name": "run", "model_response": response}
    first = {"id": 1, "action": "run", "args": {}, "tool_call_metadata": about}
    second = {**first, "id": 2, "tool_call_metadata": {**about, "tool_call_id": "d"}}
    later = {"id": 3, "action": "run", "args": {"thought": "so"}}
    metrics = {"accumulated_cost": 0.5, "token_usages": []}
    told = tell({"history": [first, second, later], "metrics": metrics})
    natives = [event.native for event in told if isinstance(event, MessageEvent)]
    usages = [native.usage for native in natives]
    assert usages == [Usage(1, 6, 2, cache_read_tokens=4), None, None]
    assert [each.about.usage for each in told if isinstance(each, StrandStarted)] == [
        Usage(cost=0.5)
    ]
    assert [(native.id, native.reply) for native in natives] == [("1", "g"), ("2", "g"), ("3", "")]
    parts = [event.message.parts[0] for event in told if isinstance(event, MessageEvent)]
    assert (parts[0], parts[2]) == (Thinking("hm"), Text("so"))


def test_metrics_say_what_a_task_cost_where_its_answers_do_not() -> None:
    response = {"id": "g", "choices": []}
    about = {"tool_call_id": "c", "function_name": "run", "model_response": response}
    action = {"id": 1, "action": "run", "args": {}, "tool_call_metadata": about}
    usages = [{"prompt_tokens": 7, "completion_tokens": 1}] * 2
    listed = {"token_usages": usages, "accumulated_cost": 0.5}
    added = {"accumulated_token_usage": {"prompt_tokens": 14, "completion_tokens": 2}, **listed}
    for metrics in (listed, added):
        (begun, told) = tell({"history": [action], "metrics": metrics})
        assert isinstance(begun, StrandStarted)
        assert isinstance(told, MessageEvent)
        assert (begun.about.usage, told.native.usage) == (Usage(2, 14, 2, cost=0.5), None)


def test_a_run_is_known_by_its_task_and_its_time() -> None:
    metadata = {
        "start_time": "2025-04-30 16:31:22",
        "llm_config": {"model": "m"},
        "agent_class": "CodeActAgent",
    }
    system = {
        "id": 0,
        "timestamp": "2026-01-02T03:04:05",
        "action": "system",
        "args": {"content": "Be good.", "openhands_version": "0.35.0"},
    }
    begun, _ = tell({"instance_id": "shop-1", "metadata": metadata, "history": [system]})
    assert begun == StrandStarted(
        strand=MAIN,
        line=1,
        about=About(
            id="shop-1@2025-04-30 16:31:22",
            title="shop-1",
            model="m",
            version="0.35.0",
            started=1_767_323_045_000,
            more={"agent": "CodeActAgent"},
        ),
    )


def test_each_task_of_a_file_is_a_conversation_with_keys_of_its_own() -> None:
    told = tell({"history": [says(0)]}, {"history": [says(0)]}, 5)
    strands = [event.strand for event in told if isinstance(event, StrandStarted)]
    keys = [event.key for event in told if isinstance(event, MessageEvent)]
    assert (strands, keys) == ([MAIN, "1", "2"], ["#0", "1#0"])


REAL = (("multi_swe_bench_output.jsonl", 222, 103), ("resolver_mock_output.jsonl", 52, 24))


@pytest.mark.parametrize(("name", "events", "calls"), REAL)
def test_the_manifest_counts_recalls_as_messages_and_finishing_as_no_call(
    shared: Path, name: str, events: int, calls: int
) -> None:
    records = parse((shared / "data/sessions/openhands" / name).read_bytes()).records
    told = [event for event in OPENHANDS.read(records) if isinstance(event, MessageEvent)]
    history = [each for record in records for each in record.value["history"]]  # type: ignore[index]
    quiet = [each for each in history if "recall" in (each.get("action"), each.get("observation"))]
    found = [call for event in told for call in event.message.calls]
    assert len(told) + len(quiet) == events
    assert len([call for call in found if call.name != "finish"]) == calls


SAMPLES = st.sampled_from(
    (
        "openhands.jsonl",
        "openhands_flat.jsonl",
    )
)


@given(SAMPLES.flatmap(lambda name: surprised(records_of(sample(name).encode()))))
def test_a_file_with_surprises_is_told_by_the_rules(records: list[SourceRecord]) -> None:
    assert breaks(OPENHANDS, records) == []
