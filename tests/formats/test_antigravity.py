"""The transcripts of Antigravity's command line, told step by step."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.antigravity import ANTIGRAVITY
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.transcript import Text, ToolCall, shape
from tests.formats.conformance import broken_rules, records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("antigravity.jsonl").encode())
AT = 1_770_091_506_000


def test_steps_become_calls_and_results_and_a_checkpoint_is_a_summary() -> None:
    document = read(sample("antigravity.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      Name the moons. | <USER_SETTINGS_CHANGE> The user changed s…",
            '01 assistant (thinking) | Looking. | -> list_dir {"Path": "/sky"}',
            "02 tool      result: moons.txt",
            "03 assistant -> view_file {}",
            "04 tool      error: no such file",
            "05 user      [summary] # So far The moons are being named.",
            "06 user      Be brief.",
            "07 assistant Io and Europa.",
        ]
    )
    assert shape(document.live, 60) == "\n".join(
        [
            "00 user      [summary] # So far The moons are being named.",
            "01 user      Be brief.",
            "02 assistant Io and Europa.",
        ]
    )


def test_the_users_words_come_before_what_the_harness_added() -> None:
    begun, noted, asked = list(ANTIGRAVITY.read(RECORDS[:1]))
    assert begun == StrandStarted(strand=MAIN, line=1, about=About(started=AT))
    assert noted == MetadataUpdated(strand=MAIN, about=About(model="Fast Model 2"))
    assert isinstance(asked, MessageEvent)
    assert asked.message.parts[0] == Text("Name the moons.")
    assert asked.native == SourceMetadata(id="0", at=AT)


def test_a_step_that_no_call_asked_for_is_a_call_and_its_result() -> None:
    told = [each for each in ANTIGRAVITY.read(RECORDS) if isinstance(each, MessageEvent)]
    assert [each.key for each in told] == ["#1", "#3", "#4", "#5", "#5.1", "#6", "#7", "#8"]
    assert told[3].message.parts == (ToolCall("#5", "view_file"),)
    assert told[4].message.results[0].call_id == "#5"


def test_what_the_agent_cut_is_said_and_what_a_checkpoint_shows() -> None:
    events = list(ANTIGRAVITY.read(RECORDS))
    told = [each for each in events if isinstance(each, MessageEvent)]
    assert told[2].native == SourceMetadata(
        id="3", at=AT + 2000, more={"truncated_fields": ["content"]}
    )
    assert CompactionEvent(strand=MAIN, line=6, id="#6/fold", shows=("#6",), at=AT + 4000) in events


def test_the_path_names_the_conversation() -> None:
    file = "antigravity-cli/brain/a-1/.system_generated/logs/transcript.jsonl"
    first = next(ANTIGRAVITY.read([SourceRecord(1, RECORDS[0].value, file)]))
    assert first == StrandStarted(strand="a-1", line=1, about=About(id="a-1", started=AT))


def test_a_checkpoint_without_words_changes_nothing() -> None:
    step = {"step_index": 1, "source": "SYSTEM", "type": "CHECKPOINT"}
    assert list(ANTIGRAVITY.read([SourceRecord(1, step)])) == [
        StrandStarted(strand=MAIN, line=1, about=About())
    ]


def step(kind: str, content: str = "", **more: object) -> dict[str, object]:
    source = "USER_EXPLICIT" if kind == "USER_INPUT" else "MODEL"
    found = {"step_index": 1, "source": source, "type": kind, "status": "DONE", **more}
    return found | ({"content": content} if content else {})


def tell(*steps: object, file: str = "") -> list[Event]:
    return list(ANTIGRAVITY.read([SourceRecord(n, each, file) for n, each in enumerate(steps, 1)]))


def copies(*ids: str) -> list[SourceRecord]:
    """Return both transcripts of conversations: one that the agent cut, and one that is whole."""
    args = {"Path": "/sky", "Deep": True, "Depth": 2}
    cut = {name: json.dumps(value) for name, value in args.items()}
    found: list[SourceRecord] = []
    for own in ids:
        folder = f"brain/{own}/.system_generated/logs"
        for name, given_args, text in (("transcript", cut, "moo"), ("full", args, "moons.txt")):
            more = {"truncated_fields": ["content"]} if name == "transcript" else {}
            calls = [{"name": "list_dir", "args": given_args}]
            found += [
                SourceRecord(1, step("USER_INPUT", "Go"), f"{folder}/{name}.jsonl"),
                SourceRecord(
                    2, step("PLANNER_RESPONSE", tool_calls=calls), f"{folder}/{name}.jsonl"
                ),
                SourceRecord(3, step("LIST_DIRECTORY", text, **more), f"{folder}/{name}.jsonl"),
            ]
    return found


def test_of_two_transcripts_of_a_conversation_the_whole_one_is_told() -> None:
    events = list(ANTIGRAVITY.read(copies("a", "b")))
    assert broken_rules(events) == []
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == ["a", "b"]
    results = [each.message.results for each in events if isinstance(each, MessageEvent)]
    assert [each.text for found in results for each in found] == ["moons.txt", "moons.txt"]


def test_a_transcript_that_was_cut_is_told_where_it_is_alone() -> None:
    events = list(ANTIGRAVITY.read(copies("a")[:3]))
    told = [each.message for each in events if isinstance(each, MessageEvent)]
    assert told[1].calls[0].arguments == '{"Path": "/sky", "Deep": true, "Depth": 2}'
    assert told[2].results[0].text == "moo"


def test_arguments_that_are_plain_stay_as_they_are() -> None:
    plain = {"CommandLine": "make", "Note": '"quoted"'}
    (_, planned) = tell(step("PLANNER_RESPONSE", tool_calls=[{"name": "x", "args": plain}]))
    assert isinstance(planned, MessageEvent)
    assert json.loads(planned.message.calls[0].arguments) == plain


def test_a_conversation_that_lies_in_two_places_is_told_from_each() -> None:
    elsewhere = [
        SourceRecord(each.line, each.value, f"ide/{each.file}")
        for each in copies("a")
        if each.line < 3
    ]
    events = list(ANTIGRAVITY.read([*copies("a", "b"), *elsewhere]))
    assert broken_rules(events) == []
    begun = [(each.strand, each.about.id) for each in events if isinstance(each, StrandStarted)]
    assert begun == [("a", "a"), ("b", "b"), ("ide/brain/a/.system_generated/logs", "a")]


def test_files_without_a_place_of_their_own_are_conversations_of_their_own() -> None:
    records = [SourceRecord(1, step("USER_INPUT", "Go"), file) for file in ("x.jsonl", "y.jsonl")]
    events = list(ANTIGRAVITY.read(records))
    assert broken_rules(events) == []
    assert [each.strand for each in events if isinstance(each, MessageEvent)] == [
        "x.jsonl",
        "y.jsonl",
    ]


def test_a_step_answers_the_call_of_a_tool_that_makes_such_steps() -> None:
    names = ("view_file", "send_message", "write_to_file", "run_command")
    calls = [{"name": name, "args": {}} for name in names]
    events = tell(
        step("PLANNER_RESPONSE", tool_calls=calls),
        step("RUN_COMMAND", "done", status="ERROR"),
        step("GENERIC", "sent"),
        step("CODE_ACTION", "written"),
        step("GREP_SEARCH", "found"),
    )
    results = [
        (found.name, found.text, found.is_error)
        for each in events
        if isinstance(each, MessageEvent)
        for found in each.message.results
    ]
    assert results == [
        ("run_command", "done", True),
        ("send_message", "sent", False),
        ("write_to_file", "written", False),
        ("grep_search", "found", False),
    ]


def test_a_step_without_a_source_is_known_by_its_kind() -> None:
    bare = {"step_index": 0, "type": "USER_INPUT", "content": "Hello"}
    assert ANTIGRAVITY.recognize([SourceRecord(1, bare)]) is not None
    assert ANTIGRAVITY.recognize([SourceRecord(1, {"step_index": 0, "type": "noise"})]) is None


@given(st.data())
def test_whatever_transcripts_of_a_folder_say_they_are_told_by_the_rules(
    data: st.DataObject,
) -> None:
    assert breaks(ANTIGRAVITY, data.draw(surprised(copies("a", "b")))) == []


@given(st.data())
def test_whatever_a_transcript_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(ANTIGRAVITY, data.draw(surprised(RECORDS))) == []
