"""What Droid prints as a stream of events, told line by line."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.droid import DROID
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("droid_stream.jsonl").encode())


def test_the_last_words_of_a_turn_are_told_once() -> None:
    document = read(sample("droid_stream.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      List the files",
            '01 assistant -> Execute {"command": "ls"}',
            "02 tool      error: a.txt b missing",
            "03 assistant One file.",
            "04 user      And now?",
            "05 assistant Still one.",
        ]
    )
    assert document.problems == (Problem(10, "a line of type 'whisper' is not known"),)


def test_the_first_line_says_what_is_known_of_the_session() -> None:
    about = About(id="s-1", model="droid-2", cwd="/home/ada/sky", started=1_767_322_000_000)
    assert next(DROID.read(RECORDS)) == StrandStarted(strand=MAIN, line=1, about=about)


def test_what_a_turn_cost_is_noted_whether_its_last_words_were_told_or_not() -> None:
    said = {"session_id": "s", "type": "message", "role": "assistant", "text": "done"}
    usage = {"input_tokens": 10, "output_tokens": 5}
    end = {"session_id": "s", "type": "completion", "finalText": "done", "usage": usage}
    records = [SourceRecord(line, value) for line, value in enumerate((said, end, end), 1)]
    noted = [each.about for each in DROID.read(records) if isinstance(each, MetadataUpdated)]
    assert noted == [About(usage=Usage(1, 10, 5)), About(usage=Usage(2, 20, 10))]
    told = [each for each in DROID.read(RECORDS) if isinstance(each, MessageEvent)]
    assert [each.native.model for each in told] == ["", "droid-2", "", "droid-2", "", "droid-2"]


def test_a_result_that_is_no_text_is_told_as_json() -> None:
    fields = {"session_id": "s", "type": "tool_result", "toolCallId": "c", "value": {"rows": [1]}}
    told = [
        each for each in DROID.read([SourceRecord(1, fields)]) if isinstance(each, MessageEvent)
    ]
    assert told[0].message.results[0].text == '{"rows": [1]}'


def test_a_message_of_an_unknown_role_is_a_problem_and_an_empty_one_says_nothing() -> None:
    line = {"session_id": "s", "type": "message"}
    records = [
        SourceRecord(1, {**line, "role": "pilot", "text": "up"}),
        SourceRecord(2, {**line, "role": "user", "text": ""}),
    ]
    _, *events = DROID.read(records)
    assert events == [Problem(1, "a message of the role 'pilot' is not known")]


@given(st.data())
def test_whatever_a_stream_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(DROID, data.draw(surprised(RECORDS))) == []
