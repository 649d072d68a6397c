"""What Claude Code prints as stream-json reads like the session that it is."""

import json
from collections.abc import Mapping

from holdfast.formats import detect, read
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.events import (
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import shape

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s",
    "cwd": "/srv/shop",
    "tools": ["Bash"],
    "claude_code_version": "2.1.0",
}
CALL = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "Task",
    "input": {"description": "Count", "prompt": "Count the files"},
}


def printed(
    kind: str, content: object, uuid: str = "", call: str | None = None
) -> dict[str, object]:
    message = {"role": kind, "content": content, "model": "m", "id": f"msg_{uuid}"}
    usage = {"input_tokens": 5, "output_tokens": 1}
    line: dict[str, object] = {
        "type": kind,
        "message": message | ({"usage": usage} if kind == "assistant" else {}),
        "parent_tool_use_id": call,
        "session_id": "s",
    }
    return line | ({"uuid": uuid} if uuid else {})


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


RESULT = {
    "type": "result",
    "subtype": "success",
    "session_id": "s",
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 5, "output_tokens": 40},
}
STREAM = (
    INIT,
    printed("user", text("How many files?"), "s1"),
    printed("assistant", [CALL], "s2"),
    printed("user", text("Count the files"), "s3", "toolu_1"),
    printed("assistant", text("Two."), "s4", "toolu_1"),
    printed("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "2"}], "s5"),
    {"type": "stream_event", "session_id": "s", "event": {"type": "content_block_delta"}},
    printed("assistant", text("There are two."), "s6"),
    RESULT,
)


def events(*lines: Mapping[str, object]) -> list[Event]:
    return list(CLAUDE_CODE.read(SourceRecord(place, each) for place, each in enumerate(lines, 1)))


def test_a_stream_is_known_and_reads_as_the_conversation() -> None:
    content = "\n".join(map(json.dumps, STREAM))
    assert (detect(content).format, detect(content).confidence) == ("claude-code", 1.0)
    assert shape(read(content, conversation=1).transcript, 60) == "\n".join(
        [
            "00 user      How many files?",
            '01 assistant -> Task {"description": "Count", "prompt": "Count the files…',
            "02 tool      result: 2",
            "03 assistant There are two.",
        ]
    )


def test_a_sub_agent_in_a_stream_is_a_child_that_knows_its_call() -> None:
    (main, side) = [each for each in events(*STREAM) if isinstance(each, StrandStarted)]
    assert (main.about.id, main.about.cwd, main.about.version) == ("s", "/srv/shop", "2.1.0")
    assert (side.fork, side.of, side.about.title) == (Fork.DELEGATION, "", "Count")
    assert side.about.more == {"call": "toolu_1"}
    told = [each for each in events(*STREAM) if isinstance(each, MessageEvent)]
    assert [each.key for each in told if each.strand == side.strand] == ["s3", "s4"]


def test_what_a_turn_came_to_is_told_with_its_result() -> None:
    spent = [
        each.about.usage
        for each in events(*STREAM, {**RESULT, "total_cost_usd": 0.5})
        if isinstance(each, MetadataUpdated) and each.about.usage is not None
    ]
    assert spent == [Usage(1, 5, 40, cost=0.25), Usage(2, 10, 80, cost=0.5)]


def test_a_result_alone_tells_nothing() -> None:
    assert not [each for each in events(RESULT) if isinstance(each, MetadataUpdated)]


def test_lines_of_old_releases_have_no_ids_and_follow_each_other() -> None:
    told = [
        each
        for each in events(printed("user", "Hello"), printed("assistant", text("Hi")))
        if isinstance(each, MessageEvent)
    ]
    assert [(each.strand, each.message.text) for each in told] == [("", "Hello"), ("", "Hi")]


def test_a_compaction_in_a_stream_has_the_summary_below_it() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": "s",
        "uuid": "b",
        "compact_metadata": {"trigger": "auto", "pre_tokens": 900},
    }
    told = events(
        printed("user", "Hello", "s1"),
        boundary,
        printed("user", "This session is being continued from before: a greeting", "s2"),
        printed("user", "This session is being continued, I said", "s3"),
    )
    (fold,) = [each for each in told if isinstance(each, CompactionEvent)]
    assert (fold.shows, fold.trigger, fold.tokens_before) == (("s2",), "auto", 900)


def test_a_stream_that_begins_with_pieces_is_known_by_its_first_line() -> None:
    pieces = [{"type": "stream_event", "session_id": "s", "event": {}}] * 300
    content = "\n".join(map(json.dumps, (INIT, *pieces, *STREAM[1:])))
    assert detect(content).format == "claude-code"
