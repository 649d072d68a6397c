"""Pi and OpenClaw sessions read as the path to their newest entry."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.events import (
    MAIN,
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
from holdfast.formats.pi import PI
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Message, Role, Text, Thinking, shape
from tests.formats.conformance import broken_rules, records_of, spoken
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/srv"}


def tell(*entries: object) -> list[Event]:
    return list(PI.read(SourceRecord(line, entry) for line, entry in enumerate(entries, 1)))


def says(name: str, parent: str | None, text: str) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": name, "parentId": parent, "message": message}


def folds(name: str, parent: str, kept: str) -> dict[str, object]:
    fields = {"summary": f"sum {name}", "firstKeptEntryId": kept, "tokensBefore": 7}
    return {"type": "compaction", "id": name, "parentId": parent, **fields}


def user(name: str, text: str, *, strand: str = MAIN, parent: str = "", line: int) -> MessageEvent:
    native = SourceMetadata(id=name, parent=parent)
    message = Message(Role.USER, (Text(text),))
    return MessageEvent(strand=strand, line=line, key=name, message=message, native=native)


def test_the_first_version_is_a_list_and_its_compaction_counts_entries() -> None:
    document = read(sample("pi_v1.jsonl"))
    assert (document.format, document.problems) == ("pi", ())
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      Rename the module",
            '01 assistant (thinking) | -> bash {"command": "ls"}',
            "02 tool      result: old.py",
            "03 user      I ran `git status`: | clean | (exit code 1)",
            "04 user      [summary] The module was renamed.",
            "05 user      Go on",
            "06 assistant Renamed.",
            "07 user      And the docs?",
        ]
    )
    assert document.live == document.transcript[4:]


def test_an_abandoned_branch_is_left_out() -> None:
    assert shape(read(sample("pi_v3.jsonl")).transcript) == "\n".join(
        [
            "00 user      Draw the map",
            '01 assistant (thinking) | -> write {"path": "map.svg"}',
            "02 tool      error: disk full",
            "03 user      [summary] A map was asked for.",
            "04 user      The other branch came to nothing.",
            "05 user      The disk has room again.",
            "06 user      [summary] A second summary.",
            "07 user      A branch, told in the message itself.",
            "08 assistant Done.",
        ]
    )


def test_only_a_seal_that_a_provider_reads_is_a_signature() -> None:
    first = read(sample("pi_v1.jsonl")).transcript[1].parts[0]
    second = read(sample("pi_v3.jsonl")).transcript[1].parts[0]
    assert (first, second) == (
        Thinking("find it", "c2VhbA==", {"anthropic": {}}),
        Thinking("plan", extras={"pi": {"thinkingSignature": '{"id":"rs"}'}}),
    )


def test_pictures_in_results_are_kept() -> None:
    (result,) = read(sample("pi_v3.jsonl")).transcript[2].results
    assert result.content[1] == Media(media_type="image/png", data="iVBORw0KGgo=")


def test_two_compactions_that_kept_the_same_entry_stand_in_order() -> None:
    lines = [
        {"type": "session", "id": "s", "cwd": "/"},
        {
            "type": "message",
            "id": "m",
            "parentId": None,
            "message": {"role": "user", "content": "a"},
        },
        {
            "type": "compaction",
            "id": "1",
            "parentId": "m",
            "summary": "one",
            "firstKeptEntryId": "m",
        },
        {
            "type": "compaction",
            "id": "2",
            "parentId": "1",
            "summary": "two",
            "firstKeptEntryId": "m",
        },
    ]
    document = read("\n".join(map(json.dumps, lines)))
    assert shape(document.transcript) == "\n".join(
        ["00 user      [summary] one", "01 user      [summary] two", "02 user      a"]
    )
    assert document.live == document.transcript[1:]


def test_a_parent_below_its_child_does_not_go_round_in_circles() -> None:
    lines = [
        {"type": "session", "id": "s", "cwd": "/"},
        {
            "type": "message",
            "id": "a",
            "parentId": "b",
            "message": {"role": "user", "content": "a"},
        },
        {
            "type": "message",
            "id": "b",
            "parentId": "b",
            "message": {"role": "user", "content": "b"},
        },
    ]
    assert shape(read("\n".join(map(json.dumps, lines))).transcript) == "\n".join(
        ["00 user      a", "01 user      b"]
    )


def test_an_entry_below_an_older_one_begins_a_branch_whatever_stands_between() -> None:
    change = {"type": "model_change", "id": "m", "parentId": "a", "modelId": "x", "provider": "p"}
    assert tell(HEADER, says("a", None, "A"), says("b", "a", "B"), change, says("c", "m", "C")) == [
        StrandStarted(strand=MAIN, line=1, about=About(id="s", cwd="/srv")),
        user("a", "A", line=2),
        user("b", "B", line=3),
        MetadataUpdated(strand=MAIN, about=About(model="x", more={"provider": "p"})),
        StrandStarted(strand="c", line=5, about=About(), of=MAIN, fork=Fork.BRANCH, after="a"),
        user("c", "C", strand="c", parent="m", line=5),
    ]


def test_a_second_root_is_a_branch_that_shares_nothing() -> None:
    events = tell(HEADER, says("a", None, "A"), says("b", None, "B"))
    assert events[2] == StrandStarted(
        strand="b", line=3, about=About(), of=MAIN, fork=Fork.BRANCH, after=""
    )


def test_a_strand_goes_on_after_another_branch_was_told() -> None:
    events = tell(
        HEADER, says("a", None, "A"), says("b", "a", "B"), says("c", "a", "C"), says("d", "b", "D")
    )
    strands = [event.strand for event in events if isinstance(event, MessageEvent)]
    assert strands == [MAIN, MAIN, "c", MAIN]


def test_a_compaction_shows_its_summary_and_what_it_kept() -> None:
    events = tell(HEADER, says("a", None, "A"), says("b", "a", "B"), folds("f", "b", "b"))
    assert events[-1] == CompactionEvent(
        strand=MAIN, line=4, id="f/fold", shows=("f", "b"), tokens_before=7
    )


def test_a_second_compaction_keeps_no_earlier_summary() -> None:
    events = tell(
        HEADER,
        says("a", None, "A"),
        folds("f", "a", "a"),
        says("b", "f", "B"),
        folds("g", "b", "a"),
    )
    assert isinstance(events[-1], CompactionEvent)
    assert events[-1].shows == ("g", "a", "b")


def test_a_branch_from_before_a_compaction_sees_what_was_there() -> None:
    above = [says("a", None, "A"), says("b", "a", "B"), folds("f", "b", "b")]
    events = tell(HEADER, *above, says("c", "b", "C"))
    assert events[-2:] == [
        RewindEvent(strand="c", line=5, shows=("a", "b")),
        user("c", "C", strand="c", parent="b", line=5),
    ]


def test_a_branch_from_a_compaction_sees_what_it_kept() -> None:
    above = [says("a", None, "A"), folds("f", "a", "a"), says("b", "f", "B")]
    events = tell(HEADER, *above, says("c", "f", "C"))
    assert events[-2] == RewindEvent(strand="c", line=5, shows=("f", "a"))


def test_an_answer_says_what_it_cost_and_how_it_ended() -> None:
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": {"total": 0.5}}
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "hi", "textSignature": "msg"}],
        "api": "openai-responses",
        "provider": "openai",
        "model": "m",
        "usage": usage,
        "stopReason": "aborted",
        "errorMessage": "stopped",
        "responseId": "r",
    }
    when = "2026-01-02T03:04:05.678Z"
    entry = {"type": "message", "id": "a", "parentId": None, "timestamp": when, "message": answer}
    more = {
        "api": "openai-responses",
        "provider": "openai",
        "stopReason": "aborted",
        "errorMessage": "stopped",
    }
    assert tell(HEADER, entry)[-1] == MessageEvent(
        strand=MAIN,
        line=2,
        key="a",
        message=Message(Role.ASSISTANT, (Text("hi", {"pi": {"textSignature": "msg"}}),)),
        native=SourceMetadata(
            id="a",
            reply="r",
            model="m",
            usage=Usage(1, 1, 2, 3, 4, 0.5),
            at=1_767_323_045_678,
            more=more,
        ),
    )


def test_names_levels_and_labels_are_noted_and_a_label_can_be_taken_off() -> None:
    named = {"type": "session_info", "id": "n", "parentId": None, "name": " Maps "}
    level = {"type": "thinking_level_change", "id": "t", "parentId": "n", "thinkingLevel": "low"}
    first = {"type": "label", "id": "l", "parentId": "t", "targetId": "n", "label": "here"}
    second = {"type": "label", "id": "k", "parentId": "l", "targetId": "t", "label": "there"}
    off = {"type": "label", "id": "o", "parentId": "k", "targetId": "n"}
    assert tell(HEADER, named, level, first, second, off)[1:] == [
        MetadataUpdated(strand=MAIN, about=About(title="Maps")),
        MetadataUpdated(strand=MAIN, about=About(more={"thinkingLevel": "low"})),
        MetadataUpdated(strand=MAIN, about=About(more={"labels": {"t": "there"}})),
    ]


def test_a_session_names_the_one_it_was_branched_from() -> None:
    path = "/home/ann/.pi/agent/sessions/--srv--/2026-01-01T00-00-00-000Z_6f0c.jsonl"
    (begun,) = tell({**HEADER, "parentSession": path})
    assert begun == StrandStarted(
        strand=MAIN,
        line=1,
        about=About(
            id="s", cwd="/srv", parent="6f0c", fork=Fork.BRANCH, more={"parentSession": path}
        ),
    )


def test_a_session_without_its_header_is_told_and_a_late_header_is_noted() -> None:
    events = tell(says("a", None, "A"), HEADER, HEADER)
    assert events == [
        StrandStarted(strand=MAIN, line=1, about=About()),
        user("a", "A", line=1),
        MetadataUpdated(strand=MAIN, about=About(id="s", cwd="/srv")),
    ]


def test_a_role_that_is_not_known_is_a_problem_and_what_follows_is_told() -> None:
    strange = {"type": "message", "id": "x", "parentId": "a", "message": {"role": "oracle"}}
    events = tell(HEADER, says("a", None, "A"), strange, 5, says("b", "x", "B"))
    assert events[2:] == [
        Problem(3, "a message of the role 'oracle', which is not known"),
        Problem(4, "expected an entry, found a number"),
        user("b", "B", line=5),
    ]


def test_an_id_that_was_used_before_is_named_by_its_place() -> None:
    events = tell(HEADER, says("a", None, "A"), says("a", "a", "B"))
    assert [event.key for event in events if isinstance(event, MessageEvent)] == ["a", "#3"]


NAMES = st.sampled_from(("a", "b", "c", "d", "e", None, 7))
SHOWN = st.lists(NAMES, max_size=3)
PLACE = {"id": NAMES, "parentId": NAMES}
ENTRIES = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("message"), "message": st.just({"role": "user", "content": "x"})},
        optional=PLACE,
    ),
    st.fixed_dictionaries({"type": st.just("label")}, optional=PLACE),
    st.fixed_dictionaries(
        {"type": st.just("compaction"), "summary": st.just("so far")},
        optional={
            **PLACE,
            "firstKeptEntryId": NAMES,
            "firstKeptEntryIndex": st.integers(-1, 9),
            "details": st.builds(lambda shows: {"holdfast": {"shows": shows}}, SHOWN),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.just("custom"), "customType": st.just("holdfast.window")},
        optional={
            **PLACE,
            "data": st.fixed_dictionaries(
                {"shows": SHOWN}, optional={"branch": st.booleans(), "strand": NAMES}
            ),
        },
    ),
)


@given(st.lists(ENTRIES, max_size=10), st.integers(0, 10))
def test_any_tree_is_told_by_the_rules_and_a_part_of_it_tells_a_part(
    entries: Sequence[object], size: int
) -> None:
    whole = tell(*entries)
    part = spoken(tell(*entries[:size]))
    assert spoken(whole)[: len(part)] == part
    assert broken_rules(whole) == []


SAMPLES = st.sampled_from(("pi_v1.jsonl", "pi_v3.jsonl", "openclaw.jsonl"))


@given(SAMPLES.flatmap(lambda name: surprised(records_of(sample(name).encode()))))
def test_a_file_with_surprises_is_told_by_the_rules(records: list[SourceRecord]) -> None:
    assert breaks(PI, records) == []
