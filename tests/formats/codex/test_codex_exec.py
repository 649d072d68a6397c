"""What `codex exec --json` prints is read as the conversation that it reports on."""

import json

import pytest

from holdfast.formats import detect, read
from holdfast.formats.codex import CODEX
from holdfast.formats.events import StrandStarted
from holdfast.formats.json_access import mapping
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Media, Opaque, Role, Text, Thinking
from tests.formats.conformance import broken_rules, spoken
from tests.formats.printed import calls, costs, problems, results, tell, told

START = {"type": "thread.started", "thread_id": "t"}
TURN = {"type": "turn.started"}


def item(phase: str, id: str, kind: str, **fields: object) -> dict[str, object]:  # noqa: A002
    return {"type": f"item.{phase}", "item": {"id": id, "type": kind, **fields}}


def done(sent: int, cached: int, received: int) -> dict[str, object]:
    usage = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": received}
    return {"type": "turn.completed", "usage": usage}


def command(phase: str, **fields: object) -> dict[str, object]:
    told = {"command": "bash -lc 'ls src'", "aggregated_output": "", "status": "in_progress"}
    return item(phase, "item_1", "command_execution", **(told | fields))


STREAM = (
    START,
    TURN,
    item("completed", "item_0", "reasoning", text="I look first."),
    command("started", exit_code=None),
    command("updated", aggregated_output="a.py\n"),
    command("completed", aggregated_output="a.py\nb.py\n", exit_code=0, status="completed"),
    item("completed", "item_2", "agent_message", text="Two files."),
    done(100, 60, 7),
)


def test_a_stream_is_recognized_and_read_by_its_content() -> None:
    text = "\n".join(json.dumps(line) for line in STREAM)
    assert detect(text).format == "codex"
    assert detect(text).confidence == 1.0
    assert [each.role for each in read(text).transcript] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]


@pytest.mark.parametrize("place", range(2, 7))
def test_a_stream_without_its_head_is_recognized_by_its_items(place: int) -> None:
    assert CODEX.recognize([SourceRecord(1, STREAM[place])]) is not None


def test_an_item_that_begins_changes_and_ends_is_one_call_with_one_result() -> None:
    events = tell(*STREAM)
    assert isinstance(events[0], StrandStarted)
    assert events[0].about.id == "t"
    (call,), (result,) = calls(events), results(events)
    assert (call.name, json.loads(call.arguments)) == ("shell", {"command": "bash -lc 'ls src'"})
    assert (result.call_id, result.text, result.is_error) == (call.id, "a.py\nb.py\n", False)
    assert [each.native.id for each in told(events)] == ["item_0", "item_1", "", "item_2"]
    assert told(events)[0].message.parts == (Thinking("I look first."),)
    assert not problems(events)
    assert not broken_rules(events)


@pytest.mark.parametrize("length", range(1, len(STREAM)))
def test_what_was_told_of_a_stream_stays_when_it_grows(length: int) -> None:
    before, after = spoken(tell(*STREAM[:length])), spoken(tell(*STREAM))
    assert before == after[: len(before)]


def test_the_thought_before_a_call_is_of_the_same_answer() -> None:
    replies = [each.native.reply for each in told(tell(*STREAM))]
    assert replies[0] == replies[1] != replies[3]


def test_what_turns_cost_is_the_total_of_the_thread_and_counted_once() -> None:
    events = tell(*STREAM, TURN, done(250, 160, 20), TURN, done(30, 0, 3))
    assert costs(events) == [
        Usage(1, 40, 7, 60),
        Usage(2, 90, 20, 160),
        # Less than before: the count began anew.
        Usage(3, 120, 23, 160),
    ]


def test_a_command_that_failed_says_with_which_code() -> None:
    events = tell(
        START,
        command("started"),
        command("completed", aggregated_output="no such file", exit_code=2, status="failed"),
        item("completed", "item_2", "command_execution", command="rm x", status="declined"),
    )
    first, second = results(events)
    assert (first.text, first.is_error) == ("Exit code: 2\nOutput:\nno such file", True)
    assert second.is_error
    assert [call.id for call in calls(events)] == ["item_1", "item_2"]


def test_tools_of_servers_are_named_as_the_model_calls_them_and_keep_pictures() -> None:
    asked: dict[str, object] = {"server": "docs", "tool": "find", "arguments": {"q": "port"}}
    picture = {"type": "image", "data": "iVBO", "mimeType": "image/png"}
    content = [{"type": "text", "text": "8443"}, picture]
    events = tell(
        START,
        item("started", "item_0", "mcp_tool_call", **asked, result=None, status="in_progress"),
        item("started", "item_1", "mcp_tool_call", **asked, result=None, status="in_progress"),
        item(
            "completed",
            "item_1",
            "mcp_tool_call",
            **asked,
            result=None,
            error={"message": "no route"},
            status="failed",
        ),
        item(
            "completed",
            "item_0",
            "mcp_tool_call",
            **asked,
            result={"content": content, "structured_content": None},
            status="completed",
        ),
    )
    assert [call.name for call in calls(events)] == ["mcp__docs__find"] * 2
    failed, good = results(events)
    assert (failed.call_id, failed.text, failed.is_error) == ("item_1", "no route", True)
    assert good.call_id == "item_0"
    assert good.content == (Text("8443"), Media(media_type="image/png", data="iVBO"))


def test_a_structured_answer_without_content_is_kept_as_json() -> None:
    events = tell(
        START,
        item(
            "completed",
            "item_0",
            "mcp_tool_call",
            server="docs",
            tool="find",
            result={"content": [], "structured_content": {"port": 8443}},
            status="completed",
        ),
    )
    assert results(events)[0].text == '{"port": 8443}'


