"""What newer releases of Pi and OpenClaw write is read as what it means."""

import json

from holdfast.formats import detect
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.pi import PI
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Role, Text
from tests.formats.conformance import records_of

HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/srv"}
COST = {"input": 5, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}


def tell(*entries: object) -> list[Event]:
    return list(PI.read(SourceRecord(line, entry) for line, entry in enumerate(entries, 1)))


def says(name: str, parent: str | None, text: str, **more: object) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": name, "parentId": parent, "message": message, **more}


def strands(events: list[Event]) -> list[tuple[str, str]]:
    return [(each.strand, each.key) for each in events if isinstance(each, MessageEvent)]


def test_what_names_a_leaf_as_its_parent_goes_on_from_where_the_leaf_points() -> None:
    events = tell(
        HEADER,
        says("u1", None, "One"),
        says("u2", "u1", "Two"),
        {"type": "leaf", "id": "l", "parentId": "u2", "targetId": "u1"},
        says("u3", "l", "Other two"),
    )
    assert strands(events) == [("", "u1"), ("", "u2"), ("u3", "u3")]
    (branch,) = [each for each in events if isinstance(each, StrandStarted) and each.fork]
    assert (branch.of, branch.after) == ("", "u1")


def test_a_leaf_may_point_before_the_first_entry_or_at_nothing_that_is_there() -> None:
    back = tell(
        HEADER,
        says("u1", None, "One"),
        {"type": "leaf", "id": "l", "parentId": "u1", "targetId": None},
        says("u2", "l", "Anew"),
    )
    assert strands(back) == [("", "u1"), ("u2", "u2")]
    astray = tell(
        HEADER,
        says("u1", None, "One"),
        {"type": "leaf", "id": "l", "parentId": "u1", "targetId": "gone"},
        says("u2", "l", "Two"),
    )
    assert strands(astray) == [("", "u1"), ("", "u2")]


def test_what_was_written_beside_the_conversation_does_not_take_its_place() -> None:
    events = tell(
        HEADER,
        says("u1", None, "One"),
        says("x", "u1", "Beside", appendMode="side"),
        says("u2", "x", "Two"),
    )
    assert strands(events) == [("", "u1"), ("x", "x"), ("", "u2")]


def test_after_a_reset_the_model_sees_what_was_kept_and_what_follows() -> None:
    events = tell(
        HEADER,
        says("u1", None, "One"),
        says("u2", "u1", "Two"),
        {"type": "reset", "id": "r", "parentId": "u2", "reason": "new", "firstKeptEntryId": "u2"},
        says("u3", None, "Three"),
    )
    assert [each for each in events if isinstance(each, RewindEvent)] == [
        RewindEvent(strand="", line=4, shows=("u2",))
    ]
    assert strands(events) == [("", "u1"), ("", "u2"), ("", "u3")]


def test_a_compaction_that_repeats_its_tail_keeps_the_newest_messages() -> None:
    tail = [{"role": "user", "content": "Two"}, {"role": "assistant", "content": []}]
    fields = {"summary": "Before", "retainedTail": tail, "tokensBefore": 7, "usage": COST}
    events = tell(
        HEADER,
        says("u1", None, "One"),
        says("u2", "u1", "Two"),
        {"type": "compaction", "id": "k", "parentId": "u2", **fields},
        {"type": "compaction", "id": "k2", "parentId": "k", **fields},
    )
    assert [each.shows for each in events if isinstance(each, CompactionEvent)] == [
        ("k", "u2"),
        ("k2", "u2"),
    ]
    (first, _) = [
        each for each in events if isinstance(each, MessageEvent) and each.message.summary
    ]
    assert first.native.usage == Usage(1, 5, 2, cost=0.5)


def test_what_summaries_and_tools_cost_is_counted_and_written_back() -> None:
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "ask",
        "content": [],
        "usage": COST,
    }
    call = {"type": "toolCall", "id": "c", "name": "ask", "arguments": {}}
    answer = {"role": "assistant", "content": [call], "model": "m"}
    events = tell(
        HEADER,
        says("u1", None, "One"),
        {"type": "message", "id": "a1", "parentId": "u1", "message": answer},
        {"type": "message", "id": "t1", "parentId": "a1", "message": result},
        {"type": "branch_summary", "id": "b", "parentId": "t1", "summary": "There", "usage": COST},
        {"type": "compaction", "id": "k", "parentId": "b", "summary": "All", "usage": COST},
    )
    spent = [each.native.usage for each in events if isinstance(each, MessageEvent)]
    assert spent == [None, None, *[Usage(1, 5, 2, cost=0.5)] * 3]
    assert PI.write is not None
    again = list(PI.read(records_of("\n".join(PI.write(events)).encode())))
    assert [each.native.usage for each in again if isinstance(each, MessageEvent)] == spent


