"""A Claude Code session reads as the conversation that the model had."""

import json
from collections.abc import Mapping

from holdfast.formats import Document, Problem, live, read
from holdfast.transcript import Media, Summary, Synthetic, shape
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
    transcript = read(sample("claude_code.jsonl")).transcript
    summary = transcript[6].summary
    assert transcript[6].synthetic is Synthetic.SUMMARY
    assert isinstance(summary, Summary)
    assert summary.origin == "claude-code"
    assert live(transcript) == transcript[6:]


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
    document = read('{"type":"summary","summary":"a title","leafUuid":"x"}')
    assert (document.format, document.transcript) == ("claude-code", ())
