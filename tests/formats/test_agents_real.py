"""Real files of agents that are only read tell as many messages, calls and errors as they hold."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.formats.catalog import SESSIONS
from holdfast.formats.events import (
    CompactionEvent,
    Event,
    MessageEvent,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from tests.formats.conformance import broken_rules, records_of

READERS = {reader.format.name: reader for reader in SESSIONS}
FOLDER = "sessions/other_agents"


@dataclass(frozen=True, slots=True)
class Counts:
    messages: int
    calls: int = 0
    errors: int = 0
    changes: int = 0
    """How often what the model sees changed otherwise than by a message."""
    conversations: int = 1


COUNTS = {
    "antigravity/agent-sessions_cli_schema_drift.jsonl": Counts(4, 1),
    "antigravity/agent-sessions_cli_small.jsonl": Counts(26, 10, changes=1),
    "cursor/agent-sessions_large.jsonl": Counts(10, 2),
    "cursor/agent-sessions_schema_drift.jsonl": Counts(4, 1),
    "cursor/agent-sessions_small.jsonl": Counts(4, 1),
    "cursor/agent-sessions_subagent_parent.jsonl": Counts(2, 1),
    "cursor/agent-sessions_subagent_subagents_child.jsonl": Counts(2),
    "droid/agent-sessions_session_store_large.jsonl": Counts(7, 1),
    "droid/agent-sessions_session_store_schema_drift.jsonl": Counts(2),
    "droid/agent-sessions_session_store_small.jsonl": Counts(3, 1),
    "droid/agent-sessions_stream_json_large.jsonl": Counts(5, 1),
    "droid/agent-sessions_stream_json_schema_drift.jsonl": Counts(4, 1, 1),
    "droid/agent-sessions_stream_json_small.jsonl": Counts(4, 1),
    "grok/agent-sessions_chat_history.jsonl": Counts(11, 2),
    "grok/agent-sessions_subagent_chat_history.jsonl": Counts(5, 1),
    "grok/agent-sessions_summary.json": Counts(0, conversations=0),
    "kimi/agent-sessions_assistant_tools.jsonl": Counts(81, 19, 1, 1),
    "kimi/agent-sessions_assistant_tools.state.json": Counts(0, conversations=0),
    "kimi/agent-sessions_small.jsonl": Counts(4),
    "kimi/agent-sessions_state.json": Counts(0, conversations=0),
    "kimi/agent-sessions_subagent_agent-0.jsonl": Counts(10, 2),
    "qwen/agent-sessions_019f0000-0000-7000-8000-000000000001.jsonl": Counts(5, 1),
    "qwen/agent-sessions_019f0000-0000-7000-8000-000000000004.jsonl": Counts(5, 1, changes=1),
    "qwen/agent-sessions_019f0000-0000-7000-8000-000000000005.jsonl": Counts(2),
    "qwen/agent-sessions_system_telemetry.jsonl": Counts(2, 1),
}


def counts_of(events: list[Event]) -> Counts:
    told = [each.message for each in events if isinstance(each, MessageEvent)]
    return Counts(
        len(told),
        sum(len(message.calls) for message in told),
        sum(result.is_error for message in told for result in message.results),
        sum(isinstance(each, CompactionEvent | RewindEvent) for each in events),
        sum(isinstance(each, StrandStarted) for each in events),
    )


@pytest.mark.parametrize("name", COUNTS)
def test_a_real_file_is_told_whole(shared: Path, name: str) -> None:
    records = records_of((shared / "data" / FOLDER / name).read_bytes())
    reader = READERS[name.partition("/")[0]]
    assert reader.recognize(records) is not None
    events = list(reader.read(records))
    assert counts_of(events) == COUNTS[name]
    assert not [each for each in events if isinstance(each, Problem)]


def spread_out(shared: Path, kind: str) -> list[SourceRecord]:
    """Return the records of one agent's files, each where the file stood at its source."""
    listed = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    files = listed["files"] if isinstance(listed, dict) else listed
    places = {each["path"]: each["file"] for each in files if each["kind"] == kind}
    return [
        replace(record, file=place)
        for place, name in sorted(places.items())
        for record in records_of((shared / "data" / name).read_bytes())
    ]


def test_real_files_of_opencode_come_together(shared: Path) -> None:
    events = list(READERS["opencode"].read(spread_out(shared, "other_agents/opencode")))
    assert counts_of(events) == Counts(15, 3, conversations=3)
    assert broken_rules(events) == []
    assert not [each for each in events if isinstance(each, Problem)]


def test_real_sessions_of_grok_know_their_titles(shared: Path) -> None:
    events = list(READERS["grok"].read(spread_out(shared, "other_agents/grok")))
    begun = [each.about for each in events if isinstance(each, StrandStarted)]
    assert [bool(each.id and each.title and each.started) for each in begun] == [True, True]
