"""A Claude Code session reads as the conversation that the model had."""

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import Document, Problem, detect, read
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Summary, Synthetic, shape
from tests.formats.conformance import broken_rules
from tests.formats.samples import sample


def line(kind: str, uuid: str, content: object, **more: object) -> Mapping[str, object]:
    message = {"role": kind, "content": content}
    return {"type": kind, "uuid": uuid, "sessionId": "s", "message": message, **more}


def session(*lines: Mapping[str, object]) -> Document:
    return read("\n".join(map(json.dumps, lines)))


def test_lines_of_one_answer_are_one_message_and_its_results_follow() -> None:
    document = read(sample("claude_code.jsonl"))
    assert (document.format, document.dialect) == ("claude-code", "anthropic")
    assert shape(document.transcript, 70) == "\n".join(
        [
            "00 user      Add a checkout page; never touch the schema",
            '01 assistant (thinking) | I will read two files. | -> Read {"file_path": "/srv/sho…',
            "02 tool      result: ROUTES = []",
            "03 tool      result: class Cart: ...",
            "04 user      Use port 8099",
            "05 assistant The page is ready on port 8099.",
            "06 user      [summary] 1. A checkout page was added.",
            "07 user      Now write its tests",
            '08 assistant -> Bash {"command": "pytest -q"}',
            "09 user      [Request interrupted by user]",
        ]
    )


def test_what_cannot_be_read_is_reported_by_line() -> None:
    assert read(sample("claude_code.jsonl")).problems == (
        Problem(20, "expected an object, found text"),
        Problem(23, "not JSON at column 47: Unterminated string starting at"),
    )


def test_pictures_in_results_are_kept() -> None:
    (result,) = read(sample("claude_code.jsonl")).transcript[3].results
    assert [type(part) for part in result.content][1] is Media


def test_a_compaction_is_a_summary_and_what_follows_is_live() -> None:
    document = read(sample("claude_code.jsonl"))
    transcript = document.transcript
    summary = transcript[6].summary
    assert transcript[6].synthetic is Synthetic.SUMMARY
    assert isinstance(summary, Summary)
    assert summary.origin == "claude-code"
    assert document.live == transcript[6:]


def test_a_summary_stands_before_the_messages_its_compaction_kept() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "compactMetadata": {"preservedMessages": {"uuids": ["u2", "a2"]}},
    }
    document = session(
        line("user", "u1", "first"),
        line("assistant", "a1", [{"type": "text", "text": "one"}]),
        line("user", "u2", "second"),
        line("assistant", "a2", [{"type": "text", "text": "two"}]),
        boundary,
        line("user", "c", "What happened before", isCompactSummary=True),
        line("user", "u2", "second"),
        line("user", "u3", "third"),
    )
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      first",
            "01 assistant one",
            "02 user      [summary] What happened before",
            "03 user      second",
            "04 assistant two",
            "05 user      third",
        ]
    )


