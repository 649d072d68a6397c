"""The journals of Kimi Code and of Kimi CLI, told line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.kimi import KIMI
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("kimi.jsonl").encode())
OLD = records_of(sample("kimi_context.jsonl").encode())
START = 1_780_000_000_000
USER = {"role": "user", "content": [{"type": "text", "text": "hi"}]}


def test_a_journal_becomes_messages_and_the_window_follows_compaction_and_undo() -> None:
    document = read(sample("kimi.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 system    You help.",
            "01 user      Count the stars",
            "02 user      <system-reminder>hurry</system-reminder>",
            '03 assistant (thinking) | -> Bash {"command": "look"}',
            "04 tool      error: clouds",
            "05 assistant Clouds.",
            "06 user      Try again | [image]",
            "07 user      [summary] It was cloudy.",
            "08 user      And now?",
        ]
    )
    assert shape(document.live, 60) == "\n".join(
        [
            "00 system    You help.",
            "01 user      Count the stars",
            "02 user      Try again | [image]",
            "03 user      [summary] It was cloudy.",
        ]
    )
    assert document.problems == ()


def test_what_steps_cost_is_noted_as_it_adds_up_however_often_it_is_written() -> None:
    noted = [each.about.usage for each in KIMI.read(RECORDS) if isinstance(each, MetadataUpdated)]
    costs = [usage for usage in noted if usage is not None]
    assert costs == [Usage(1, 7, 3, 2, 1), Usage(2, 16, 4, 2, 1)]
    again = {"type": "usage.record", "usage": {"inputOther": 7, "output": 3}}
    more = [SourceRecord(90 + place, again) for place in range(3)]
    *_, whole = (each for each in KIMI.read([*RECORDS, *more]) if isinstance(each, MetadataUpdated))
    assert whole == MetadataUpdated(strand=MAIN, about=About(usage=Usage(4, 22, 9)))


def test_pieces_of_a_step_share_their_reply_and_the_model_that_was_asked() -> None:
    told = {each.key: each.native for each in KIMI.read(RECORDS) if isinstance(each, MessageEvent)}
    assert told["#9"] == SourceMetadata(id="p1", reply="s1", model="k9-large", at=START + 6)
    assert told["#10"] == SourceMetadata(id="Bash_0", reply="s1", model="k9-large", at=START + 7)
    assert told["#6"] == SourceMetadata(at=START + 4, more={"origin": "injection"})


def test_a_compaction_shows_what_it_says_that_it_kept() -> None:
    events = list(KIMI.read(RECORDS))
    assert events[0] == StrandStarted(
        strand=MAIN, line=2, about=About(cwd="/home/ada/sky", started=START)
    )
    assert [each for each in events if isinstance(each, CompactionEvent | RewindEvent)] == [
        CompactionEvent(
            strand=MAIN,
            line=18,
            id="#18/fold",
            shows=("#2", "#5", "#16", "#18"),
            at=START + 15,
            trigger="manual",
            tokens_before=100,
            tokens_after=10,
        ),
        RewindEvent(strand=MAIN, line=20, shows=("#2", "#5", "#16", "#18"), at=START + 17),
    ]


def test_clearing_leaves_the_system_prompt() -> None:
    records = [*RECORDS[:5], SourceRecord(6, {"type": "context.clear", "time": START})]
    assert list(KIMI.read(records))[-1] == RewindEvent(strand=MAIN, line=6, shows=("#2",), at=START)


def test_the_older_program_kept_a_message_a_line_and_marks_between_them() -> None:
    document = read(sample("kimi_context.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 system    You help.",
            "01 user      Name a moon",
            '02 assistant (thinking) | I look. | -> Read {"path":"moons"}',
            "03 tool      result: Io",
            "04 assistant Io.",
        ]
    )


@pytest.mark.parametrize(
    ("file", "about"),
    [
        ("wd_1/s-1/agents/main/wire.jsonl", About(id="s-1")),
        (
            "wd_1/s-1/agents/agent-0/wire.jsonl",
            About(id="s-1/agent-0", parent="s-1", fork=Fork.DELEGATION),
        ),
        ("wd_1/s-1/context.jsonl", About(id="s-1")),
        (
            "wd_1/s-1/subagents/a1/context.jsonl",
            About(id="s-1/a1", parent="s-1", fork=Fork.DELEGATION),
        ),
        ("agents/copy.jsonl", About()),
        ("", About()),
    ],
)
def test_the_folder_of_a_journal_is_the_id_of_its_session(file: str, about: About) -> None:
    value = {"type": "context.append_message", "message": USER}
    begun = next(KIMI.read([SourceRecord(1, value, file)]))
    assert begun == StrandStarted(strand=about.id or file, line=1, about=about)


@pytest.mark.parametrize(
    "value",
    [
        {"createdAt": "x", "workDir": "/", "agents": {"main": {}}},
        {"createdAt": 1, "cwd": "/", "agents": {}, "version": 2},
        {"version": 1, "custom_title": None, "title_generated": False},
        {"work_dirs": [{"path": "/home/ada/sky"}]},
        {"type": "metadata", "protocol_version": "1.1"},
    ],
)
def test_what_stands_beside_a_journal_is_known_and_holds_no_conversation(value: object) -> None:
    assert KIMI.recognize([SourceRecord(1, value)]) is not None
    assert list(KIMI.read([SourceRecord(1, value)])) == []


def test_two_objects_on_one_line_are_two_messages() -> None:
    value = {"type": "context.append_message", "message": USER}
    told = [
        each for each in KIMI.read([SourceRecord(1, value)] * 2) if isinstance(each, MessageEvent)
    ]
    assert [each.key for each in told] == ["#1", "#1.1"]


def test_an_empty_part_and_an_undo_of_nothing_say_nothing() -> None:
    part = {"type": "content.part", "stepUuid": "s", "part": {"type": "text", "text": ""}}
    values = [{"type": "context.append_loop_event", "event": part}, {"type": "context.clear"}]
    assert (
        list(KIMI.read([SourceRecord(line, value) for line, value in enumerate(values, 1)])) == []
    )


@given(st.data())
def test_whatever_a_journal_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(KIMI, data.draw(surprised(RECORDS))) == []
    assert breaks(KIMI, data.draw(surprised(OLD))) == []
