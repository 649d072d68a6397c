"""What we write as a Claude Code session reads back as the same session."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.claude_code.writer import write
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.reader import is_uuid
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import (
    Message,
    Part,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shape,
)
from tests.formats.claude_code.rules import violations
from tests.formats.event_strategies import Sayable, comparable, event_streams

PICTURED = Sayable(has_heads=True, has_system=True)
# The API takes no blank text beside a picture, so the writer leaves it out.
BLANK = Sayable(has_blanks=True, has_result_images=False, has_heads=True, has_system=True)


def records(events: list[Event]) -> list[SourceRecord]:
    return [SourceRecord(place, json.loads(line)) for place, line in enumerate(write(events), 1)]


@given(st.one_of(event_streams(PICTURED), event_streams(BLANK)))
def test_what_is_written_keeps_the_rules_and_reads_back_equal(events: list[Event]) -> None:
    written = records(events)
    assert list(violations(written)) == []
    assert comparable(CLAUDE_CODE.read(written)) == comparable(events)


def lines(events: list[Event]) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in write(events)]


def begun(**about: Any) -> StrandStarted:
    return StrandStarted(strand="", line=1, about=About(**about))


def said(key: str, text: str, strand: str = "", **native: Any) -> MessageEvent:
    message = Message(Role.USER, (Text(text),))
    return MessageEvent(
        strand=strand, line=1, key=key, message=message, native=SourceMetadata(**native)
    )


def answered(key: str, *parts: Part, strand: str = "", **native: Any) -> MessageEvent:
    message = Message(Role.ASSISTANT, parts)
    return MessageEvent(
        strand=strand, line=1, key=key, message=message, native=SourceMetadata(**native)
    )


def summary(key: str, origin: str = "holdfast") -> MessageEvent:
    message = Message(Role.USER, (Summary("so far", origin),), synthetic=Synthetic.SUMMARY)
    return MessageEvent(strand="", line=1, key=key, message=message)


def folded(*shows: str) -> CompactionEvent:
    return CompactionEvent(strand="", line=1, id="fold", shows=shows)


def folded_in(strand: str, *shows: str) -> CompactionEvent:
    return replace(folded(*shows), strand=strand)


def branch(strand: str, after: str) -> StrandStarted:
    return StrandStarted(strand=strand, line=1, about=About(), of="", fork=Fork.BRANCH, after=after)


def chain(found: list[Mapping[str, Any]]) -> list[str]:
    """Return what Claude Code sends when it resumes: the way from the newest line up."""
    by_id = {line["uuid"]: line for line in found if "uuid" in line}
    at, said_there = found[-1]["uuid"], list[str]()
    while at is not None:
        line = by_id[at]
        content = line.get("message", {}).get("content", [])
        blocks = [{"text": content}] if isinstance(content, str) else content
        said_there += [str(block.get("text") or block) for block in reversed(blocks)]
        at = line["parentUuid"]
    return said_there[::-1]


def again(events: list[Event]) -> list[Event]:
    written = records(events)
    assert list(violations(written)) == []
    return list(CLAUDE_CODE.read(written))


def test_the_same_session_is_written_in_the_same_bytes() -> None:
    events: list[Event] = [begun(id="from elsewhere"), said("#1", "go"), answered("#2", Text("hi"))]
    assert list(write(events)) == list(write(events))


def test_ids_and_times_that_a_session_does_not_know_follow_from_it() -> None:
    first, second = lines([begun(started=1_700_000_000_000), said("#1", "go"), said("#2", "on")])
    assert is_uuid(first["uuid"])
    assert second["parentUuid"] == first["uuid"]
    assert (first["timestamp"], second["timestamp"]) == (
        "2023-11-14T22:13:20.001Z",
        "2023-11-14T22:13:20.002Z",
    )
    (undated,) = lines([begun(), said("#1", "go")])
    assert undated["timestamp"] == "2000-01-01T00:00:00.001Z"


def test_each_block_of_an_answer_and_each_result_is_a_line_below_what_it_follows() -> None:
    calls = (ToolCall("t1", "Read"), ToolCall("t2", "Read"))
    results = tuple(ToolResult(each.id, (Text("x"),)) for each in calls)
    tool = Message(Role.TOOL, results)
    events: list[Event] = [
        begun(),
        said("#1", "go"),
        answered("#2", Text("look"), *calls, usage=Usage(1, 5, 6), reply="m1"),
        MessageEvent(strand="", line=1, key="#3", message=tool),
        answered("#4", Text("done")),
    ]
    found = lines(events)
    place = {line["uuid"]: count for count, line in enumerate(found)}
    parents = [line["parentUuid"] and place[line["parentUuid"]] for line in found]
    assert parents == [None, 0, 1, 2, 3, 4, 5]
    callers = [place.get(line.get("sourceToolAssistantUUID", "")) for line in found]
    assert callers == [None, None, None, None, 2, 3, None]
    assert [line["message"]["usage"]["output_tokens"] for line in found[1:4]] == [6, 6, 6]
    assert comparable(again(again(events))) == comparable(again(events))


RESUMED = replace(PICTURED, has_rewinds=True, has_branches=False, has_delegations=False)


@given(event_streams(RESUMED))
def test_the_way_up_from_the_newest_line_meets_what_the_model_saw(events: list[Event]) -> None:
    window: list[str] = []
    for event in events:
        match event:
            case MessageEvent(key=key):
                window.append(key)
            case CompactionEvent(shows=shows) | RewindEvent(shows=shows):
                window = list(shows)
            case _:
                continue
    found = lines(events)
    by_id = {line["uuid"]: line for line in found if "uuid" in line}
    way: list[str] = []
    at = found[-1]["uuid"]
    while at is not None:
        way.append(by_id[at].get("holdfast", {}).get("copy", at))
        at = by_id[at]["parentUuid"]
    seen = [original(by_id, each) for each in way[::-1] if is_message(by_id[each])]
    assert seen == window


def original(by_id: Mapping[str, Mapping[str, Any]], uuid: str) -> str:
    copied = by_id[uuid].get("holdfast", {}).get("copy")
    return uuid if copied is None else original(by_id, copied)


def is_message(line: Mapping[str, Any]) -> bool:
    is_unsaid = line.get("holdfast", {}).get("told") is False
    return line.get("subtype") != "compact_boundary" and not is_unsaid


def test_words_and_calls_below_a_summary_are_not_lost() -> None:
    mixed = (Summary("so far"), Text("on"))
    for message in (
        Message(Role.USER, mixed),
        Message(Role.ASSISTANT, (*mixed, ToolCall("t", "Read"))),
    ):
        both = MessageEvent(
            strand="", line=1, key="#2", message=message, native=SourceMetadata(model="m")
        )
        events: list[Event] = [begun(), said("#1", "go"), both, folded("#1", "#2")]
        found = again(events)
        told = [
            part for each in found if isinstance(each, MessageEvent) for part in each.message.parts
        ]
        claim = Summary("so far", claimed=True)
        assert told == [Text("go"), claim, *message.parts[1:]]
        assert [each.shows for each in found if isinstance(each, CompactionEvent)] != []


def test_a_copy_of_a_line_that_is_not_there_is_told() -> None:
    kept = said("#2", "two")
    events: list[Event] = [begun(), said("#1", "one"), kept, summary("#3"), folded("#3", "#2")]
    written = records(events)
    told = [
        each.message for each in CLAUDE_CODE.read(written[2:]) if isinstance(each, MessageEvent)
    ]
    assert [message.text for message in told if message.summary is None] == ["two"]


def test_a_compacted_window_is_one_chain_that_the_agent_can_resume() -> None:
    prompt = MessageEvent(
        strand="", line=1, key="#0", message=Message(Role.SYSTEM, (Text("be good"),))
    )
    events: list[Event] = [
        begun(),
        prompt,
        said("#1", "go"),
        summary("#2"),
        folded("#0", "#1", "#2"),
        said("#3", "on"),
    ]
    found = lines(events)
    assert [line["parentUuid"] for line in found] == [
        None,
        *(line["uuid"] for line in found[:-1]),
    ]
    assert [line["type"] for line in found] == ["system", "user", "user", "user"]
    (back,) = replay(again(events))
    assert shape(back.window) == "\n".join(
        [
            "00 system    be good",
            "01 user      go",
            "02 user      [summary] so far",
            "03 user      on",
        ]
    )


def test_a_compaction_that_hides_something_begins_a_chain_below_a_boundary() -> None:
    events: list[Event] = [
        begun(),
        said("#1", "one"),
        said("#2", "two"),
        summary("#3", "claude-code"),
        folded("#3", "#2"),
        said("#4", "on"),
    ]
    one, two, boundary, summed, copy, on = lines(events)
    assert (boundary["parentUuid"], boundary["logicalParentUuid"]) == (None, two["uuid"])
    assert boundary["compactMetadata"] == {"trigger": "manual", "preTokens": 0}
    assert boundary["holdfast"] == {"shows": [summed["uuid"], two["uuid"]]}
    assert "holdfast" not in {*one, *two, *summed, *on}
    assert [line["parentUuid"] for line in (summed, copy, on)] == [
        line["uuid"] for line in (boundary, summed, copy)
    ]
    assert (copy["message"], copy["holdfast"]) == (two["message"], {"copy": two["uuid"]})
    (back,) = replay(again(events))
    assert shape(back.window) == "\n".join(
        ["00 user      [summary] so far", "01 user      two", "02 user      on"]
    )


def test_the_name_of_who_wrote_a_summary_survives() -> None:
    for origin in ("holdfast", "claude-code", "codex"):
        (back,) = replay(again([begun(), said("#1", "go"), summary("#2", origin), folded("#2")]))
        assert [each.summary for each in back.window] == [
            Summary("so far", origin, claimed=origin == "holdfast")
        ]


def test_a_summary_that_folds_nothing_is_a_message_like_any_other() -> None:
    for rest in ([], [said("#3", "on")]):
        events: list[Event] = [begun(), said("#1", "go"), summary("#2"), *rest]
        found = again(events)
        assert not [each for each in found if isinstance(each, CompactionEvent)]
        told = [each.message for each in found if isinstance(each, MessageEvent)]
        assert told[1].summary == Summary("so far", claimed=True)


def test_a_branch_that_no_users_words_begin_is_one_all_the_same() -> None:
    first = answered("#3", Text("again"), strand="#3", model="m")
    for opening in (first, said("#3", "note", "#3", more={"isMeta": True})):
        events: list[Event] = [
            begun(),
            said("#1", "go"),
            answered("#2", Text("hi"), model="m"),
            branch("#3", "#1"),
            opening,
        ]
        strands = [each for each in again(events) if isinstance(each, StrandStarted)]
        assert [each.fork for each in strands] == [None, Fork.BRANCH]


def test_a_branch_from_the_beginning_is_one_all_the_same() -> None:
    events: list[Event] = [begun(), said("#1", "go"), branch("#2", ""), said("#2", "gone", "#2")]
    strands = [each for each in again(events) if isinstance(each, StrandStarted)]
    assert [(each.fork, each.after) for each in strands] == [(None, ""), (Fork.BRANCH, "")]


def test_what_a_user_took_back_reads_as_a_branch() -> None:
    rewound = RewindEvent(strand="", line=1, shows=("#1",))
    events: list[Event] = [begun(), said("#1", "a"), said("#2", "b"), rewound, said("#3", "c")]
    (back,) = replay(again(events))
    assert [message.text for message in back.window] == ["a", "c"]


def test_a_window_that_changes_without_a_summary_is_written_below_a_boundary() -> None:
    for shows, expected in ((("#2",), ["b", "c"]), ((), ["c"])):
        for change in (folded(*shows), RewindEvent(strand="", line=1, shows=shows)):
            events: list[Event] = [begun(), said("#1", "a"), said("#2", "b"), change]
            events += [said("#3", "c")]
            found = [each for each in again(events) if isinstance(each, type(change))]
            assert len(found) == 1
            (back,) = replay(again(events))
            assert [message.text for message in back.window] == expected
            assert chain(lines(events)) == ["Earlier messages were left out here.", *expected]


def test_a_second_conversation_and_its_branches_are_left_out() -> None:
    other = StrandStarted(strand="1", line=1, about=About(title="other"))
    part = replace(branch("2", "x"), of="1")
    noted = MetadataUpdated(strand="1", about=About(title="other"))
    events: list[Event] = [begun(title="mine"), other, said("x", "no", "1"), part, noted]
    events += [said("y", "no", "2"), structs.replace(summary("z"), strand="1")]
    events += [folded_in("1", "z"), folded_in("1", "x"), said("#1", "go"), Problem(1, "damage")]
    kinds = [line.get("customTitle") or line["message"]["content"] for line in lines(events)]
    assert kinds == ["mine", "go"]


def test_the_file_of_a_sub_agent_is_a_side_chain_of_the_session_it_works_for() -> None:
    parent = "00000000-0000-4000-8000-000000000001"
    about = About(id="a7", parent=parent, fork=Fork.DELEGATION)
    events: list[Event] = [StrandStarted(strand="", line=1, about=about), said("#1", "count")]
    (line,) = lines(events)
    assert (line["sessionId"], line["agentId"], line["isSidechain"]) == (parent, "a7", True)
    first = again(events)[0]
    assert isinstance(first, StrandStarted)
    assert replace(first.about, started=None) == about


def test_what_was_queued_is_written_as_the_program_does() -> None:
    (line,) = lines([begun(), said("#1", "wait", more={"queued": "prompt"})])
    assert line["attachment"] == {
        "type": "queued_command",
        "prompt": "wait",
        "commandMode": "prompt",
    }


def test_fields_of_other_agents_are_not_written() -> None:
    (line,) = lines(
        [begun(), said("#1", "go", more={"api": "x", "isMeta": True, "sessionId": "s"})]
    )
    assert "api" not in line
    assert line["isMeta"] is True
    assert is_uuid(line["sessionId"])


def test_reasoning_of_another_provider_is_left_out() -> None:
    sealed = Thinking("hm", "seal", {"responses": {}})
    assert lines([begun(), answered("#1", sealed)]) == []


def test_half_of_a_surrogate_pair_can_be_written_to_a_file() -> None:
    (line,) = write([begun(), said("#1", "half \ud83d")])
    assert json.loads(line.encode())["message"]["content"] == "half \ud83d"


def test_small_fields_of_a_line_are_written_back() -> None:
    more = {"requestId": "r1", "sessionId": "00000000-0000-4000-8000-000000000007"}
    events: list[Event] = [
        begun(id="00000000-0000-4000-8000-000000000001"),
        said("#1", "go"),
        answered("#2", Text("hi"), model="m", more={**more, "stop_reason": "end_turn"}),
    ]
    (found,) = [each.native.more for each in again(events) if isinstance(each, MessageEvent)][1:]
    assert found == {**more, "stop_reason": "end_turn"}


def test_a_result_in_another_chain_than_its_call_stays_in_its_own() -> None:
    task = replace(branch("#2", ""), fork=Fork.DELEGATION)
    result = Message(Role.TOOL, (ToolResult("t1", (Text("x"),)),))
    found = lines(
        [
            begun(),
            said("#1", "go"),
            task,
            answered("#2", ToolCall("t1", "Read"), strand="#2"),
            MessageEvent(strand="", line=1, key="#3", message=result),
        ]
    )
    assert found[2]["parentUuid"] == found[0]["uuid"]
    assert "sourceToolAssistantUUID" not in found[2]


def test_answers_of_two_models_that_share_a_name_are_two_answers() -> None:
    def answered(key: str, model: str) -> MessageEvent:
        message = Message(Role.ASSISTANT, (Text(f"words of {key}"),))
        return MessageEvent(
            strand="",
            line=1,
            key=key,
            message=message,
            native=SourceMetadata(reply="r", model=model),
        )

    asked = MessageEvent(strand="", line=1, key="u", message=Message(Role.USER, (Text("Go"),)))
    told = [answered("a", ""), answered("b", "model-1"), answered("c", "")]
    events: list[Event] = [StrandStarted(strand="", line=1, about=About()), asked, *told]
    written = records(events)
    assert list(violations(written)) == []
    read = [each for each in CLAUDE_CODE.read(written) if isinstance(each, MessageEvent)]
    assert [each.native.model for each in read] == ["", "unknown", "model-1", "unknown"]