def test_a_change_of_files_is_told_when_it_is_whole() -> None:
    change = {"path": "/srv/a.py", "kind": "update", "diff": "+1"}
    events = tell(
        START,
        item("updated", "item_0", "file_change", changes=[], status="in_progress"),
        item("started", "item_0", "file_change", changes=[change], status="in_progress"),
        item("completed", "item_0", "file_change", changes=[change], status="completed"),
        item("completed", "item_1", "file_change", changes=[change], status="failed"),
        done(1, 0, 1),
    )
    assert [call.name for call in calls(events)] == ["apply_patch"] * 2
    assert json.loads(calls(events)[0].arguments) == {"changes": [change]}
    assert [result.is_error for result in results(events)] == [False, True]
    assert not problems(events)


def test_a_change_that_never_ended_is_reported_and_a_command_stays_a_call() -> None:
    events = tell(
        START,
        command("started"),
        item("started", "item_2", "file_change", changes=[], status="in_progress"),
    )
    assert [call.name for call in calls(events)] == ["shell"]
    assert problems(events) == [(3, "the file_change 'item_2' has no end and is left out")]


def test_a_search_is_held_as_rollouts_hold_it() -> None:
    events = tell(
        START,
        item("started", "item_0", "web_search", query="", action={"type": "other"}),
        item("completed", "item_0", "web_search", query="tls port", action={"type": "other"}),
        done(1, 0, 1),
    )
    (search,) = told(events)
    assert isinstance(search.message.parts[0], Opaque)
    assert search.message.parts[0].readable == "searched: tls port"
    assert not problems(events)


def test_each_state_of_the_plan_is_told_once() -> None:
    first = [{"text": "Look", "completed": False}]
    last = [{"text": "Look", "completed": True}]
    events = tell(
        START,
        item("started", "item_0", "todo_list", items=first),
        item("updated", "item_0", "todo_list", items=last),
        item("completed", "item_1", "agent_message", text="Seen."),
        item("completed", "item_0", "todo_list", items=last),
        done(1, 0, 1),
    )
    assert [(call.name, json.loads(call.arguments)) for call in calls(events)] == [
        ("update_plan", {"plan": [{"step": "Look", "status": "pending"}]}),
        ("update_plan", {"plan": [{"step": "Look", "status": "completed"}]}),
    ]
    assert told(events)[-1].message.text == "Seen."
    assert not broken_rules(events)


def test_a_sub_agent_is_a_call_with_what_became_of_it() -> None:
    states = {"t2": {"status": "completed", "message": "Done."}}
    asked: dict[str, object] = {"tool": "spawn_agent", "sender_thread_id": "t", "prompt": "Count"}
    events = tell(
        START,
        item("started", "item_0", "collab_tool_call", **asked, status="in_progress"),
        item("completed", "item_0", "collab_tool_call", **asked, agents_states=states),
    )
    (call,), (result,) = calls(events), results(events)
    assert call.name == "spawn_agent"
    assert json.loads(call.arguments) == {"prompt": "Count", "sender_thread_id": "t"}
    assert json.loads(result.text) == states
    made = item("completed", "item_1", "collab_tool_call", **asked, receiver_thread_ids=["t2"])
    assert results(tell(START, made))[0].text == '["t2"]'


def test_items_without_ids_are_told_once_too() -> None:
    started, completed = command("started"), command("completed", exit_code=0)
    for line in (started, completed):
        line["item"] = {**mapping(line["item"]), "id": None}
    assert len(calls(tell(START, started, completed))) == 1


def test_errors_are_reported_once_and_are_no_part_of_the_conversation() -> None:
    events = tell(
        START,
        item("completed", "item_0", "error", message="The config is old."),
        {"type": "error", "message": "The limit is reached."},
        {"type": "turn.failed", "error": {"message": "The limit is reached."}},
        item("completed", "item_1", "hologram", text="?"),
    )
    assert not told(events)
    assert problems(events) == [
        (2, "The config is old."),
        (3, "The limit is reached."),
        (5, "an item of type 'hologram' is not known"),
    ]


def test_a_thread_that_is_resumed_goes_on_and_another_is_a_conversation_of_its_own() -> None:
    first = item("completed", "item_0", "agent_message", text="One")
    events = tell(START, first, START, first, START | {"thread_id": "u"}, first)
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == ["", "u"]
    assert [each.strand for each in told(events)] == ["", "", "u"]
    assert len({each.key for each in told(events)}) == 3


def test_calls_of_two_runs_with_one_id_are_told_apart() -> None:
    both = (command("started"), command("completed", exit_code=0))
    events = tell(START, *both, START, *both)
    assert len({call.id for call in calls(events)}) == 2
    assert [result.call_id for result in results(events)] == [call.id for call in calls(events)]


def test_the_first_releases_named_types_and_sessions_otherwise() -> None:
    events = tell(
        {"type": "session.created", "session_id": "s"},
        {
            "type": "item.completed",
            "item": {"id": "itm_0", "item_type": "assistant_message", "text": "Hi"},
        },
    )
    assert isinstance(events[0], StrandStarted)
    assert events[0].about.id == "s"
    assert [each.message.text for each in told(events)] == ["Hi"]


def test_an_error_before_the_thread_begins_does_not_hide_its_name() -> None:
    events = tell({"type": "error", "message": "The server is slow."}, *STREAM)
    (begun,) = [each for each in events if isinstance(each, StrandStarted)]
    assert begun.about.id == "t"
