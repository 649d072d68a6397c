"""A session written for Pi is one that Pi takes, and tells the same when it is read again."""

import json
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from msgspec import structs

from holdfast.formats import read, write
from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    without_native,
)
from holdfast.formats.json_access import mapping, sequence
from holdfast.formats.openclaw import OPENCLAW
from holdfast.formats.pi import PI
from holdfast.formats.pi.writer import write_openclaw, write_pi
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.formats.event_strategies import Sayable, comparable, event_streams
from tests.formats.pi.rules import violations
from tests.formats.samples import sample

SAYABLE = Sayable(
    origin="pi",
    ids="hex",
    about=("id", "title", "model", "cwd", "started"),
    is_split=False,
    has_blanks=True,
    has_result_names=True,
    has_system=True,
    has_heads=True,
    has_rewinds=True,
    has_delegations=False,
)


def records(lines: Iterable[str]) -> list[SourceRecord]:
    return [SourceRecord(place, json.loads(line)) for place, line in enumerate(lines, 1)]


def counted(events: Iterable[Event]) -> list[Event]:
    """Return comparable events; a usage of nothing at all is none."""
    plain: list[Event] = []
    for event in comparable(events):
        if isinstance(event, MessageEvent) and event.native.usage == Usage(1):
            plain.append(structs.replace(event, native=structs.replace(event.native, usage=None)))
        else:
            plain.append(event)
    return plain


@given(event_streams(SAYABLE))
def test_what_is_written_is_read_again(events: list[Event]) -> None:
    written = records(write_pi(events))
    assert list(violations(written)) == []
    assert counted(PI.read(written)) == counted(events)


@settings(max_examples=20)
@given(event_streams(SAYABLE))
def test_a_session_of_openclaw_is_known_as_one(events: list[Event]) -> None:
    written = records(write_openclaw(events))
    assert list(violations(written)) == []
    assert OPENCLAW.recognize(written) is not None
    assert counted(OPENCLAW.read(written)) == counted(events)


@settings(max_examples=20)
@given(event_streams(replace(SAYABLE, ids="none", has_times=False)))
def test_writing_twice_gives_the_same_bytes_even_without_names_and_times(
    events: list[Event],
) -> None:
    first = list(write_pi(events))
    assert list(violations(records(first))) == []
    assert list(write_pi(events)) == first


@settings(max_examples=30)
@given(event_streams(replace(SAYABLE, is_split=True, has_delegations=True)))
def test_sessions_of_agents_that_divide_answers_are_ones_that_pi_takes(
    events: list[Event],
) -> None:
    written = records(write_pi(events))
    assert list(violations(written)) == []
    answers = {
        event.native.reply
        for event in events
        if isinstance(event, MessageEvent) and event.message.role is Role.ASSISTANT
    }
    again = [event for event in PI.read(written) if isinstance(event, MessageEvent)]
    replies = [event.native.reply for event in again if event.message.role is Role.ASSISTANT]
    assert len(replies) == len(set(replies))
    assert set(replies) <= answers


def told(
    key: str, message: Message, native: SourceMetadata | None = None, strand: str = MAIN
) -> MessageEvent:
    found = native or SourceMetadata()
    return MessageEvent(strand=strand, line=1, key=key, message=message, native=found)


def begun(about: About | None = None) -> StrandStarted:
    return StrandStarted(
        strand=MAIN, line=1, about=about or About(id="s", cwd="/srv", started=1_000)
    )


def entries(events: Iterable[Event]) -> list[dict[str, object]]:
    return [json.loads(line) for line in write_pi(events)]


