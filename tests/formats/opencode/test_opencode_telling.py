"""A session of opencode told, wherever its records came from."""

import json
from collections.abc import Mapping

from holdfast.formats import read
from holdfast.formats.events import Event, Folded, Native, Rewound, Told
from holdfast.formats.opencode.session import Entry, callers_first, tell
from holdfast.formats.reader import Keys
from holdfast.session import Usage
from holdfast.transcript import shape
from tests.formats.samples import sample

EXPORT = json.loads(sample("opencode.json"))
ENTRIES = [Entry(each["info"], each["parts"]) for each in EXPORT["messages"]]
START = 1_790_000_000_000
Fields = Mapping[str, object]


def told(events: list[Event]) -> list[Told]:
    return [each for each in events if isinstance(each, Told)]


def answer(parts: list[Fields], **more: object) -> list[Told]:
    fields = {"id": "m", "role": "assistant", "time": {}, **more}
    return told(list(tell({"id": "s"}, [Entry(fields, parts)], Keys())))


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
        for each in told(list(tell(EXPORT["info"], ENTRIES, Keys())))
        if each.native.usage
    }
    assert paid == {
        "prt_000000000004a": Native(
            id="prt_000000000004a",
            reply="msg_2/0",
            model="m-9",
            usage=Usage(1, 10, 5, 0, 1, 0.25),
            at=START + 2100,
        ),
        "prt_000000000009a": Native(
            id="prt_000000000009a",
            reply="msg_2/5",
            model="m-9",
            usage=Usage(1, 20, 5, 2, 0, 0.25),
            at=START + 4000,
        ),
    }


def test_a_compaction_says_what_it_shows() -> None:
    folds = [each for each in tell(EXPORT["info"], ENTRIES, Keys()) if isinstance(each, Folded)]
    assert folds == [
        Folded(
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
    events = list(tell({"id": "s", "revert": {"messageID": "msg_2"}}, ENTRIES[:2], Keys()))
    assert events[-1] == Rewound(strand="s", line=1, shows=("msg_1",))


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
    asked = Entry({"id": "a", "role": "user"}, [{"type": "compaction", "auto": False}])
    fields = {"id": "b", "role": "assistant", "summary": True, "parentID": "a", "finish": "stop"}
    events = list(tell({"id": "s"}, [asked, Entry(fields, [text("moons")])], Keys()))
    assert events[-1] == Folded(strand="s", line=1, id="b/fold", shows=("b",), trigger="manual")
