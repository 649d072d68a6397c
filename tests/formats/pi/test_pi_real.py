"""Real sessions of Pi and OpenClaw tell as many messages, calls and errors as they hold."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from holdfast.formats.events import CompactionEvent, Event, MessageEvent, Problem
from holdfast.formats.openclaw import OPENCLAW
from holdfast.formats.pi import PI
from holdfast.formats.reader import SessionReader
from holdfast.formats.source import SourceRecord, stream_records
from holdfast.transcript import Message, Role
from tests.formats.event_strategies import comparable
from tests.formats.pi.rules import violations

PI_FILES = (
    "pi-mono_before-compaction_v1",
    "pi-mono_large-session_v1",
    "auth-go_394msgs_v3",
    "agent-sessions_fixture_small",
    "pi-agent-transcripts_sample",
)
OPENCLAW_FILES = ("agent-sessions_large", "agent-sessions_schema_drift", "agent-sessions_small")
FILES = [
    *((PI, f"pi/{name}.jsonl") for name in PI_FILES),
    *((OPENCLAW, f"openclaw/{name}.jsonl") for name in OPENCLAW_FILES),
]
UNMARKED = ("openclaw/agent-sessions_schema_drift.jsonl",)


@dataclass(frozen=True, slots=True)
class Counts:
    messages: int
    tool_calls: int
    images: int
    errors: int
    compactions: int


def records(shared: Path, name: str) -> list[SourceRecord]:
    found = list(stream_records([(shared / "data/sessions" / name).read_bytes()]))
    assert not [each for each in found if isinstance(each, Problem)]
    return [each for each in found if isinstance(each, SourceRecord)]


def expected(shared: Path, name: str) -> Counts:
    manifest = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    (found,) = [each for each in manifest if each["file"] == f"sessions/{name}"]
    keys = ("messages", "tool_calls", "images", "errors", "compaction")
    return Counts(*(found[key] for key in keys))


def counts(events: Iterable[Event]) -> Counts:
    told = [event for event in events if isinstance(event, MessageEvent)]
    said = [each for each in told if not is_apart(each)]
    results = [result for each in said for result in each.message.results]
    failed = sum(each.native.more.get("stopReason") == "error" for each in said)
    return Counts(
        len(said),
        sum(len(each.message.calls) for each in said),
        0,
        sum(result.is_error for result in results) + failed,
        sum(each.message.summary is not None for each in told),
    )


def is_apart(told: MessageEvent) -> bool:
    is_custom = told.native.more.get("entry") == "custom_message"
    return is_custom or told.message.summary is not None


@pytest.mark.parametrize(("reader", "name"), FILES)
def test_counts_are_those_of_the_manifest_but_for_answers_that_broke_off_before_a_word(
    shared: Path, reader: SessionReader, name: str
) -> None:
    found = records(shared, name)
    silent = [each for each in messages(found) if each.get("content") == []]
    failed = sum(each["stopReason"] == "error" for each in silent)
    wanted = expected(shared, name)
    assert counts(reader.read(found)) == replace(
        wanted, messages=wanted.messages - len(silent), errors=wanted.errors - failed
    )


def messages(found: Iterable[SourceRecord]) -> list[dict[str, object]]:
    values = [each.value for each in found if isinstance(each.value, dict)]
    return [value["message"] for value in values if value.get("type") == "message"]


@pytest.mark.parametrize(("reader", "name"), FILES)
def test_a_real_session_is_recognized_or_reads_as_pis_where_openclaw_left_no_mark(
    shared: Path, reader: SessionReader, name: str
) -> None:
    found = records(shared, name)
    assert (reader.recognize(found[:200]) is None) == (name in UNMARKED)
    assert PI.recognize(found[:200]) is not None
    assert not [each for each in reader.read(found) if isinstance(each, Problem)]


def test_the_first_version_counts_entries_to_say_what_a_compaction_kept(shared: Path) -> None:
    found = records(shared, f"pi/{PI_FILES[0]}.jsonl")
    folded = [each for each in PI.read(found) if isinstance(each, CompactionEvent)]
    kept = [mapping["firstKeptEntryIndex"] for mapping in raw_compactions(found)]
    lines = [each.shows[1] for each in folded]
    assert lines == [f"#{found[index].line}" for index in kept]


def raw_compactions(found: Iterable[SourceRecord]) -> list[dict[str, int]]:
    values = [each.value for each in found if isinstance(each.value, dict)]
    return [value for value in values if value.get("type") == "compaction"]


@pytest.mark.parametrize(("reader", "name"), FILES)
def test_a_real_session_written_again_is_one_that_pi_takes_and_tells_the_same(
    shared: Path, reader: SessionReader, name: str
) -> None:
    assert reader.write is not None
    events = list(reader.read(records(shared, name)))
    again = [
        SourceRecord(place, json.loads(line)) for place, line in enumerate(reader.write(events), 1)
    ]
    assert list(violations(again)) == []
    first, second = comparable(events), comparable(reader.read(again))
    assert [bare(each) for each in second] == [bare(each) for each in first]


def bare(event: Event) -> object:
    """Return an event without what version 1 has no field for: ids, and names of tools."""
    if not isinstance(event, MessageEvent):
        return event
    return (event.strand, event.key, plain(event.message), event.native.usage, event.native.model)


def plain(message: Message) -> object:
    if message.role is Role.TOOL:
        return [(each.call_id, each.content, each.is_error) for each in message.results]
    return message