def test_an_answer_repeated_after_a_user_spoke_is_another_message() -> None:
    answer = {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    document = session(
        line("assistant", "a1", None, message=answer),
        line("assistant", "a2", None, message=answer),
        line("user", "u1", "again"),
        line("assistant", "a3", None, message=answer),
    )
    assert shape(document.transcript) == "\n".join(
        ["00 assistant hello", "01 user      again", "02 assistant hello"]
    )


def test_a_file_of_a_sub_agent_is_read_although_it_is_a_sidechain() -> None:
    document = session(line("user", "u1", "count the files", isSidechain=True))
    assert shape(document.transcript) == "00 user      count the files"


def test_lines_for_the_screen_are_left_out() -> None:
    document = session(
        line("user", "u1", "hello"),
        line("user", "u2", "a note", isVisibleInTranscriptOnly=True),
        line("assistant", "a1", None, message={"model": "<synthetic>", "content": "no answer"}),
        {"type": "attachment", "attachment": {"type": "task_reminder", "prompt": "x"}},
    )
    assert shape(document.transcript) == "00 user      hello"


def test_a_line_with_content_of_no_known_shape_is_a_problem() -> None:
    document = session(
        line("user", "u1", "hello"), line("user", "u2", 5), line("user", "u3", [{"type": 5}])
    )
    assert shape(document.transcript) == "00 user      hello"
    assert [problem.line for problem in document.problems] == [2, 3]


def test_a_file_without_messages_is_known_by_its_other_lines() -> None:
    document = read('{"type":"mode"}\n{"type":"summary","summary":"a title","leafUuid":"x"}')
    assert (document.format, document.transcript) == ("claude-code", ())


def told(*lines: Mapping[str, object]) -> list[Event]:
    return list(
        CLAUDE_CODE.read([SourceRecord(place, each) for place, each in enumerate(lines, 1)])
    )


def messages(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def answer(
    uuid: str, block: Mapping[str, object], output: int, **more: object
) -> dict[str, object]:
    usage = {"input_tokens": 9, "cache_read_input_tokens": 100, "output_tokens": output}
    message = {"id": "m1", "model": "model-1", "content": [block], "usage": usage}
    return {"type": "assistant", "uuid": uuid, "sessionId": "s", "message": message, **more}


SAID = {"type": "text", "text": "hello"}
CALL = {
    "type": "tool_use",
    "id": "t1",
    "name": "Task",
    "input": {"description": "Count files", "prompt": "count the files"},
}
RESULT = [{"type": "tool_result", "tool_use_id": "t1", "content": "3", "is_error": True}]


def test_every_line_is_told_by_itself_with_what_the_agent_wrote_about_it() -> None:
    events = told(
        line("user", "u1", "go", timestamp="2026-01-02T03:04:05.678Z", isMeta=True, cwd="/srv"),
        answer("a1", SAID, 3, parentUuid="u1", requestId="r1", version="2.1.7", gitBranch="main"),
        answer("a2", CALL, 30, parentUuid="a1"),
        line("user", "r1", RESULT, parentUuid="a1"),
    )
    at = 1_767_323_045_678
    begun, _, noted, *_ = events
    assert begun == StrandStarted(strand="", line=1, about=About(id="s", cwd="/srv", started=at))
    assert noted == MetadataUpdated(
        strand="", about=About(git_branch="main", version="2.1.7", model="model-1")
    )
    assert [each.native for each in messages(events)] == [
        SourceMetadata(id="u1", at=at, more={"isMeta": True}),
        SourceMetadata(
            id="a1",
            reply="m1",
            model="model-1",
            usage=Usage(1, 9, 3, 100),
            more={"requestId": "r1"},
        ),
        SourceMetadata(id="a2", reply="m1", model="model-1", usage=Usage(0, 0, 27)),
        SourceMetadata(id="r1", parent="a1"),
    ]
    (result,) = messages(events)[3].message.results
    assert result.is_error


def test_usage_that_an_answer_repeats_counts_once() -> None:
    events = told(answer("a1", SAID, 3), answer("a2", CALL, 3))
    assert [each.native.usage for each in messages(events)] == [Usage(1, 9, 3, 100), None]


def test_a_side_chain_is_a_strand_that_knows_the_call_it_came_from() -> None:
    events = told(
        line("user", "u1", "go"),
        answer("a1", CALL, 3, parentUuid="u1"),
        line("user", "s1", "count the files", isSidechain=True),
        answer("s2", SAID, 3, parentUuid="s1", isSidechain=True),
        line("user", "r1", RESULT, parentUuid="a1"),
        line("user", "x1", "nobody asked for this", isSidechain=True),
    )
    begun = [each for each in events if isinstance(each, StrandStarted)]
    assert begun[1:] == [
        StrandStarted(
            strand="s1",
            line=3,
            about=About(title="Count files", more={"call": "t1"}),
            of="",
            fork=Fork.DELEGATION,
        ),
        StrandStarted(strand="x1", line=6, about=About(), of="", fork=Fork.DELEGATION),
    ]
    assert [each.strand for each in messages(events)] == ["", "", "s1", "s1", "", "x1"]


def test_the_file_of_a_sub_agent_names_the_session_it_works_for() -> None:
    events = told(
        line("user", "u1", "count", isSidechain=True, agentId="a7"),
        answer("a1", SAID, 3, parentUuid="u1", isSidechain=True, agentId="a7"),
    )
    about = About(id="a7", parent="s", fork=Fork.DELEGATION)
    assert events[0] == StrandStarted(strand="", line=1, about=about)
    assert {each.strand for each in messages(events)} == {""}


def test_a_user_who_went_back_begins_a_branch() -> None:
    events = told(
        line("user", "u1", "go"),
        answer("a1", SAID, 3, parentUuid="u1"),
        {"type": "system", "subtype": "turn_duration", "uuid": "d1", "parentUuid": "a1"},
        line("user", "u2", "left", parentUuid="d1"),
        line("user", "u3", "right", parentUuid="d1"),
        answer("a3", SAID, 3, parentUuid="u3"),
    )
    begun = [each for each in events if isinstance(each, StrandStarted)]
    assert begun[1:] == [
        StrandStarted(strand="u3", line=5, about=About(), of="", fork=Fork.BRANCH, after="a1")
    ]
    assert [each.strand for each in messages(events)] == ["", "", "", "u3", "u3"]
    assert messages(events)[3].native.parent == "a1"


def test_results_of_parallel_calls_are_no_branches() -> None:
    second = {**CALL, "id": "t2"}
    answered = [{"type": "tool_result", "tool_use_id": "t2", "content": "4"}]
    events = told(
        answer("a1", CALL, 3),
        answer("a2", second, 3, parentUuid="a1"),
        line("user", "r2", answered, parentUuid="a2"),
        line("user", "r1", RESULT, parentUuid="a1"),
    )
    assert {each.strand for each in messages(events)} == {""}


def boundary(uuid: str, **about: object) -> dict[str, object]:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": uuid,
        "parentUuid": None,
        "timestamp": "2026-01-02T03:04:05.678Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 900, **about},
    }


def test_a_window_is_what_follows_the_boundary_the_summary_and_what_was_kept() -> None:
    events = told(
        line("user", "u1", "one"),
        line("user", "u2", "two", parentUuid="u1"),
        line("user", "u3", "three", parentUuid="u2"),
        boundary("b1", postTokens=90, preservedSegment={"headUuid": "u2", "tailUuid": "u3"}),
        line("user", "u4", "between", parentUuid="b1"),
        line("user", "c1", "What happened", isCompactSummary=True, parentUuid="b1"),
    )
    assert events[-1] == CompactionEvent(
        strand="",
        line=6,
        id="b1",
        shows=("u4", "c1", "u2", "u3"),
        at=1_767_323_045_678,
        trigger="auto",
        tokens_before=900,
        tokens_after=90,
    )


def test_a_kept_segment_of_a_branch_leaves_out_what_the_branch_does_not_share() -> None:
    events = told(
        line("user", "u1", "one"),
        line("user", "u2", "left", parentUuid="u1"),
        line("user", "u3", "right", parentUuid="u1"),
        boundary("b1", preservedSegment={"headUuid": "u1", "tailUuid": "u3"})
        | {"logicalParentUuid": "u3"},
        line("user", "c1", "What happened", isCompactSummary=True, parentUuid="b1"),
    )
    folded = events[-1]
    assert isinstance(folded, CompactionEvent)
    assert (folded.strand, folded.shows) == ("u3", ("c1", "u1", "u3"))


def test_a_summary_without_a_boundary_and_a_boundary_without_a_summary_are_read() -> None:
    events = told(
        line("user", "u1", "one"),
        boundary("b1"),
        boundary("b2", preservedSegment={"headUuid": "gone", "tailUuid": "gone"}),
        line("user", "c1", "What happened", isCompactSummary=True),
        line("user", "c2", "What happened then", isCompactSummary=True),
        boundary("b3"),
        line("user", "u2", "two"),
    )
    folded = [each for each in events if isinstance(each, CompactionEvent)]
    assert [(each.id, each.shows) for each in folded] == [("b2", ("c1",)), ("c2/fold", ("c2",))]


def title(*lines: Mapping[str, object]) -> str:
    (found,) = replay(told(*lines))
    return found.about.title


def test_a_title_that_a_user_gave_is_better_than_one_that_was_made_up() -> None:
    given = {"type": "custom-title", "customTitle": "Mine"}
    made = {"type": "ai-title", "aiTitle": "Made up"}
    assert title(line("user", "u1", "go"), made, given, made) == "Mine"
    assert title(made, line("user", "u1", "go")) == "Made up"


def test_an_old_title_is_of_the_session_that_holds_the_line_it_names() -> None:
    said = line("user", "u1", "go")
    for leaf, expected in (("u1", "Old"), ("elsewhere", ""), (None, "Old")):
        summary = {"type": "summary", "summary": "Old", "leafUuid": leaf}
        assert title(summary, said) == expected
        assert title(said, summary) == expected


def test_a_session_is_known_by_the_first_id_in_its_file() -> None:
    first, second = line("user", "u1", "go"), line("user", "u2", "on", sessionId="s2")
    events = told(first, second)
    assert isinstance(events[0], StrandStarted)
    assert events[0].about.id == "s"
    assert [each.native.more for each in messages(events)] == [{}, {"sessionId": "s2"}]


def test_a_line_with_an_id_that_was_told_is_a_copy() -> None:
    events = told(line("user", "u1", "go"), line("user", "u1", "go"), line("user", "", "a"))
    assert [each.key for each in messages(events)] == ["u1", "#3"]


def test_lines_without_ids_are_all_told() -> None:
    events = told(line("user", "", "go"), line("user", "", "on", isSidechain=True))
    assert [(each.strand, each.key) for each in messages(events)] == [("", "#1"), ("#2", "#2")]


def test_what_was_typed_while_the_agent_was_busy_is_told() -> None:
    queued = {"type": "queued_command", "prompt": "wait", "commandMode": "prompt"}
    events = told({"type": "attachment", "uuid": "q1", "attachment": queued})
    (found,) = messages(events)
    assert (found.message.text, found.native.more) == ("wait", {"queued": "prompt"})


def test_results_and_words_on_one_line_are_two_messages() -> None:
    events = told(
        answer("a1", CALL, 3),
        line("user", "r1", [*RESULT, SAID]),
        line("user", "u1", "left", parentUuid="r1"),
        line("user", "u2", "right", parentUuid="r1"),
    )
    assert [each.key for each in messages(events)] == ["a1", "r1", "r1/1", "u1", "u2"]
    begun = events[-2]
    assert isinstance(begun, StrandStarted)
    assert begun.after == "r1/1"


def test_blocks_that_can_be_read_are_told_without_those_that_cannot() -> None:
    events = told(line("user", "u1", [SAID, {"type": "tool_result"}, "stray"]))
    assert [each.message.text for each in messages(events)] == ["hello"]
    assert [each for each in events if isinstance(each, Problem)] == [
        Problem(1, "the result of a tool without the id of its call was left out"),
        Problem(1, "a block of the user was left out: expected an object, found text"),
    ]


def test_an_answer_that_is_written_again_as_it_grows_tells_what_was_added() -> None:
    grown = answer("a2", SAID, 3)
    grown["message"] = {"id": "m1", "content": [SAID, CALL]}
    events = told(answer("a1", SAID, 3), grown)
    assert [len(each.message.parts) for each in messages(events)] == [1, 1]


def test_lines_whose_parents_are_missing_are_told_and_counted() -> None:
    events = told(
        line("user", "u1", "go", parentUuid="in another file"),
        line("user", "u2", "on", parentUuid="lost"),
        line("user", "u3", "and on", parentUuid="lost as well"),
        line("user", "u4", "and on", parentUuid="u5"),
        line("user", "u5", "and on"),
    )
    assert len(messages(events)) == 5
    assert events[-1] == Problem(
        2, "2 lines follow lines not in the file; read in the order of the file"
    )


def test_a_line_of_the_main_chain_below_a_sub_agent_stays_in_the_main_chain() -> None:
    events = told(
        line("user", "u1", "go"),
        line("user", "s1", "side", isSidechain=True),
        line("user", "u2", "on", parentUuid="s1"),
    )
    assert [each.strand for each in messages(events)] == ["", "s1", ""]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(("", "u1", "u2", "text")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("type", "text", "id", "input", "content", "uuids", "prompt", "usage")),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
strange = st.fixed_dictionaries(
    {"type": st.sampled_from(("user", "assistant", "system", "attachment", "summary"))},
    optional={
        key: values
        for key in (
            "uuid",
            "parentUuid",
            "sessionId",
            "message",
            "isSidechain",
            "attachment",
            "compactMetadata",
            "leafUuid",
            "holdfast",
            "timestamp",
        )
    }
    | {
        "subtype": st.sampled_from(("compact_boundary", "holdfast_prompt")),
        "isCompactSummary": st.booleans(),
    },
)


@given(st.lists(strange, max_size=8))
def test_no_shape_of_a_line_is_fatal_and_what_was_told_stays_told(
    lines: list[dict[str, object]],
) -> None:
    whole = [each for each in told(*lines) if isinstance(each, MessageEvent | CompactionEvent)]
    assert broken_rules(told(*lines)) == []
    for count in range(len(lines)):
        part = [
            each
            for each in told(*lines[:count])
            if isinstance(each, MessageEvent | CompactionEvent)
        ]
        assert part == whole[: len(part)]


def test_a_file_that_begins_with_lines_of_the_program_alone_is_known() -> None:
    line = {
        "type": "progress",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "s1",
        "isSidechain": False,
        "data": {"type": "hook_progress"},
    }
    guess = detect("\n".join([json.dumps(line)] * 3))
    assert (guess.format, guess.confidence) == ("claude-code", 0.8)
