"""The transcripts of Antigravity's command line, told step by step."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Told
from holdfast.formats.sessions.antigravity import ANTIGRAVITY
from holdfast.formats.source import Record
from holdfast.transcript import Text, ToolCall, shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("antigravity.jsonl").encode())
AT = 1_770_091_506_000


def test_steps_become_calls_and_results_and_a_checkpoint_is_a_summary() -> None:
    document = read(sample("antigravity.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 user      Name the moons. | <USER_SETTINGS_CHANGE> The user changed s…",
            '01 assistant (thinking) | Looking. | -> list_dir {"Path": "\\"/sky\\""}',
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
    assert begun == Begun(strand=MAIN, line=1, about=About(started=AT))
    assert noted == Noted(strand=MAIN, about=About(model="Fast Model 2"))
    assert isinstance(asked, Told)
    assert asked.message.parts[0] == Text("Name the moons.")
    assert asked.native == Native(id="0", at=AT)


def test_a_step_that_no_call_asked_for_is_a_call_and_its_result() -> None:
    told = [each for each in ANTIGRAVITY.read(RECORDS) if isinstance(each, Told)]
    assert [each.key for each in told] == ["#1", "#3", "#4", "#5", "#5.1", "#6", "#7", "#8"]
    assert told[3].message.parts == (ToolCall("#5", "view_file"),)
    assert told[4].message.results[0].call_id == "#5"


def test_what_the_agent_cut_is_said_and_what_a_checkpoint_shows() -> None:
    events = list(ANTIGRAVITY.read(RECORDS))
    told = [each for each in events if isinstance(each, Told)]
    assert told[2].native == Native(id="3", at=AT + 2000, more={"truncated_fields": ["content"]})
    assert Folded(strand=MAIN, line=6, id="#6/fold", shows=("#6",), at=AT + 4000) in events


def test_the_path_names_the_conversation() -> None:
    file = "antigravity-cli/brain/a-1/.system_generated/logs/transcript.jsonl"
    first = next(ANTIGRAVITY.read([Record(1, RECORDS[0].value, file)]))
    assert first == Begun(strand=MAIN, line=1, about=About(id="a-1", started=AT))


def test_a_checkpoint_without_words_changes_nothing() -> None:
    step = {"step_index": 1, "source": "SYSTEM", "type": "CHECKPOINT"}
    assert list(ANTIGRAVITY.read([Record(1, step)])) == [Begun(strand=MAIN, line=1, about=About())]


@given(st.data())
def test_whatever_a_transcript_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(ANTIGRAVITY, data.draw(surprised(RECORDS))) == []
