"""A session that Hermes exported is known as the one in its database."""

from __future__ import annotations

import json

import pytest

from holdfast.formats import read
from holdfast.formats.documents import document_events
from holdfast.formats.events import About, MessageEvent, StrandStarted
from holdfast.formats.hermes import is_failure
from holdfast.session import Fork, Usage
from holdfast.transcript import ToolResult

ROW = {
    "id": "s1",
    "source": "cli",
    "model": "m",
    "model_config": None,
    "parent_session_id": None,
    "started_at": 1_700_000_000.5,
    "end_reason": None,
}
SUMMARY = "[CONTEXT COMPACTION \u2014 REFERENCE ONLY] Earlier turns were compacted.\nThey met."


def about(words: str = "hello", **fields: object) -> About:
    value = {**ROW, **fields, "messages": [{"id": 1, "role": "user", "content": words}]}
    first = next(document_events(read(json.dumps(value))))
    assert isinstance(first, StrandStarted)
    return first.about


def test_an_exported_session_has_its_id_and_what_it_cost() -> None:
    found = about(
        input_tokens=9,
        output_tokens=3,
        cache_read_tokens=2,
        cache_write_tokens=1,
        api_call_count=4,
        estimated_cost_usd=0.5,
        model_config='{"cwd": "/work/garden"}',
    )
    assert (found.id, found.cwd, found.parent) == ("s1", "/work/garden", "")
    assert found.usage == Usage(4, 9, 3, 2, 1, cost=0.5)


@pytest.mark.parametrize(
    ("settings", "words", "fork"),
    [
        ('{"_branched_from": "s0"}', "hello", Fork.BRANCH),
        ({"_reset_from": "s0"}, SUMMARY, Fork.RESET),
        ('{"_branched_from": "older"}', SUMMARY, Fork.COMPRESSION),
        ('{"_branched_from": "older"}', "hello", Fork.BRANCH),
        (None, SUMMARY, Fork.COMPRESSION),
        ("no json", "hello", Fork.DELEGATION),
    ],
    ids=str,
)
def test_an_exported_session_says_how_it_came_from_its_parent(
    settings: object, words: str, fork: Fork
) -> None:
    found = about(words, parent_session_id="s0", model_config=settings)
    assert (found.parent, found.fork) == ("s0", fork)


def test_an_object_with_other_keys_is_none_of_hermes() -> None:
    value = {"id": "s1", "parent_session_id": "s0", "messages": [{"role": "user", "content": "a"}]}
    first = next(document_events(read(json.dumps(value))))
    assert isinstance(first, StrandStarted)
    assert (first.about.id, first.about.parent) == ("", "")


@pytest.mark.parametrize(
    ("name", "words", "fields", "expected"),
    [
        ("terminal", '{"output": "", "exit_code": 1, "error": null}', {}, True),
        ("terminal", '{"output": "Error", "exit_code": 0, "error": "warned"}', {}, False),
        ("terminal", '{"output": "", "exit_code": 2}\n\n[Tool loop warning]', {}, True),
        ("terminal", "Error executing tool 'terminal': timed out", {}, True),
        ("read_file", '{"error": "File not found"}', {}, True),
        ("read_file", '{"error": "File not fo', {}, True),
        ("read_file", '{"content": "1|{}", "error": null}', {}, False),
        ("patch", '{"success": true, "error": "the linter says"}', {}, False),
        ("memory", '{"success": false, "message": "full"}', {}, True),
        ("execute_code", '{"status": "error", "output": ""}', {}, True),
        ("todo", "[]", {}, False),
        ("todo", "fine", {"effect_disposition": "none"}, True),
        ("todo", "fine", {"finish_reason": "error"}, True),
        ("todo", "{ cut", {}, False),
        ("todo", "", {}, False),
    ],
)
def test_what_a_tool_answered_says_whether_it_failed(
    name: str, words: str, fields: dict[str, object], expected: bool
) -> None:
    assert is_failure(name, words, fields) is expected


def test_a_failure_is_known_in_a_session_that_was_written_as_json() -> None:
    failure = {"role": "tool", "tool_call_id": "c", "content": '{"error": "no"}'}
    for fields, expected in (({"tool_name": "read_file"}, True), ({}, False)):
        value = {"session_id": "s", "messages": [{**failure, **fields}]}
        (told,) = [
            each
            for each in document_events(read(json.dumps(value)))
            if isinstance(each, MessageEvent)
        ]
        (result,) = told.message.parts
        assert isinstance(result, ToolResult)
        assert result.is_error is expected