def test_pieces_of_one_answer_become_one_entry_and_results_follow_it() -> None:
    pieces = SourceMetadata(reply="r")
    call, other = ToolCall("c1", "ls"), ToolCall("c2", "pwd")
    events = [
        begun(),
        told("a", Message(Role.ASSISTANT, (call,)), structs.replace(pieces, usage=Usage(1, 5))),
        told("b", Message(Role.TOOL, (ToolResult("c1", (Text("x"),)),))),
        told("c", Message(Role.ASSISTANT, (other,)), pieces),
        told("d", Message(Role.TOOL, (ToolResult("c2", (Text("y"),)),))),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("c", "d")),
    ]
    again = list(PI.read(records(write_pi(events))))
    said = [event for event in again if isinstance(event, MessageEvent)]
    assert [each.message for each in said] == [
        Message(Role.ASSISTANT, (call, other)),
        Message(Role.TOOL, (ToolResult("c1", (Text("x"),), name="ls"),)),
        Message(Role.TOOL, (ToolResult("c2", (Text("y"),), name="pwd"),)),
    ]
    assert said[0].native.usage == Usage(1, 5)
    (folded,) = [event for event in again if isinstance(event, CompactionEvent)]
    assert folded.shows == (said[0].key, said[2].key)


def test_a_compaction_shows_pi_what_it_kept_in_pis_own_order() -> None:
    events = [
        begun(),
        told("a", Message(Role.USER, (Text("one"),)), SourceMetadata(id="a")),
        told("b", Message(Role.USER, (Text("two"),)), SourceMetadata(id="b")),
        told("s", summarized("so far", "holdfast"), SourceMetadata(id="s1", at=7)),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("a", "b", "s"), at=7, tokens_before=9),
    ]
    compaction = entries(events)[-1]
    assert {key: compaction[key] for key in ("type", "summary", "firstKeptEntryId")} == {
        "type": "compaction",
        "summary": "so far",
        "firstKeptEntryId": "a",
    }
    assert compaction["details"] == {
        "readFiles": [],
        "modifiedFiles": [],
        "holdfast": {"origin": "holdfast", "shows": ["a", "b", "s1"]},
    }
    assert comparable(PI.read(records(write_pi(events))))[-1] == comparable(events)[-1]


def test_a_compaction_in_pis_order_needs_no_word_of_ours() -> None:
    events = [
        begun(),
        told("a", Message(Role.USER, (Text("one"),)), SourceMetadata(id="a")),
        told("b", Message(Role.USER, (Text("two"),)), SourceMetadata(id="b")),
        told("s", summarized("so far", "pi"), SourceMetadata(id="s1")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("s", "b")),
    ]
    compaction = entries(events)[-1]
    assert compaction["details"] == {"readFiles": [], "modifiedFiles": []}
    assert compaction["firstKeptEntryId"] == "b"


def test_a_compaction_without_a_summary_is_one_for_pi_and_tells_no_message() -> None:
    events = [
        begun(),
        told("a", Message(Role.USER, (Text("one"),)), SourceMetadata(id="a")),
        told("b", Message(Role.USER, (Text("two"),)), SourceMetadata(id="b")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("b",), at=2_000),
    ]
    assert entries(events)[-1]["type"] == "compaction"
    assert comparable(PI.read(records(write_pi(events))))[-1] == comparable(events)[-1]


def test_a_summary_that_folded_nothing_is_still_a_summary() -> None:
    summary = summarized("so far", "pi")
    events = [begun(), told("s", summary), told("u", Message(Role.USER, (Text("Go on"),)))]
    again = [
        event for event in PI.read(records(write_pi(events))) if isinstance(event, MessageEvent)
    ]
    assert again[0].message == summary


def test_a_branch_of_the_newest_message_is_a_branch_again() -> None:
    events = [
        begun(),
        told("a", Message(Role.USER, (Text("one"),)), SourceMetadata(id="a", at=1)),
        StrandStarted(strand="x", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="a"),
        told("b", Message(Role.USER, (Text("two"),)), SourceMetadata(id="b", at=2), "x"),
        told("c", Message(Role.USER, (Text("three"),)), SourceMetadata(id="c", at=3)),
    ]
    assert comparable(PI.read(records(write_pi(events)))) == comparable(events)


