"""A mini-swe-agent trajectory tells what its agent kept of every answer."""

import json
from pathlib import Path

import pytest

from holdfast.formats import read, write
from holdfast.formats.documents import document_events
from holdfast.formats.events import (
    About,
    MessageEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
    without_native,
)
from holdfast.formats.mini_swe_agent import about_run, answers_known
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolResult

RESPONSE = {
    "id": "gen-1",
    "model": "m",
    "created": 1_763_508_910,
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "cost": 0.5},
    "choices": [{"message": {"content": "```bash\nls\n```", "reasoning": "hm"}}],
}
RUN = {
    "info": {"exit_status": "Submitted", "mini_version": "1.15.0", "config": {"model": {}}},
    "messages": [
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": "```bash\nls\n```", "extra": {"response": RESPONSE}},
        {"role": "user", "content": "<returncode>1</returncode>"},
    ],
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "shop-1",
}


def test_an_answer_gets_its_reasoning_its_cost_and_its_time() -> None:
    messages = answers_known(read(json.dumps(RUN)).transcript)
    answer = messages[1]
    assert native_of(answer) == SourceMetadata(
        reply="gen-1", model="m", usage=Usage(1, 9, 2, cost=0.5), at=1_763_508_910_000
    )
    assert answer.parts == (Thinking("hm"), Text("```bash\nls\n```"))
    assert set(without_native(answer).extras) == set()
    assert [native_of(each) for each in (messages[0], messages[2])] == [
        SourceMetadata(),
        SourceMetadata(),
    ]


def test_a_run_is_known_by_its_task_and_its_first_answer() -> None:
    messages = answers_known(read(json.dumps(RUN)).transcript)
    assert about_run(RUN, messages) == About(
        id="shop-1/gen-1",
        title="shop-1",
        model="m",
        version="1.15.0",
        started=1_763_508_910_000,
        more={"trajectory_format": "mini-swe-agent-1", "exit_status": "Submitted"},
    )
    assert about_run({"instance_id": "shop-1"}, []) == About(title="shop-1")


def test_a_run_whose_answers_name_no_price_has_the_price_of_the_whole() -> None:
    info = {"model_stats": {"instance_cost": 0.5, "api_calls": 3}}
    assert about_run({"info": info}, []).usage == Usage(3, cost=0.5)
    priced = answers_known(read(json.dumps(RUN)).transcript)
    assert about_run({"info": info}, priced).usage is None


def test_a_trajectory_is_told_as_a_session_and_can_still_be_written_back() -> None:
    text = json.dumps(RUN)
    document = read(text)
    begun, *told = document_events(document)
    assert isinstance(begun, StrandStarted)
    assert begun.about.id == "shop-1/gen-1"
    assert [event.native.reply for event in told if isinstance(event, MessageEvent)] == [
        "",
        "gen-1",
        "",
    ]
    assert json.loads(write(document, document.transcript)) == RUN


def test_a_command_of_a_native_tool_that_failed_is_an_error() -> None:
    result = Message(
        Role.TOOL,
        (ToolResult("c", (Text("no"),)),),
        extras={"openai": {"extra": {"returncode": 2, "timestamp": 1_763_508_911}, "name": "x"}},
    )
    (known,) = answers_known([result])
    assert known.parts == (ToolResult("c", (Text("no"),), is_error=True),)
    assert native_of(known) == SourceMetadata(at=1_763_508_911_000)
    assert without_native(known).extras == {"openai": {"name": "x"}}


def test_reasoning_that_the_message_says_already_is_not_said_twice() -> None:
    thinking = Thinking("so", extras={"openai": {"field": "reasoning_content"}})
    extras = {"openai": {"extra": {"response": RESPONSE}}}
    (known,) = answers_known([Message(Role.ASSISTANT, (thinking, Text("a")), extras=extras)])
    assert known.parts == (thinking, Text("a"))


@pytest.mark.parametrize("name", ["django__django-11163", "django__django-14007"])
def test_the_manifest_counts_commands_in_fences_as_calls_and_each_is_an_answer_that_cost(
    shared: Path, name: str
) -> None:
    manifest = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    file = f"sessions/mini_swe_agent/gemini3pro_{name}.traj.json"
    (expected,) = [each for each in manifest if each["file"] == file]
    document = read((shared / "data" / file).read_bytes())
    messages = answers_known(document.transcript)
    natives = [native_of(message) for message in messages]
    failed = [
        m for m in messages if m.text.startswith("<returncode>") and "<returncode>0" not in m.text
    ]
    assert len(messages) == expected["messages"]
    assert sum(native.usage is not None for native in natives) == expected["tool_calls"]
    assert len(failed) == expected["errors"]
    price = sum(native.usage.cost for native in natives if native.usage is not None)
    assert document.envelope is not None
    info = document.envelope.rest["info"] if document.envelope.rest else {}
    assert round(price, 6) == round(info["model_stats"]["instance_cost"], 6)  # type: ignore[index]


ANSWER = {
    "id": "resp_1",
    "object": "response",
    "model": "m",
    "created_at": 1_763_508_910,
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'},
    ],
    "usage": {
        "input_tokens": 9,
        "output_tokens": 2,
        "input_tokens_details": {"cached_tokens": 4},
    },
    "extra": {"cost": 0.5, "timestamp": 1_763_508_911.0, "actions": [{"command": "ls"}]},
}
RESPONSES_RUN = {
    **RUN,
    "messages": [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Fix it"},
        ANSWER,
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": "<returncode>1</returncode>",
            "extra": {"returncode": 1, "timestamp": 1_763_508_912.0},
        },
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    ],
}


def test_a_run_with_the_responses_api_keeps_its_answers_whole_and_tells_their_items() -> None:
    document = read(json.dumps(RESPONSES_RUN))
    assert (document.format, document.dialect) == ("mini-swe-agent", "responses")
    told = [each for each in document_events(document) if isinstance(each, MessageEvent)]
    assert [each.message.role for each in told] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.ASSISTANT,
        Role.TOOL,
    ]
    thought, call, result = told[2:]
    assert (thought.native.reply, call.native.reply) == ("resp_1", "resp_1")
    assert thought.native.usage == Usage(1, 5, 2, cache_read_tokens=4, cost=0.5)
    assert call.native.usage is None
    assert thought.native.at == 1_763_508_911_000
    part = result.message.parts[0]
    assert isinstance(part, ToolResult)
    assert part.is_error
    assert result.native.at == 1_763_508_912_000


def test_a_run_with_the_responses_api_is_read_the_same_when_its_format_is_named() -> None:
    text = json.dumps(RESPONSES_RUN)
    assert read(text, format="mini-swe-agent").transcript == read(text).transcript


def test_what_is_written_back_of_such_a_run_reads_as_the_same_conversation() -> None:
    document = read(json.dumps(RESPONSES_RUN))
    again = read(write(document, document.transcript))
    assert [each.parts for each in again.transcript] == [each.parts for each in document.transcript]
    assert json.loads(write(document, document.transcript))["messages"][-1]["role"] == "exit"
