"""The sessions of Grok's command line, told folder by folder."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.events import MAIN, About, MessageEvent, Problem, StrandStarted
from holdfast.formats.grok import GROK
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import Media, Opaque, Text, Thinking, shape
from tests.formats.conformance import records_of
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

RECORDS = records_of(sample("grok.jsonl").encode())
SUMMARY = {
    "info": {"id": "g-1", "cwd": "/home/ada/sky"},
    "session_summary": "asked",
    "generated_title": "The time",
    "created_at": "2026-01-02T03:04:05.000000Z",
    "current_model_id": "grok-9",
    "chat_format_version": 1,
    "head_branch": "main",
    "agent_name": "grok",
}
LINK = {"parent_session_id": "g-1", "subagent_type": "explore", "description": "look"}


def folder(name: str, *, summary: object = None, count: int = 3) -> list[SourceRecord]:
    lines = [
        SourceRecord(each.line, each.value, f"sky/{name}/chat_history.jsonl") for each in RECORDS
    ]
    beside = [] if summary is None else [SourceRecord(1, summary, f"sky/{name}/summary.json")]
    return [*lines[:count], *beside]


def begun(records: list[SourceRecord]) -> list[StrandStarted]:
    return [each for each in GROK.read(records) if isinstance(each, StrandStarted)]


def test_a_thought_an_answer_and_what_ran_at_the_provider_are_one_message() -> None:
    document = read(sample("grok.jsonl"))
    assert shape(document.transcript, 60) == "\n".join(
        [
            "00 system    You help.",
            "01 user      <info> linux </info>",
            "02 user      What is the time? | [image]",
            '03 assistant (thinking) | I ask. | -> run {"command":"date"}',
            "04 tool      result: noon",
            "05 assistant [web_search_call] | It is noon.",
        ]
    )
    assert document.problems == (Problem(9, "a line of type 'oracle' is not known"),)


def test_nothing_of_a_line_is_lost() -> None:
    told = {each.line: each for each in GROK.read(RECORDS) if isinstance(each, MessageEvent)}
    assert told[2].native.more == {"synthetic_reason": "environment_context"}
    assert told[3].native.more == {"prompt_index": 0}
    (thought,) = told[4].message.parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature) == ("Ask the clock.", "c2VhbGVk")
    assert [told[line].native.reply for line in (4, 5, 6, 7, 8)] == ["#4", "#4", "", "#7", "#7"]
    assert told[5].native.model == "grok-9"
    picture = Media(media_type="image/png", data="iVBORw0=")
    assert told[6].message.results[0].content == (Text("noon"), picture)
    (search,) = told[7].message.parts
    assert isinstance(search, Opaque)
    assert search.value["type"] == "web_search_call"


def test_what_stands_beside_a_transcript_says_what_is_known_of_it() -> None:
    (first,) = begun(folder("g-1", summary=SUMMARY))
    assert first == StrandStarted(
        strand="sky/g-1/chat_history.jsonl",
        line=1,
        about=About(
            id="g-1",
            title="The time",
            model="grok-9",
            cwd="/home/ada/sky",
            git_branch="main",
            started=1_767_323_045_000,
            more={"agent_name": "grok"},
        ),
    )


def test_a_transcript_without_anything_beside_it_has_the_id_of_its_folder() -> None:
    assert [each.about for each in begun(folder("g-7"))] == [About(id="g-7")]
    assert [each.about for each in begun(RECORDS)] == [About()]


def test_a_sub_agent_knows_the_session_that_it_works_for() -> None:
    link = SourceRecord(1, LINK, "sky/g-1/subagents/g-2/meta.json")
    parent = folder("g-1", summary=SUMMARY)
    records = [*parent[:-1], link, parent[-1], *folder("g-2")]
    assert [(each.about.id, each.about.parent, each.about.fork) for each in begun(records)] == [
        ("g-1", "", None),
        ("g-2", "g-1", Fork.DELEGATION),
    ]


def test_several_transcripts_in_one_folder_do_not_share_what_is_known() -> None:
    one = [SourceRecord(each.line, each.value, "all/one.jsonl") for each in RECORDS[:2]]
    two = [SourceRecord(each.line, each.value, "all/two.jsonl") for each in RECORDS[:2]]
    records = [*one, *two, SourceRecord(1, SUMMARY, "all/one.json")]
    assert [(each.strand, each.about) for each in begun(records)] == [
        ("all/one.jsonl", About()),
        ("all/two.jsonl", About()),
    ]


def test_files_beside_a_transcript_are_known_and_hold_no_conversation() -> None:
    for value in (SUMMARY, LINK):
        assert GROK.recognize([SourceRecord(1, value)]) is not None
        assert list(GROK.read([SourceRecord(1, value)])) == []


@given(st.data())
def test_whatever_a_session_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    records = [*RECORDS, *folder("g-1", summary=SUMMARY), *folder("g-2", count=9)]
    found = data.draw(surprised(records))
    # What is in one folder comes together, whatever is wrong with it.
    assert breaks(GROK, sorted(found, key=lambda record: record.file)) == []


def test_two_objects_on_one_line_are_two_messages() -> None:
    glued = [SourceRecord(1, RECORDS[0].value), SourceRecord(1, RECORDS[1].value)]
    told = [each.key for each in GROK.read(glued) if isinstance(each, MessageEvent)]
    assert told == ["#1", "#1.1"]


def test_a_single_file_is_the_main_strand() -> None:
    assert [each.strand for each in begun(RECORDS)] == [MAIN]