def test_a_developer_speaks_as_the_system() -> None:
    message = {"role": "developer", "content": "Be brief"}
    events = tell(HEADER, {"type": "message", "id": "d", "parentId": None, "message": message})
    assert not [each for each in events if isinstance(each, Problem)]
    assert [each.message.role for each in events if isinstance(each, MessageEvent)] == [Role.SYSTEM]


VERSION_4 = (
    {"kind": "header", "version": 4, "id": "s", "createdAt": 1_791_540_000_000, "cwd": "/srv"},
    {"kind": "entry", "lane": "main", "seq": 1, **says("u1", None, "One")},
    {"kind": "record", "type": "usage", "id": "x", "lane": "main", "seq": 2},
    {"kind": "lane", "lane": "aside", "leafId": "u1", "seq": 3},
    {"kind": "entry", "lane": "main", "seq": 4, **says("u2", "u1", "Two")},
    {"kind": "entry", "lane": "aside", "seq": 5, **says("x1", "u1", "Aside")},
    {"kind": "fact", "fact": "name", "name": "Shop", "seq": 6},
    {"kind": "fact", "fact": "label", "targetId": "u1", "label": "start", "seq": 7},
    {"kind": "lane", "lane": "main", "leafId": "u1", "seq": 8},
    {"kind": "entry", "lane": "main", "seq": 9, **says("u3", "u1", "Other two")},
)


def test_the_fourth_version_is_the_same_tree_with_lanes() -> None:
    assert detect("\n".join(map(json.dumps, VERSION_4))).format == "pi"
    events = tell(*VERSION_4)
    assert strands(events) == [("", "u1"), ("", "u2"), ("x1", "x1"), ("u3", "u3")]
    first = events[0]
    assert isinstance(first, StrandStarted)
    assert (first.about.id, first.about.cwd) == ("s", "/srv")
    assert first.about.started == 1_791_540_000_000
    assert MetadataUpdated(strand="", about=About(title="Shop")) in events
    assert MetadataUpdated(strand="", about=About(more={"labels": {"u1": "start"}})) in events


def test_the_fourth_version_names_the_session_that_it_came_from() -> None:
    (begun,) = tell({**VERSION_4[0], "parentSessionId": "parent"})
    assert isinstance(begun, StrandStarted)
    assert (begun.about.parent, begun.about.fork) == ("parent", Fork.BRANCH)


def instructs(name: str, parent: str | None, **sections: str | None) -> dict[str, object]:
    message = {"role": "system", "content": "", "sections": sections}
    return {"type": "message", "id": name, "parentId": parent, "message": message}


def folds(name: str, parent: str, kept: str, **sections: str) -> dict[str, object]:
    prompt = {"role": "system", "content": "", "sections": sections}
    fields = {"summary": "So far.", "firstKeptEntryId": kept, "systemMessage": prompt}
    return {"type": "compaction", "id": name, "parentId": parent, **fields}


def shown(events: list[Event]) -> list[tuple[str, ...]]:
    return [each.shows for each in events if isinstance(each, CompactionEvent)]


def test_a_system_prompt_is_all_of_its_sections() -> None:
    events = tell(HEADER, instructs("s1", None, preamble="Be kind.", tools="None.", gone=None))
    (told,) = [each for each in events if isinstance(each, MessageEvent)]
    assert told.message.role is Role.SYSTEM
    assert [part.text for part in told.message.parts if isinstance(part, Text)] == [
        "Be kind.",
        "None.",
    ]


def test_a_compaction_keeps_the_system_prompt_before_its_summary() -> None:
    events = tell(
        HEADER,
        instructs("s1", None, preamble="Be kind."),
        says("u1", "s1", "One"),
        says("u2", "u1", "Two"),
        folds("c1", "u2", "u2", preamble="Be kind."),
        says("u3", "c1", "Three"),
        folds("c2", "u3", "u3", preamble="Be kind."),
    )
    assert shown(events) == [("s1", "c1", "u2"), ("s1", "c2", "u3")]
    assert [key for _, key in strands(events)] == ["s1", "u1", "u2", "c1", "u3", "c2"]


def test_a_system_prompt_that_was_changed_is_told_as_the_compaction_puts_it_together() -> None:
    events = tell(
        HEADER,
        instructs("s1", None, preamble="Be kind."),
        says("u1", "s1", "One"),
        instructs("s2", "u1", preamble="Be brief."),
        folds("c1", "s2", "u1", preamble="Be brief."),
        says("u2", "c1", "Two"),
        folds("c2", "u2", "u2", preamble="Be brief."),
    )
    assert shown(events) == [("c1/system", "c1", "u1"), ("c1/system", "c2", "u2")]
    (prompt,) = [e for e in events if isinstance(e, MessageEvent) and e.key == "c1/system"]
    assert prompt.message.text == "Be brief."


def test_what_is_no_system_prompt_is_not_shown_as_one() -> None:
    odd = folds("c1", "u1", "u1") | {"systemMessage": {"role": "user", "content": "Hello"}}
    events = tell(HEADER, says("u1", None, "One"), odd)
    assert shown(events) == [("c1", "u1")]
