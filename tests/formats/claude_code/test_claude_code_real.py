"""Real sessions of Claude Code are read whole, and written back as it writes them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.claude_code.writer import write
from holdfast.formats.events import (
    CompactionEvent,
    Event,
    MessageEvent,
    Problem,
    StrandStarted,
    without_native,
)
from holdfast.formats.json_access import mapping, string
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import Media
from tests.formats.claude_code.rules import violations
from tests.formats.conformance import records_of
from tests.formats.event_strategies import comparable

FOLDER = "data/sessions/claude_code"
# Made by hand to hold every shape of a line: ids are words, many lines share one.
COLLECTION = "agent-sessions_fixture_small"
DAMAGED = "claude-code-log_edge_cases"
MADE_BY_HAND = (
    COLLECTION,
    DAMAGED,
    "agent-sessions_fixture_schema_drift",
    "claude-code-log_representative",
    "simonw_sample_session",
)
# One older version wrote some answers whole, several blocks on one line.
WHOLE_ANSWERS = "entire-cli_2compact_apierrors_v2.1.5"
UNSEEN = (WHOLE_ANSWERS, "entire-cli_3compactions_v2.1.7")


def records(shared: Path, name: str) -> list[SourceRecord]:
    return records_of((shared / FOLDER / f"{name}.jsonl").read_bytes())


def told(shared: Path, name: str) -> list[Event]:
    return list(CLAUDE_CODE.read(records(shared, name)))


def names(shared: Path) -> list[str]:
    return [path.stem for path in sorted((shared / FOLDER).glob("*.jsonl"))]


def manifest(shared: Path) -> dict[str, dict[str, int]]:
    listed = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    keys = ("messages", "tool_calls", "images", "errors", "compaction")
    return {
        Path(each["file"]).stem: {key: each[key] for key in keys}
        for each in listed
        if each["kind"] == "claude_code"
    }


def counts(events: list[Event]) -> dict[str, int]:
    messages = [each.message for each in events if isinstance(each, MessageEvent)]
    results = [result for message in messages for result in message.results]
    parts = [part for message in messages for part in message.parts]
    parts += [part for result in results for part in result.content]
    return {
        "messages": len(messages),
        "tool_calls": sum(len(message.calls) for message in messages),
        "images": sum(isinstance(part, Media) for part in parts),
        "errors": sum(result.is_error for result in results),
        "compaction": sum(isinstance(each, CompactionEvent) for each in events),
    }


def written(events: list[Event]) -> list[SourceRecord]:
    return [SourceRecord(place, json.loads(line)) for place, line in enumerate(write(events), 1)]


def test_counts_equal_the_manifest(shared: Path) -> None:
    expected = manifest(shared)
    others = {*UNSEEN, COLLECTION, DAMAGED}
    for name in set(names(shared)) - others:
        assert counts(told(shared, name)) == expected[name], name


def test_an_answer_that_the_program_made_up_is_not_told_and_no_error_of_a_tool(
    shared: Path,
) -> None:
    expected = manifest(shared)
    for name, errors in zip(UNSEEN, (1, 0), strict=True):
        found = counts(told(shared, name))
        found["messages"] += 1
        found["errors"] += errors
        assert found == expected[name], name


def test_damaged_lines_are_reported_and_not_told(shared: Path) -> None:
    events = told(shared, DAMAGED)
    problems = [each for each in events if isinstance(each, Problem)]
    assert [each.line for each in problems] == [10, 11, 18, 17]
    found = counts(events)
    assert found | {"messages": found["messages"] + 3} == manifest(shared)[DAMAGED]


def test_in_a_collection_of_shapes_lines_that_share_one_id_are_told_once(shared: Path) -> None:
    lines = [mapping(record.value) for record in records(shared, COLLECTION)]
    uses = Counter(string(line["uuid"]) for line in lines if "uuid" in line)
    (repeated,) = (uuid for uuid, count in uses.items() if count > 1)
    spoken = [line for line in lines if line.get("type") in ("user", "assistant")]
    alone = [line for line in spoken if line["uuid"] != repeated]
    events = told(shared, COLLECTION)
    keys = [each.key for each in events if isinstance(each, MessageEvent)]
    # Two lines hold nothing but a result without an id; two commands were queued.
    assert len(keys) == len(alone) - 2 + 2
    assert counts(events)["compaction"] == 1


def test_side_chains_are_strands_of_their_own_with_the_call_they_came_from(shared: Path) -> None:
    for name, expected in (
        ("claude-code-viewer_sidechains_v1.0.98", 5),
        ("claude-code-viewer_sidechains_v1.0.108", 2),
    ):
        events = told(shared, name)
        begun = [each for each in events if isinstance(each, StrandStarted) and each.of is not None]
        assert [each.fork for each in begun] == [Fork.DELEGATION] * expected
        assert all(each.about.more["call"] and each.about.title for each in begun)


def test_the_one_user_who_went_back_began_a_branch(shared: Path) -> None:
    branches = {
        name: count
        for name in names(shared)
        if (count := sum(each.fork is Fork.BRANCH for each in begun(told(shared, name))))
    }
    assert branches == {"entire-skills_1173msgs_v2.1.108": 1}


def begun(events: list[Event]) -> list[StrandStarted]:
    return [each for each in events if isinstance(each, StrandStarted)]


def test_usage_of_a_reply_adds_up_to_the_most_that_its_lines_say(shared: Path) -> None:
    for name in names(shared):
        if name == COLLECTION:
            continue
        most = Counter[str]()
        for record in records(shared, name):
            message = mapping(mapping(record.value).get("message"))
            output = mapping(message.get("usage")).get("output_tokens")
            if isinstance(output, int):
                reply = string(message.get("id"))
                most[reply] = max(most[reply], output)
        spent = Counter[str]()
        for each in told(shared, name):
            if isinstance(each, MessageEvent) and each.native.usage is not None:
                spent[each.native.reply] += each.native.usage.output_tokens
        assert spent == +most, name


def test_the_rules_hold_for_what_the_program_wrote(shared: Path) -> None:
    exceptions = {
        # Answers of one version that are written whole, in a file that begins in the middle.
        WHOLE_ANSWERS: {
            "a line of an answer holds one block",
            "its parent does not stand before it",
        },
        # Two lines that were written in the wrong order.
        "entire-skills_1173msgs_v2.1.108": {"its parent does not stand before it"},
    }
    for name in set(names(shared)) - set(MADE_BY_HAND):
        found = {each.reason for each in violations(records(shared, name))}
        assert found == exceptions.get(name, set()), name


def test_what_is_written_keeps_the_rules(shared: Path) -> None:
    for name in names(shared):
        assert list(violations(written(told(shared, name)))) == [], name


def test_a_session_that_is_written_reads_back_equal(shared: Path) -> None:
    for name in set(names(shared)) - set(MADE_BY_HAND) - {WHOLE_ANSWERS}:
        events = told(shared, name)
        again = list(CLAUDE_CODE.read(written(events)))
        assert comparable(again) == comparable(events), name


def test_a_session_whose_ids_are_words_reads_back_equal_with_ids_of_its_own(shared: Path) -> None:
    for name in set(MADE_BY_HAND) - {COLLECTION, DAMAGED, "simonw_sample_session"}:
        events = told(shared, name)
        again = list(CLAUDE_CODE.read(written(events)))
        assert nameless(again) == nameless(events), name


def nameless(events: list[Event]) -> list[Event]:
    """Return events without ids, and without the model that an answer has to name."""
    return [
        structs.replace(each, native=structs.replace(each.native, id="", model=""))
        if isinstance(each, MessageEvent)
        else replace(each, about=replace(each.about, id="", model=""))
        if isinstance(each, StrandStarted)
        else each
        for each in comparable(events)
    ]


@pytest.mark.parametrize("name", [WHOLE_ANSWERS, COLLECTION, DAMAGED, "simonw_sample_session"])
def test_answers_written_whole_come_back_in_pieces_and_are_the_same_conversation(
    shared: Path, name: str
) -> None:
    events = told(shared, name)
    (before,) = replay(events)
    (after,) = replay(CLAUDE_CODE.read(written(events)))
    assert list(map(without_native, after.transcript)) == list(
        map(without_native, before.transcript)
    )
    assert list(map(without_native, after.window)) == list(map(without_native, before.window))
