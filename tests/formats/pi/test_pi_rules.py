"""The strict rules of Pi's files see every way in which a file is not one."""

from pathlib import Path

import pytest

from holdfast.formats.events import Problem
from holdfast.formats.source import SourceRecord, parse
from tests.formats.pi.rules import violations

WHEN = "2026-01-01T00:00:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": WHEN, "cwd": "/srv"}
FIRST = {"type": "session_info", "id": "a", "parentId": None, "timestamp": WHEN, "name": "Maps"}


def broken(*entries: object) -> list[str]:
    records = [SourceRecord(line, entry) for line, entry in enumerate(entries, 1)]
    return [problem.reason for problem in violations(records)]


def says(message: object) -> dict[str, object]:
    place = {"id": "b", "parentId": "a", "timestamp": WHEN}
    return {"type": "message", **place, "message": message}


def test_a_sound_file_breaks_no_rule() -> None:
    assert broken(HEADER, FIRST, says({"role": "user", "content": "hi", "timestamp": 1})) == []


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({**FIRST, "type": "compact"}, "an entry of the unknown type 'compact'"),
        ({**FIRST, "id": ""}, "the id '' is missing or was used before"),
        ({**FIRST, "parentId": "z"}, "the parent 'z' is not above"),
        ({**FIRST, "parentId": {}}, "the parent {} is not above"),
        ({**FIRST, "timestamp": "soon"}, "an entry has no time"),
        ({**FIRST, "name": 5}, "session_info has no name of the right kind"),
    ],
)
def test_an_entry_has_its_place_and_its_fields(entry: object, reason: str) -> None:
    assert broken(HEADER, entry) == [reason]


def test_the_first_line_is_the_header() -> None:
    assert broken({"version": 3}) == [
        "the first line is no header of version 3",
        "the header has no id",
        "the header has no time",
        "the header has no working directory",
    ]


def test_what_an_entry_points_at_is_above_it() -> None:
    place = {"id": "b", "parentId": "a", "timestamp": WHEN}
    fields = {"summary": "", "firstKeptEntryId": "z", "tokensBefore": 1}
    label = {"type": "label", "id": "c", "parentId": "b", "timestamp": WHEN, "targetId": "z"}
    assert broken(HEADER, FIRST, {"type": "compaction", **place, **fields}, label) == [
        "a compaction keeps an entry that is not above",
        "a label stands at an entry that is not above",
    ]


def test_messages_have_all_that_pi_asks_of_them() -> None:
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
    answer = {
        "role": "assistant",
        "content": [{"type": "poem"}, {"type": "text"}],
        "api": "a",
        "provider": "p",
        "model": "m",
        "usage": usage,
        "stopReason": "tired",
        "timestamp": 1,
    }
    assert broken(HEADER, FIRST, says(answer)) == [
        "a block of the unknown type 'poem'",
        "a block of the type text has no text of the right kind",
        "an answer ended for the unknown reason 'tired'",
        "an answer does not say what it cost",
    ]
    assert broken(HEADER, FIRST, says({**answer, "usage": {}, "content": []}))[1:] == [
        "an answer does not say how many tokens it took",
        "an answer does not say what it cost",
    ]
    assert broken(HEADER, FIRST, says({"role": "oracle"})) == [
        "a message of the unknown role 'oracle'"
    ]


def test_a_result_answers_a_call_above_it() -> None:
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "ls", "content": []}
    assert broken(HEADER, FIRST, says({**result, "isError": False, "timestamp": 1})) == [
        "a result answers the call 'c', which is not above"
    ]


@pytest.mark.parametrize("name", ["auth-go_394msgs_v3", "agent-sessions_fixture_small"])
def test_pis_own_files_of_version_3_break_no_rule(shared: Path, name: str) -> None:
    path = shared / "data/sessions/pi" / f"{name}.jsonl"
    assert list(violations(parse(path.read_bytes()).records)) == []


def test_a_problem_names_its_line() -> None:
    first = next(violations([SourceRecord(1, HEADER), SourceRecord(7, {}, "a.jsonl")]))
    assert first == Problem(7, "an entry of the unknown type ''", "a.jsonl")
