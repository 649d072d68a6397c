"""A session of opencode told, wherever its records came from."""

import json
from collections.abc import Mapping

from holdfast.formats import read
from holdfast.formats.events import (
    CompactionEvent,
    Event,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
)
from holdfast.formats.opencode.session import StoredMessage, callers_first, session_events
from holdfast.formats.reader import KeyAllocator
from holdfast.session import Usage
from holdfast.transcript import shape
from tests.formats.samples import sample

EXPORT = json.loads(sample("opencode.json"))
ENTRIES = [StoredMessage(each["info"], each["parts"]) for each in EXPORT["messages"]]
START = 1_790_000_000_000
Fields = Mapping[str, object]


def told(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def answer(parts: list[Fields], **more: object) -> list[MessageEvent]:
    fields = {"id": "m", "role": "assistant", "time": {}, **more}
    return told(list(session_events({"id": "s"}, [StoredMessage(fields, parts)], KeyAllocator())))


def tool(status: str) -> Fields:
    return {"id": "t", "type": "tool", "callID": "c", "tool": "x", "state": {"status": status}}


def text(own: str, **time: int) -> Fields:
    return {"id": own, "type": "text", "text": own, "time": time}


def test_steps_are_answers_of_their_own_and_a_compaction_keeps_its_tail() -> None:
    document = read(sample("opencode.json"))
    assert shape(document.live, 60) == "\n".join(
        [
            "00 user      [summary] A moon was named.",
            '01 assistant (thinking) | -> read {"path": "moons"} | -> bash {"command"…',
            "02 tool      result: Io",
            "03 tool      error: no x",
            "04 assistant Io.",
            "05 user      Thanks",
        ]
    )


def test_what_each_step_cost_is_told_with_its_first_part() -> None:
    paid = {
        each.key: each.native
        for each in told(list(session_events(EXPORT["info"], ENTRIES, KeyAllocator())))
        if each.native.usage
    }
    assert paid == {
        "prt_000000000004a": SourceMetadata(
            id="prt_000000000004a",
            reply="msg_2/0",
            model="m-9",
            usage=Usage(1, 10, 5, 0, 1, 0.25),
            at=START + 2100,
        ),
        "prt_000000000009a": SourceMetadata(
            id="prt_000000000009a",
            reply="msg_2/5",
            model="m-9",
            usage=Usage(1, 20, 5, 2, 0, 0.25),
            at=START + 4000,
        ),
    }


def test_a_compaction_says_what_it_shows() -> None:
    folds = [
        each
        for each in session_events(EXPORT["info"], ENTRIES, KeyAllocator())
        if isinstance(each, CompactionEvent)
    ]
    assert folds == [
        CompactionEvent(
            strand="ses_1",
            line=1,
            id="msg_4/fold",
            shows=(
                "msg_4",
                "prt_000000000004a",
                "prt_000000000005a",
                "prt_000000000005a/result",
                "prt_000000000006a",
                "prt_000000000006a/result",
                "prt_000000000009a",
            ),
            at=START + 7000,
            trigger="auto",
        )
    ]


def test_a_session_that_was_taken_back_shows_what_came_before() -> None:
    events = list(
        session_events({"id": "s", "revert": {"messageID": "msg_2"}}, ENTRIES[:2], KeyAllocator())
    )
    assert events[-1] == RewindEvent(strand="s", line=1, shows=("msg_1",))


def test_an_answer_that_is_being_written_is_told_up_to_what_may_change() -> None:
    parts = [text("one", start=1, end=2), tool("running"), text("two", start=3, end=4)]
    live = {"tokens": {"input": 0}}
    assert [each.key for each in answer(parts, **live)] == ["one"]
    assert [each.key for each in answer([text("half", start=1)], **live)] == []
    assert [each.key for each in answer(parts, **live, finish="stop")] == ["one", "t", "two"]


def test_without_marks_a_step_ends_where_the_model_speaks_after_a_tool() -> None:
    found = answer([tool("completed"), tool("error"), text("one"), text("two")])
    assert [(each.key, each.native.reply) for each in found] == [
        ("t", "m"),
        ("t/result", ""),
        ("#2", "m"),
        ("#3", ""),
        ("one", "m/2"),
        ("two", "m/2"),
    ]


def test_a_failed_summary_is_an_answer_like_any_other() -> None:
    found = answer([text("half")], summary=True, error={"name": "Aborted"})
    assert [each.message.summary for each in found] == [None]


def test_parents_go_first_and_the_rest_keeps_its_order() -> None:
    sessions = [{"id": "c", "parentID": "b"}, {"id": "a"}, {"id": "b", "parentID": "a"}]
    assert [each["id"] for each in callers_first(sessions)] == ["a", "b", "c"]


def test_a_compaction_that_the_user_asked_for_says_so() -> None:
    asked = StoredMessage({"id": "a", "role": "user"}, [{"type": "compaction", "auto": False}])
    fields = {"id": "b", "role": "assistant", "summary": True, "parentID": "a", "finish": "stop"}
    events = list(
        session_events({"id": "s"}, [asked, StoredMessage(fields, [text("moons")])], KeyAllocator())
    )
    assert events[-1] == CompactionEvent(
        strand="s", line=1, id="b/fold", shows=("b",), trigger="manual"
    )
