"""Pi and OpenClaw sessions read as the path to their newest entry."""

import json

from holdfast.formats import live, read
from holdfast.transcript import Media, Thinking, shape
from tests.formats.samples import sample


def test_the_first_version_is_a_list_and_its_compaction_counts_entries() -> None:
    document = read(sample("pi_v1.jsonl"))
    assert (document.format, document.problems) == ("pi", ())
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      Rename the module",
            '01 assistant (thinking) | -> bash {"command": "ls"}',
            "02 tool      result: old.py",
            "03 user      I ran `git status`: clean (exit code 1)",
            "04 user      [summary] The module was renamed.",
            "05 user      Go on",
            "06 assistant Renamed.",
            "07 user      And the docs?",
        ]
    )
    assert live(document.transcript) == document.transcript[4:]


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


def test_only_a_seal_of_anthropic_is_a_signature() -> None:
    first = read(sample("pi_v1.jsonl")).transcript[1].parts[0]
    second = read(sample("pi_v3.jsonl")).transcript[1].parts[0]
    assert (first, second) == (
        Thinking("find it", "c2VhbA==", {"anthropic": {}}),
        Thinking("plan"),
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
    transcript = read("\n".join(map(json.dumps, lines))).transcript
    assert shape(transcript) == "\n".join(
        ["00 user      [summary] one", "01 user      [summary] two", "02 user      a"]
    )
    assert live(transcript) == transcript[1:]


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


def test_openclaw_is_known_by_its_marks_and_its_copies_are_left_out() -> None:
    document = read(sample("openclaw.jsonl"))
    assert document.format == "openclaw"
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      It is Monday.",
            "01 user      Status?",
            "02 assistant -> status {}",
            "03 tool      result: green",
            "04 assistant All green.",
            "05 system    checked",
        ]
    )
