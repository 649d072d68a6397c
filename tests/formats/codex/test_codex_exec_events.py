"""What older releases printed for `codex exec --json` is read as well as what newer ones print."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import detect
from holdfast.formats.codex import CODEX
from holdfast.formats.events import StrandStarted
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Role
from tests.formats.conformance import broken_rules
from tests.formats.printed import calls, costs, problems, results, tell, told
from tests.formats.surprises import breaks, surprised

SETTINGS = {"model": "gpt-5", "provider": "openai", "workdir": "/srv", "sandbox": "read-only"}


def event(kind: str, **fields: object) -> dict[str, object]:
    return {"id": "0", "msg": {"type": kind, **fields}}


def counted(sent: int, received: int) -> dict[str, object]:
    total = {"input_tokens": sent, "cached_input_tokens": 0, "output_tokens": received}
    return event("token_count", info={"total_token_usage": total, "last_token_usage": total})


OLDER = (
    SETTINGS,
    {"prompt": "Count the files"},
    event("task_started", model_context_window=272000),
    event("agent_reasoning", text="I look."),
    event("exec_command_begin", call_id="c1", command=["ls", "src"], cwd="/srv"),
    event("exec_command_output_delta", call_id="c1", stream="stdout", chunk="YS5weQo="),
    event("exec_command_end", call_id="c1", stdout="a.py\n", stderr="", exit_code=0),
    counted(10, 2),
    counted(10, 2),
    event("agent_message", message="One."),
    counted(30, 5),
)


def test_the_older_events_are_recognized_and_tell_the_prompt_the_folder_and_the_model() -> None:
    text = "\n".join(json.dumps(line) for line in OLDER)
    assert detect(text).format == "codex"
    events = tell(*OLDER)
    assert isinstance(events[0], StrandStarted)
    assert (events[0].about.model, events[0].about.cwd) == ("gpt-5", "/srv")
    assert [each.message.role for each in told(events)] == [
        Role.USER,
        Role.ASSISTANT,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert told(events)[0].message.text == "Count the files"
    assert json.loads(calls(events)[0].arguments) == {"command": ["ls", "src"], "workdir": "/srv"}
    assert results(events)[0].text == "a.py\n"
    assert {each.native.model for each in told(events) if each.native.reply} == {"gpt-5"}
    assert costs(events)[-1] == Usage(3, 30, 5)
    assert not broken_rules(events)


def test_what_the_oldest_releases_counted_for_each_answer_is_added_up() -> None:
    answer = event("token_count", input_tokens=10, cached_input_tokens=4, output_tokens=2)
    spent = costs(tell(event("task_started"), answer, answer))
    assert spent == [Usage(1, 6, 2, 4), Usage(2, 12, 4, 8)]


def test_older_patches_and_tools_of_servers_tell_whether_they_failed() -> None:
    made = {"server": "docs", "tool": "find", "arguments": {"q": "port"}}
    events = tell(
        event("patch_apply_begin", call_id="p", changes={"a.py": {"add": {"content": "1"}}}),
        event("patch_apply_end", call_id="p", stdout="", stderr="no", success=False),
        event("mcp_tool_call_begin", call_id="m", invocation=made),
        event("mcp_tool_call_end", call_id="m", invocation=made, result={"Err": "gone"}),
        event(
            "mcp_tool_call_end",
            call_id="n",
            invocation=made,
            result={"Ok": {"content": [{"type": "text", "text": "8443"}]}},
        ),
        event("web_search_end", call_id="w", query="tls"),
        event("plan_update", plan=[{"step": "Look", "status": "pending"}]),
        event("error", message="The limit is reached."),
    )
    assert [(call.id, call.name) for call in calls(events)][:3] == [
        ("p", "apply_patch"),
        ("m", "mcp__docs__find"),
        ("n", "mcp__docs__find"),
    ]
    assert [(each.text, each.is_error) for each in results(events)] == [
        ("no", True),
        ("gone", True),
        ("8443", False),
        ("Plan updated", False),
    ]
    assert problems(events) == [(8, "The limit is reached.")]


def test_the_last_words_are_told_once_though_the_end_of_a_task_repeats_them() -> None:
    events = tell(
        event("agent_message", message="One."),
        event("task_complete", last_agent_message="One."),
        event("task_complete", last_agent_message=None),
        event("task_complete", last_agent_message="Two."),
    )
    assert [each.message.text for each in told(events)] == ["One.", "Two."]


def test_a_session_that_is_resumed_brings_what_was_said_before() -> None:
    earlier = [
        {"type": "user_message", "message": "Hello"},
        {"type": "agent_message", "message": "Hi"},
    ]
    start = event("session_configured", session_id="s", model="m", initial_messages=earlier)
    events = tell(start, event("agent_message", message="Go on."), start)
    assert isinstance(events[0], StrandStarted)
    assert events[0].about.id == "s"
    assert [each.message.text for each in told(events)] == ["Hello", "Hi", "Go on."]


@given(st.data())
def test_whatever_older_events_say_they_are_told_by_the_rules(data: st.DataObject) -> None:
    made = {"server": "docs", "tool": "find", "arguments": {"q": "port"}}
    ok = {"Ok": {"content": [{"type": "text", "text": "8443"}]}}
    lines = [
        *OLDER,
        event("session_configured", session_id="s", model="m", initial_messages=[{"type": "a"}]),
        event("mcp_tool_call_begin", call_id="m", invocation=made),
        event("mcp_tool_call_end", call_id="m", invocation=made, result=ok),
        event("patch_apply_end", call_id="p", stdout="", stderr="no", success=False),
        event("web_search_end", call_id="w", query="tls"),
        event("plan_update", plan=[{"step": "Look", "status": "pending"}]),
        event("task_complete", last_agent_message="Two."),
        event("error", message="The limit is reached."),
    ]
    records = [SourceRecord(place, line) for place, line in enumerate(lines, 1)]
    assert breaks(CODEX, data.draw(surprised(records))) == []


@given(st.data())
def test_whatever_newer_events_say_they_are_told_by_the_rules(data: st.DataObject) -> None:
    kinds: dict[str, dict[str, object]] = {
        "agent_message": {"text": "Hi"},
        "reasoning": {"text": "I look."},
        "command_execution": {"command": "ls", "aggregated_output": "a", "exit_code": 1},
        "mcp_tool_call": {"server": "d", "tool": "f", "result": {"content": [{"text": "a"}]}},
        "file_change": {"changes": [{"path": "a", "kind": "add"}], "status": "completed"},
        "web_search": {"query": "tls", "action": {"type": "search", "query": "tls"}},
        "todo_list": {"items": [{"text": "Look", "completed": False}]},
        "collab_tool_call": {"tool": "wait", "prompt": "a", "agents_states": {}},
        "error": {"message": "The config is old."},
    }
    lines: list[dict[str, object]] = [{"type": "thread.started", "thread_id": "t"}]
    for kind, fields in kinds.items():
        item = {"id": f"item_{kind}", "type": kind, **fields}
        lines.append({"type": "item.started", "item": item})
        lines.append({"type": "item.completed", "item": item})
    usage = {"input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2}
    lines.append({"type": "turn.completed", "usage": usage})
    lines.append({"type": "error", "message": "No."})
    records = [SourceRecord(place, line) for place, line in enumerate(lines, 1)]
    assert breaks(CODEX, data.draw(surprised(records))) == []
