"""What an agent did over the Agent Client Protocol is told as calls and results."""

from holdfast.formats.events import Event, MessageEvent
from holdfast.formats.openhands.events import OPENHANDS_EVENTS
from holdfast.formats.source import SourceRecord
from holdfast.transcript import ToolCall, ToolResult, shape


def tell(*events: object) -> list[Event]:
    return list(
        OPENHANDS_EVENTS.read(SourceRecord(line, each) for line, each in enumerate(events, 1))
    )


def call(status: str, **more: object) -> dict[str, object]:
    return {
        "id": f"e-{status}",
        "kind": "ACPToolCallEvent",
        "source": "agent",
        "tool_call_id": "c1",
        "title": "Run the tests",
        "tool_kind": "execute",
        "status": status,
        **more,
    }


ASKED = {"raw_input": {"command": "pytest"}}
FOUND = [{"type": "content", "content": {"type": "text", "text": "3 passed"}}]


def shown(*events: object) -> str:
    return shape([each.message for each in tell(*events) if isinstance(each, MessageEvent)], 60)


def test_the_changes_of_a_call_are_one_call_and_one_result() -> None:
    over = call("completed", **ASKED, content=FOUND)
    assert shown(call("pending"), call("in_progress", **ASKED), over, over) == "\n".join(
        ['00 assistant -> execute {"command": "pytest"}', "01 tool      result: 3 passed"]
    )


def test_a_call_that_failed_says_so_and_one_that_asked_for_nothing_has_its_title() -> None:
    events = tell(call("failed", raw_output={"code": 2}))
    made, answered = [each.message.parts[0] for each in events if isinstance(each, MessageEvent)]
    assert isinstance(made, ToolCall)
    assert made.arguments == '{"title": "Run the tests"}'
    assert isinstance(answered, ToolResult)
    assert (answered.text, answered.is_error) == ('{"code": 2}', True)


def test_a_change_of_a_file_is_what_stands_there_now() -> None:
    changed = [{"type": "diff", "path": "a.py", "old_text": "1", "new_text": "2"}]
    over = call("completed", raw_input="edit a.py", content=changed)
    assert shown(over) == "\n".join(
        ['00 assistant -> execute {"input": "edit a.py"}', "01 tool      result: 2"]
    )


def test_a_result_in_a_message_of_its_own_belongs_to_its_call() -> None:
    message = {"role": "tool", "tool_call_id": "c1", "name": "ls", "content": [{"text": "a.py"}]}
    event = {"id": "m", "kind": "MessageEvent", "source": "environment", "llm_message": message}
    (told,) = [each for each in tell(event) if isinstance(each, MessageEvent)]
    (result,) = told.message.results
    assert (result.call_id, result.name) == ("c1", "ls")
