"""Every rule of Claude Code's files is seen to fire, and a file that keeps them all passes."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.formats.events import Problem
from holdfast.formats.source import SourceRecord
from tests.formats.claude_code.rules import violations

Fields = dict[str, Any]
IDS = [f"00000000-0000-4000-8000-{number:012d}" for number in range(9)]


def chained(place: int, parent: int | None, **more: object) -> Fields:
    return {
        "parentUuid": None if parent is None else IDS[parent],
        "isSidechain": False,
        "userType": "external",
        "cwd": "/srv",
        "sessionId": IDS[0],
        "version": "2.1.7",
        "gitBranch": "main",
        "uuid": IDS[place],
        "timestamp": "2026-01-02T03:04:05.678Z",
        **more,
    }


def answer(place: int, parent: int, block: Fields) -> Fields:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 4,
    }
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
        "content": [block],
    }
    return chained(place, parent, type="assistant", message=message)


def user(place: int, parent: int | None, content: object, **more: object) -> Fields:
    message = {"role": "user", "content": content}
    return chained(place, parent, type="user", message=message, **more)


def session() -> list[Fields]:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "3"}
    return [
        {"type": "custom-title", "customTitle": "A title", "sessionId": IDS[0]},
        user(1, None, "go"),
        answer(2, 1, {"type": "text", "text": "hello"}),
        answer(3, 2, {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}),
        user(4, 3, [result], sourceToolAssistantUUID=IDS[3]),
        chained(
            5,
            None,
            type="system",
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", "preTokens": 9},
        ),
        user(6, 5, "so far", isCompactSummary=True, isVisibleInTranscriptOnly=True),
    ]


def broken(lines: list[Fields]) -> list[Problem]:
    return list(violations([SourceRecord(place, line) for place, line in enumerate(lines)]))


def put(place: int, key: str, value: object) -> Callable[[list[Fields]], None]:
    """Return a change of a line: a key may name a key of a value, as in `message.id`."""

    def change(lines: list[Fields]) -> None:
        *path, last = key.split(".")
        target = lines[place]
        for step in path:
            target = target[step]
        target[last] = value

    return change


def take(place: int) -> Callable[[list[Fields]], None]:
    def change(lines: list[Fields]) -> None:
        lines[place] = {"type": "mode"}

    return change


RESULT = {"type": "tool_result", "tool_use_id": "gone", "content": "3"}
CHANGES: list[tuple[Callable[[list[Fields]], None], Problem]] = [
    (put(0, "type", 5), Problem(0, "a line has no type")),
    (put(1, "cwd", None), Problem(1, "cwd is missing")),
    (put(1, "sessionId", "s"), Problem(1, "the session id is no UUID")),
    (put(1, "isSidechain", None), Problem(1, "isSidechain is missing")),
    (put(1, "timestamp", "today"), Problem(1, "the timestamp is no time in UTC")),
    (put(1, "timestamp", "2026-01-02T03:04:05"), Problem(1, "the timestamp is no time in UTC")),
    (put(6, "uuid", "u6"), Problem(6, "the id 'u6' is no UUID")),
    (put(6, "uuid", IDS[1]), Problem(6, f"the id {IDS[1]!r} was used before")),
    (put(2, "parentUuid", IDS[8]), Problem(2, "its parent does not stand before it")),
    (put(4, "isSidechain", value=True), Problem(4, "its parent belongs to another chain")),
    (put(1, "parentUuid", ""), Problem(1, "a line without a parent says so with null")),
    (take(6), Problem(5, "a boundary has no summary after it")),
    (take(5), Problem(6, "a summary stands below a boundary")),
    (
        put(6, "isVisibleInTranscriptOnly", None),
        Problem(6, "a summary is visible in the transcript only"),
    ),
    (put(6, "isCompactSummary", None), Problem(6, "the line after a boundary is its summary")),
    (put(5, "parentUuid", IDS[4]), Problem(5, "a boundary is a root")),
    (put(5, "compactMetadata.trigger", ""), Problem(5, "a compaction is auto or manual")),
    (
        put(5, "compactMetadata.preTokens", None),
        Problem(5, "a compaction says what it weighed before"),
    ),
    (put(2, "message.type", ""), Problem(2, "an answer names its id, its type and its model")),
    (put(3, "message.model", "other"), Problem(3, "the lines of an answer name one model")),
    (put(2, "message.usage", {}), Problem(2, "an answer counts its tokens")),
    (put(2, "message.content", []), Problem(2, "a line of an answer holds one block")),
    (put(1, "message.content", 5), Problem(1, "a line of a user has content")),
    (put(4, "message.content", [RESULT]), Problem(4, "a result has its call before it")),
    (put(4, "sourceToolAssistantUUID", IDS[2]), Problem(4, "a result names the line of its call")),
]


def test_a_file_that_claude_code_could_have_written_passes() -> None:
    assert broken(session()) == []


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=[each.reason for _, each in CHANGES])
def test_a_file_that_it_could_not_have_written_is_named(
    change: Callable[[list[Fields]], None], expected: Problem
) -> None:
    lines = copy.deepcopy(session())
    change(lines)
    assert expected in broken(lines)


def test_an_answer_that_does_not_say_why_it_stopped_is_named() -> None:
    lines = session()
    del lines[2]["message"]["stop_reason"]
    assert broken(lines) == [Problem(2, "an answer says why it stopped, or null")]


def test_two_results_on_one_line_are_named() -> None:
    lines = session()
    lines[4]["message"]["content"] *= 2
    assert broken(lines) == [Problem(4, "a result stands alone on its line")]