def test_turns_taken_back_on_a_branch_are_taken_back_there() -> None:
    events: list[Event] = [begun()]
    for place, key in enumerate("abc", 1):
        native = SourceMetadata(id=key, at=1_000 * place)
        events.append(told(key, Message(Role.USER, (Text(key),)), native))
    events += [
        StrandStarted(strand="x", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="b"),
        told("d", Message(Role.USER, (Text("d"),)), SourceMetadata(id="d", at=5_000), "x"),
        RewindEvent(strand="x", line=1, shows=("a",), at=6_000),
        told("e", Message(Role.USER, (Text("e"),)), SourceMetadata(id="e", at=7_000), "x"),
    ]
    written = records(write_pi(events))
    assert list(violations(written)) == []
    assert comparable(PI.read(written)) == comparable(events)


def test_what_pi_has_no_block_for_becomes_words() -> None:
    parts = (
        Recalled("it rains"),
        Media(url="https://example.org/map.png"),
        Media(kind="file", media_type="text/plain", data="eA=="),
        Opaque("responses", {"type": "web_search_call"}, "searched"),
        Opaque("responses", {"type": "compaction"}),
    )
    (_, entry) = entries([begun(), told("u", Message(Role.USER, parts))])
    message = entry["message"]
    assert isinstance(message, dict)
    assert [block["text"] for block in message["content"]] == [
        "it rains",
        "[image: https://example.org/map.png]",
        "[file: text/plain]",
        "searched",
    ]


def test_thinking_of_every_provider_comes_back_as_its_codec_reads_it() -> None:
    item = {"type": "reasoning", "summary": [], "encrypted_content": "c2VhbA=="}
    part = {"text": "d", "thought": True, "thoughtSignature": "c2VhbA=="}
    thoughts = (
        Thinking("a", "c2VhbA==", {"anthropic": {}}),
        Thinking("", "c2VhbA==", {"anthropic": {"type": "redacted_thinking"}}),
        Thinking("c", "c2VhbA==", {"responses": item}),
        Thinking("d", "c2VhbA==", {"gemini": part}),
        Thinking("e", extras={"openai": {"field": "reasoning_content"}}),
        Thinking("f"),
    )
    for thought in thoughts:
        events = [begun(), told("t", Message(Role.ASSISTANT, (thought, Text("so"))))]
        again = [
            event for event in PI.read(records(write_pi(events))) if isinstance(event, MessageEvent)
        ]
        assert [each.message.parts[0] for each in again] == [thought]


def test_labels_and_later_names_stand_where_pi_looks_for_them() -> None:
    about = About(id="s", more={"labels": {"a": "start", "gone": "x"}})
    events = [
        begun(about),
        told("a", Message(Role.USER, (Text("one"),)), SourceMetadata(id="a")),
        MetadataUpdated(strand=MAIN, about=About(title="Maps", more={"thinkingLevel": "high"})),
    ]
    written = records(write_pi(events))
    assert list(violations(written)) == []
    kinds = [mapping["type"] for mapping in entries(events)]
    assert kinds == ["session", "message", "session_info", "thinking_level_change", "label"]
    (noted,) = [
        event.about
        for event in PI.read(written)
        if isinstance(event, MetadataUpdated) and "labels" in event.about.more
    ]
    assert noted == About(more={"labels": {"a": "start"}})


def test_a_session_without_a_sound_id_gets_one_that_can_be_part_of_a_file_name() -> None:
    (header,) = entries([begun(About(id="../up", parent="p-1", fork=Fork.BRANCH))])
    (again,) = PI.read(records(write_pi([begun(About(parent="p_1"))])))
    assert "/" not in str(header["id"])
    assert header["parentSession"] == "_p-1.jsonl"
    assert isinstance(again, StrandStarted)
    assert (again.about.parent, again.about.fork) == ("p_1", Fork.BRANCH)


