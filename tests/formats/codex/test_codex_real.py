"""Real rollouts of Codex tell what they hold, and are written as Codex wrote them."""

import json
from pathlib import Path

import pytest

from holdfast.formats.codex import CODEX
from holdfast.formats.events import CompactionEvent, MessageEvent, Problem
from holdfast.formats.json_access import mapping
from holdfast.formats.source import SourceRecord, stream_records
from holdfast.session import Usage
from holdfast.transcript import Media, Opaque
from tests.formats.codex.rules import violations
from tests.formats.event_strategies import comparable

REAL = (
    "entire-skills_1compaction_v0.125.0.jsonl",
    "entire-skills_tiny_v0.121.0.jsonl",
    "entire-skills_v0.118.0.jsonl",
)
SEARCHES = ("tool_search_call", "web_search_call")


def real(shared: Path, name: str) -> list[SourceRecord]:
    found = list(stream_records([(shared / "data/sessions/codex" / name).read_bytes()]))
    assert not [each for each in found if isinstance(each, Problem)]
    return [each for each in found if isinstance(each, SourceRecord)]


def entry_of(shared: Path, name: str) -> dict[str, int]:
    manifest = json.loads((shared / "data/manifest.json").read_text("utf-8"))
    (found,) = [each for each in manifest if each["file"] == f"sessions/codex/{name}"]
    return found


@pytest.mark.parametrize("name", REAL)
def test_real_sessions_keep_the_rules(shared: Path, name: str) -> None:
    assert list(violations(real(shared, name))) == []


@pytest.mark.parametrize("name", REAL)
def test_a_real_session_is_told_written_and_told_again_the_same(shared: Path, name: str) -> None:
    events = list(CODEX.read(real(shared, name)))
    assert CODEX.write is not None
    written = [SourceRecord(n, json.loads(text)) for n, text in enumerate(CODEX.write(events), 1)]
    assert list(violations(written)) == []
    assert comparable(CODEX.read(written)) == comparable(events)


@pytest.mark.parametrize("name", REAL)
def test_the_costs_of_a_real_session_add_up_to_its_own_total(shared: Path, name: str) -> None:
    records = real(shared, name)
    told = [each for each in CODEX.read(records) if isinstance(each, MessageEvent)]
    spent = sum((each.native.usage for each in told if each.native.usage), Usage())
    totals = [
        mapping(
            mapping(mapping(mapping(each.value)["payload"]).get("info")).get("total_token_usage")
        )
        for each in records
    ]
    newest = [each for each in totals if each][-1:] or [{"total_tokens": 0}]
    assert spent.prompt_tokens + spent.output_tokens == newest[0]["total_tokens"]


@pytest.mark.parametrize("name", REAL)
def test_a_real_session_tells_what_it_holds_but_aborted_turns_are_no_failed_tools(
    shared: Path, name: str
) -> None:
    records = real(shared, name)
    events = list(CODEX.read(records))
    told = [each for each in events if isinstance(each, MessageEvent)]
    kinds = [mapping(mapping(each.value)["payload"]).get("type") for each in records]
    spoken = [each for each in told if kinds[each.line - 1] == "message"]
    aborted = kinds.count("turn_aborted")
    results = [result for each in told for result in each.message.results]
    manifest = entry_of(shared, name)
    assert {
        "messages": len(spoken),
        "tool_calls": sum(len(each.message.calls) for each in told),
        "images": sum(isinstance(part, Media) for each in told for part in each.message.parts),
        "errors": sum(result.is_error for result in results) + aborted,
        "compaction": sum(isinstance(each, CompactionEvent) for each in events),
    } == {
        key: manifest[key] for key in ("messages", "tool_calls", "images", "errors", "compaction")
    }


def test_a_collection_of_every_line_counts_searches_as_calls(shared: Path) -> None:
    name = "agent-sessions_fixture_small.jsonl"
    events = list(CODEX.read(real(shared, name)))
    told = [each for each in events if isinstance(each, MessageEvent)]
    calls = sum(len(each.message.calls) for each in told)
    opaque = [part for each in told for part in each.message.parts if isinstance(part, Opaque)]
    searches = sum(part.value["type"] in SEARCHES for part in opaque)
    manifest = entry_of(shared, name)
    assert calls + searches == manifest["tool_calls"]
    assert sum(isinstance(each, CompactionEvent) for each in events) == manifest["compaction"]
    assert [each for each in events if isinstance(each, Problem)] == []


@pytest.mark.parametrize(
    "name",
    [
        "agent-sessions_fixture_codex_052_raw.jsonl",
        "agent-sessions_fixture_codex_053_rate_limit.jsonl",
    ],
)
def test_a_session_of_events_alone_holds_no_message(shared: Path, name: str) -> None:
    assert [each for each in CODEX.read(real(shared, name)) if isinstance(each, MessageEvent)] == []


def test_the_debug_log_of_the_screen_is_no_rollout(shared: Path) -> None:
    records = real(shared, "openai-codex_tui_session_log_oss-story.jsonl")
    assert CODEX.recognize(records[:200]) is None
