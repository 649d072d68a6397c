"""The sessions of Droid, told line by line."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.droid import DROID
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import Role, shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("droid.jsonl").encode())
AT = 1_767_323_045_000


def test_messages_are_what_anthropic_says_and_a_compaction_leaves_its_summary() -> None:
    document = read(sample("droid.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      Count them",
            '01 assistant (thinking) | -> Execute {"command": "wc -l"}',
            "02 tool      error: wc: no file",
            "03 user      Hurry",
            "04 user      [summary] The stars were not counted.",
            "05 assistant Seven.",
        ]
    )
    assert shape(document.live, 60) == "\n".join(
        ["00 user      [summary] The stars were not counted.", "01 assistant Seven."]
    )
    assert document.problems == (Problem(8, "messages[0].role: unknown role 'pilot'"),)


def test_a_header_says_whose_task_it_is() -> None:
    assert next(DROID.read(RECORDS)) == StrandStarted(
        strand=MAIN,
        line=1,
        about=About(
            id="d-1",
            title="Count stars",
            cwd="/home/ada/sky",
            version="0.90.1",
            parent="d-0",
            fork=Fork.DELEGATION,
            more={"owner": "ada", "sessionTitle": "Count stars", "callingToolUseId": "toolu_9"},
        ),
    )


def test_ids_and_times_stay_and_a_parent_only_where_it_is_not_the_line_before() -> None:
    told = [each for each in DROID.read(RECORDS) if isinstance(each, MessageEvent)]
    assert [(each.key, each.native) for each in told] == [
        ("m1", SourceMetadata(id="m1", at=AT)),
        ("m2", SourceMetadata(id="m2", at=AT + 1000)),
        ("m3", SourceMetadata(id="m3", at=AT + 2000)),
        ("#4", SourceMetadata(id="m3", at=AT + 2000)),
        ("c1", SourceMetadata(id="c1", at=AT + 3000)),
        ("m4", SourceMetadata(id="m4", parent="m1", at=AT + 4000)),
    ]
    assert [each.message.role for each in told[2:4]] == [Role.TOOL, Role.USER]
    assert CompactionEvent(strand=MAIN, line=6, id="c1/fold", shows=("c1",), at=AT + 3000) in list(
        DROID.read(RECORDS)
    )


def test_settings_without_a_session_are_known_and_say_nothing() -> None:
    settings = [
        SourceRecord(1, {"model": "m", "providerLock": "x", "tokenUsage": {"inputTokens": 1}})
    ]
    assert DROID.recognize(settings) is not None
    assert list(DROID.read(settings)) == []


def test_a_file_without_its_header_is_told_all_the_same() -> None:
    events = list(DROID.read(RECORDS[1:2]))
    assert events[0] == StrandStarted(strand=MAIN, line=2, about=About())
    assert len(events) == 2


def test_a_compaction_is_read_in_either_spelling_and_says_nothing_without_words() -> None:
    states = [{"summary": {"title": "x", "body": "Stars."}}, {"summary": "Moons."}, {"summary": {}}]
    found: list[str] = []
    for state in states:
        record = SourceRecord(1, {"type": "compaction_state", **state})
        told = [each for each in DROID.read([record]) if isinstance(each, MessageEvent)]
        found += [summary.text for each in told if (summary := each.message.summary)]
    assert found == ["Stars.", "Moons."]


@given(st.data())
def test_whatever_a_session_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(DROID, data.draw(surprised(RECORDS))) == []