def test_results_that_stood_in_one_message_become_entries_of_their_own() -> None:
    both = (ToolResult("c1", (Text("x"),)), ToolResult("c2", (Text("y"),)), Text("and a word"))
    calls = Message(Role.ASSISTANT, (ToolCall("c1", "ls"), ToolCall("c2", "pwd")))
    events = [
        begun(),
        told("a", calls),
        told("b", Message(Role.TOOL, both)),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("b",)),
    ]
    written = records(write_pi(events))
    assert list(violations(written)) == []
    again = [
        event for event in PI.read(written) if isinstance(event, MessageEvent | CompactionEvent)
    ]
    assert isinstance(again[-1], CompactionEvent)
    keys = [event.key for event in again if isinstance(event, MessageEvent)]
    assert again[-1].shows == tuple(keys[1:])


def context(entries: list[dict[str, object]]) -> list[str]:
    """Return the entries that Pi shows its model when it resumes a file, by Pi's own rule."""
    by_id = {str(entry["id"]): entry for entry in entries[1:]}
    path: list[dict[str, object]] = []
    current = entries[-1]["id"]
    while current is not None:
        path.insert(0, by_id[str(current)])
        current = path[0]["parentId"]
    places = [place for place, entry in enumerate(path) if entry["type"] == "compaction"]
    if not places:
        return [original(entry) for entry in path if entry["type"] in SEEN]
    newest = places[-1]
    ids = [entry["id"] for entry in path]
    first = path[newest]["firstKeptEntryId"]
    kept = path[ids.index(first) : newest] if first in ids[:newest] else []
    spoken = [entry for entry in (*kept, *path[newest + 1 :]) if entry["type"] in SEEN]
    return [str(path[newest]["id"]), *map(original, spoken)]


def original(entry: dict[str, object]) -> str:
    """Return the entry that this one is, or is a copy of."""
    return str(mapping(entry.get("holdfast")).get("copy", entry["id"]))


SEEN = ("message", "custom_message")
RESUMED = replace(SAYABLE, has_system=False, has_rewinds=False)


@given(event_streams(replace(RESUMED, has_branches=False)))
def test_pi_resumes_with_what_the_model_saw_below_the_summary(events: list[Event]) -> None:
    window: list[str] = []
    summary = ""
    for event in events:
        match event:
            case MessageEvent(key=key, message=message):
                window.append(key)
                summary = key if message.summary is not None else summary
            case CompactionEvent(shows=shows):
                window = sorted(shows, key=lambda key: key != summary)
            case _:
                continue
    assert context(entries(events)) == window


def test_what_a_window_shows_besides_one_stretch_is_written_again() -> None:
    said = [told(key, Message(Role.USER, (Text(key),)), SourceMetadata(id=key)) for key in "abcd"]
    events = [
        begun(),
        *said[:3],
        told("s", summarized("so far", "pi"), SourceMetadata(id="s")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("a", "s", "c"), at=7),
        said[3],
    ]
    found = entries(events)
    assert context(found) == ["s", "a", "c", "d"]
    assert [each.get("holdfast") for each in found[-3:]] == [{"copy": "a"}, {"copy": "c"}, None]
    again = list(PI.read(records(write_pi(events))))
    assert [each.key for each in again if isinstance(each, MessageEvent)] == [
        "a",
        "b",
        "c",
        "s",
        "d",
    ]
    (back,) = [each for each in again if isinstance(each, CompactionEvent)]
    assert back.shows == ("a", "s", "c")
    assert list(PI.read(records(write_pi(again)))) == again


def test_a_copy_has_no_call_whose_result_is_hidden() -> None:
    call, result = ToolCall("t1", "read", "{}"), ToolResult("t1", (Text("x"),))
    said = [told(key, Message(Role.USER, (Text(key),)), SourceMetadata(id=key)) for key in "ad"]
    events = [
        begun(),
        said[0],
        told("b", Message(Role.ASSISTANT, (Text("I read."),)), SourceMetadata(id="b", reply="r")),
        told("c", Message(Role.ASSISTANT, (call,)), SourceMetadata(id="c", reply="r")),
        told("t", Message(Role.TOOL, (result,))),
        said[1],
        told("s", summarized("so far", "pi")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("s", "b", "d")),
    ]
    answer = mapping(entries(events)[-2]["message"])
    assert [mapping(each)["type"] for each in sequence(answer["content"])] == ["text"]


