"""What newer releases of Gemini CLI write is read as what it means."""

from holdfast.formats.events import CompactionEvent, Event, MessageEvent, RewindEvent, StrandStarted
from holdfast.formats.gemini_cli import GEMINI_CLI
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import ToolResult
from tests.formats.conformance import broken_rules

HEAD = {"sessionId": "g", "projectHash": "abc", "kind": "main"}


def tell(*entries: object, file: str = "") -> list[Event]:
    records = (SourceRecord(line, value, file) for line, value in enumerate(entries, 1))
    events = list(GEMINI_CLI.read(records))
    assert broken_rules(events) == []
    return events


def user(name: str, text: str) -> dict[str, object]:
    return {"id": name, "type": "user", "content": text}


def called(output: str | None) -> dict[str, object]:
    response = {"functionResponse": {"name": "ls", "response": {"output": output}}}
    result = None if output is None else [response]
    return {"id": "c1", "result": result}


ANSWER = {
    "id": "a1",
    "type": "gemini",
    "content": "",
    "toolCalls": [{"name": "ls", "args": {}, "status": "success", **called(None)}],
}


def results(events: list[Event]) -> list[str]:
    told = [each for each in events if isinstance(each, MessageEvent)]
    parts = [part for each in told for part in each.message.parts]
    return [part.text for part in parts if isinstance(part, ToolResult)]


def test_a_result_that_a_patch_brings_is_told_once() -> None:
    brought = {"$patch": {"id": "a1", "toolCalls": [called("main.py")]}}
    masked = {"$patch": {"updates": [{"id": "a1", "toolCalls": [called("(left out)")]}]}}
    assert results(tell(HEAD, user("u1", "List"), ANSWER, brought, masked)) == ["main.py"]


def test_a_patch_of_a_message_that_never_came_tells_nothing() -> None:
    events = tell(HEAD, user("u1", "List"), {"$patch": {"id": "gone", "content": "words"}})
    assert [each.key for each in events if isinstance(each, MessageEvent)] == ["u1"]


def test_messages_that_a_patch_removes_are_seen_no_more() -> None:
    lines = (user("u1", "One"), user("u2", "Two"), user("u3", "Three"))
    events = tell(HEAD, *lines, {"$patch": {"removeIds": ["u2", "gone"]}})
    assert [each.shows for each in events if isinstance(each, RewindEvent)] == [("u1", "u3")]
    again = tell(HEAD, *lines, {"$patch": {"removeIds": ["gone"]}})
    assert not [each for each in again if isinstance(each, RewindEvent)]


def test_a_snapshot_in_the_place_of_removed_messages_is_a_compaction() -> None:
    snapshot = user("s", "<state_snapshot>A shop was built</state_snapshot>")
    patch = {"$patch": {"removeIds": ["u1"], "orderIds": ["s", "u2"]}}
    events = tell(HEAD, user("u1", "One"), user("u2", "Two"), snapshot, patch, user("u3", "Three"))
    assert [each.shows for each in events if isinstance(each, CompactionEvent)] == [("s", "u2")]
    (summary,) = [
        each for each in events if isinstance(each, MessageEvent) and each.message.summary
    ]
    assert summary.key == "s"


def test_a_sub_agent_is_a_child_of_the_session_that_its_folder_is_named_after() -> None:
    head = {**HEAD, "sessionId": "sub", "kind": "subagent"}
    lines = (head, user("u1", "Look"))
    for file in ("/home/ada/.gemini/tmp/shop/chats/g/sub.jsonl", r"C:\shop\chats\g\sub.jsonl"):
        begun = tell(*lines, file=file)[0]
        assert isinstance(begun, StrandStarted)
        assert (begun.about.parent, begun.about.fork) == ("g", Fork.DELEGATION)
    alone = tell(*lines, file="/home/ada/.gemini/tmp/shop/chats/session-1-sub.jsonl")[0]
    assert isinstance(alone, StrandStarted)
    assert (alone.about.parent, alone.about.fork) == ("", None)


def test_a_chat_that_is_gone_on_with_tells_nothing_twice() -> None:
    call = {"functionCall": {"id": "c1", "name": "ls", "args": {}}}
    response = {"id": "c1", "name": "ls", "response": {"output": "a.txt"}}
    answered = {"id": "r1", "type": "user", "content": [{"functionResponse": response}]}
    done = {
        **ANSWER,
        "content": "Look.",
        "toolCalls": [{"name": "ls", "args": {}, **called("a.txt")}],
    }
    said = {"id": "a2", "type": "gemini", "content": "One file."}
    again = [
        {"id": "u1", "type": "user", "content": [{"text": "Files?"}]},
        {"id": "a1", "type": "gemini", "content": [{"text": "Look."}, call]},
        {"id": "a1_response", "type": "user", "content": answered["content"]},
        answered,
        {"id": "a2", "type": "gemini", "content": [{"text": "One file."}]},
    ]
    before = [HEAD, user("u1", "Files?"), done, answered, said]
    after = [HEAD, {"$set": {"messages": again}}, user("u2", "Thanks.")]
    events = tell(*before, *after)
    told = [each for each in events if isinstance(each, MessageEvent)]
    roles = " ".join(each.message.role for each in told)
    assert roles == "user assistant assistant tool assistant user"
    assert results(events) == ["a.txt"]


def test_a_result_that_stands_apart_from_its_call_is_told_once() -> None:
    call = {"functionCall": {"id": "c9", "name": "ls", "args": {}}}
    response = {"id": "c9", "name": "ls", "response": {"output": "b.txt"}}
    answered = {"id": "r9", "type": "user", "content": [{"functionResponse": response}]}
    events = tell(HEAD, {"id": "a9", "type": "gemini", "content": [call]}, answered, answered)
    assert results(events) == ["b.txt"]
