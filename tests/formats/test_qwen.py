"""The sessions of Qwen Code, told record by record."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.qwen import QWEN
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("qwen.jsonl").encode())
AT = 1_772_600_760_000


def test_a_rewind_and_a_compression_leave_what_the_model_sees() -> None:
    document = read(sample("qwen.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      Name a moon",
            '01 assistant (thinking) | -> read_file {"path": "moons"}',
            "02 tool      error: Io",
            "03 assistant Io.",
            "04 user      [summary] Moons were named.",
            "05 user      Another one",
            "06 assistant Europa.",
            "07 assistant I see.",
            "08 user      Thanks",
        ]
    )
    assert shape(document.live, 60) == "\n".join(
        [
            "00 user      [summary] Moons were named.",
            "01 assistant I see.",
            "02 user      Another one",
            "03 assistant Europa.",
            "04 user      Thanks",
        ]
    )


def test_going_back_and_compressing_are_told_where_they_happened() -> None:
    events = list(QWEN.read(RECORDS))
    assert [
        each for each in events if isinstance(each, RewindEvent | CompactionEvent | MetadataUpdated)
    ] == [
        MetadataUpdated(strand=MAIN, about=About(title="Moons")),
        RewindEvent(strand=MAIN, line=7, shows=("u1",), at=AT + 6000),
        CompactionEvent(
            strand=MAIN,
            line=10,
            id="u9#10/fold",
            shows=("#10", "#10.1", "u7", "u8"),
            at=AT + 9000,
            tokens_before=90,
            tokens_after=9,
        ),
    ]


def test_records_of_one_answer_share_its_id_and_its_cost_counts_once() -> None:
    told = [each for each in QWEN.read(RECORDS) if isinstance(each, MessageEvent)]
    first, second = told[1:3]
    assert (first.key, first.native) == (
        "u2",
        SourceMetadata(id="u2", reply="u2", model="q-9", at=AT + 2000),
    )
    usage = Usage(1, 7, 5, 5)
    assert (second.key, second.native) == (
        "#3",
        SourceMetadata(id="u2", reply="u2", model="q-9", usage=usage, at=AT + 2000),
    )


def test_a_sub_agent_in_the_file_is_a_strand_of_its_own() -> None:
    begun = [each for each in QWEN.read(RECORDS) if isinstance(each, StrandStarted)]
    known = About(
        id="q-1", cwd="/home/ada/sky", git_branch="main", version="0.30.0", started=AT + 1000
    )
    child = About(
        id="q-1/explore-1",
        title="Explore",
        cwd="/home/ada/sky",
        version="0.30.0",
        started=AT + 11_000,
    )
    assert begun == [
        StrandStarted(strand=MAIN, line=1, about=known),
        StrandStarted(strand="explore-1", line=12, about=child, of=MAIN, fork=Fork.DELEGATION),
    ]


def test_a_sub_agent_in_a_file_of_its_own_names_its_parent() -> None:
    (begun, _) = QWEN.read([RECORDS[11]])
    assert isinstance(begun, StrandStarted)
    assert (begun.of, begun.about.parent, begun.about.fork) == (None, "q-1", Fork.DELEGATION)


def test_a_forked_session_names_the_one_that_it_was_copied_from() -> None:
    value = {**dict(RECORDS[0].value), "forkedFrom": {"sessionId": "q-0", "messageUuid": "u1"}}  # type: ignore[call-overload]
    begun = next(QWEN.read([SourceRecord(1, value)]))
    assert isinstance(begun, StrandStarted)
    assert (begun.about.parent, begun.about.fork) == ("q-0", Fork.BRANCH)


def test_a_record_of_claude_code_is_not_taken_for_one() -> None:
    line = {"uuid": "u", "parentUuid": None, "sessionId": "s", "type": "user"}
    assert QWEN.recognize([SourceRecord(1, {**line, "message": {"content": "hi"}})]) is None


def test_a_session_may_say_its_model_and_its_parent_later() -> None:
    own = {"uuid": "a", "parentUuid": None, "sessionId": "q", "type": "system"}
    model = {**own, "subtype": "session_model", "systemPayload": {"modelId": "q-8"}}
    parent = {**own, "subtype": "parent_session", "systemPayload": {"parentSessionId": "q-0"}}
    events = list(QWEN.read([SourceRecord(1, model), SourceRecord(2, parent)]))
    assert events[1:] == [
        MetadataUpdated(strand=MAIN, about=About(model="q-8")),
        MetadataUpdated(strand=MAIN, about=About(parent="q-0", fork=Fork.DELEGATION)),
    ]


def test_a_compressed_history_that_cannot_be_read_is_a_problem_and_changes_nothing() -> None:
    history = [{"role": "pilot", "parts": [{"text": "up"}]}]
    payload = {"compressedHistory": history}
    own = {"uuid": "a", "parentUuid": None, "sessionId": "q", "type": "system"}
    record = SourceRecord(3, {**own, "subtype": "chat_compression", "systemPayload": payload})
    _, *problems = QWEN.read([record])
    assert [(type(each), getattr(each, "line", 0)) for each in problems] == [(Problem, 3)]


def test_a_record_without_parts_does_not_go_back() -> None:
    empty = {"uuid": "u9", "parentUuid": None, "sessionId": "q-1", "type": "user"}
    first = RECORDS[:2]
    record = SourceRecord(3, {**empty, "message": {"role": "user", "parts": []}})
    assert list(QWEN.read([*first, record])) == list(QWEN.read(first))


@given(st.data())
def test_whatever_a_session_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(QWEN, data.draw(surprised(RECORDS))) == []