def test_pi_may_keep_copies_when_it_compacts_again() -> None:
    said = [told(key, Message(Role.USER, (Text(key),)), SourceMetadata(id=key)) for key in "abc"]
    events = [
        begun(),
        *said,
        told("s", summarized("so far", "pi"), SourceMetadata(id="s")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("s", "a", "c"), at=7),
    ]
    lines = list(write_pi(events))
    copy = json.loads(lines[-1])
    more = {"type": "compaction", "id": "t", "parentId": copy["id"], "summary": "more"}
    more |= {"timestamp": copy["timestamp"], "firstKeptEntryId": copy["id"], "tokensBefore": 1}
    found = [each for each in PI.read(records([*lines, json.dumps(more)]))]
    assert isinstance(found[-1], CompactionEvent)
    assert found[-1].shows == ("t", "c")


def test_a_branch_of_a_copy_is_one_of_what_was_copied() -> None:
    said = [told(key, Message(Role.USER, (Text(key),)), SourceMetadata(id=key)) for key in "abc"]
    branch = StrandStarted(strand="x", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="a")
    events = [
        begun(),
        *said,
        told("s", summarized("so far", "pi"), SourceMetadata(id="s")),
        CompactionEvent(strand=MAIN, line=1, id="f", shows=("s", "a", "c"), at=7),
        branch,
        told("x", Message(Role.USER, (Text("x"),)), SourceMetadata(id="x"), "x"),
    ]
    assert context(entries(events)) == ["s", "a", "x"]
    again = list(PI.read(records(write_pi(events))))
    assert [each.after for each in again if isinstance(each, StrandStarted)] == ["", "a"]
    assert not [each for each in again if isinstance(each, RewindEvent)]


def test_words_and_calls_below_a_summary_are_not_lost() -> None:
    call = ToolCall("t1", "read", "{}")
    summary = summarized("so far", "holdfast").parts
    for message in (
        Message(Role.USER, (*summary, Text("Go on"))),
        Message(Role.ASSISTANT, (*summary, Text("I read."), call)),
    ):
        events = [
            begun(),
            told("a", message),
            CompactionEvent(strand=MAIN, line=1, id="f", shows=("a",)),
        ]
        again = [
            each.message
            for each in PI.read(records(write_pi(events)))
            if isinstance(each, MessageEvent)
        ]
        assert [each.parts for each in again] == [summary, message.parts[1:]]


@given(event_streams(replace(RESUMED, has_compactions=False)))
def test_pi_resumes_the_newest_branch(events: list[Event]) -> None:
    windows: dict[str, list[str]] = {}
    newest = MAIN
    for event in events:
        match event:
            case StrandStarted(of=of, strand=strand, after=after):
                shared = windows[of] if of is not None else []
                windows[strand] = shared[: shared.index(after) + 1] if shared else []
            case MessageEvent(key=key, strand=strand):
                windows[strand].append(key)
                newest = strand
            case _:
                continue
    assert context(entries(events)) == windows[newest]


def test_a_compacted_window_of_any_agent_becomes_a_session_that_pi_resumes() -> None:
    window = (
        Message(Role.SYSTEM, (Text("Be good."),)),
        summarized("so far", "holdfast"),
        Message(Role.USER, (Text("Go on"),)),
    )
    document = read(sample("claude_code.jsonl"))
    text = write(document, window, to="pi")
    found = [json.loads(line) for line in text.splitlines()]
    assert list(violations(records(text.splitlines()))) == []
    assert [found[0]["id"], found[0]["version"]] == [(document.about or About()).id, 3]
    kinds = [entry["type"] for entry in found if entry["id"] in context(found)]
    assert kinds == ["compaction", "message"]
    assert tuple(map(without_native, read(text).live)) == window
