"""OpenClaw sessions are Pi's with marks, copies and parents of their own."""

import json

from holdfast.formats import detect, read
from holdfast.formats.events import CompactionEvent, MessageEvent, StrandStarted
from holdfast.formats.openclaw import OPENCLAW
from holdfast.formats.source import SourceRecord
from holdfast.transcript import shape
from tests.formats.samples import sample


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


HEADER: dict[str, object] = {"type": "session", "version": 4, "id": "s", "cwd": "/srv"}
ASKED = {"role": "user", "content": "Count them.", "__openclaw": {"senderIsOwner": True}}
SNAPSHOT = {"type": "custom", "customType": "model-snapshot", "data": {}, "id": "c"}


def said(id: str, parent: str | None, message: object) -> dict[str, object]:  # noqa: A002
    return {"type": "message", "id": id, "parentId": parent, "message": message}


def records(*entries: object) -> list[SourceRecord]:
    return [SourceRecord(line, entry) for line, entry in enumerate(entries, 1)]


def test_a_talk_without_tools_is_known_by_what_openclaw_writes_into_messages_or_beside() -> None:
    plain = said("u", None, {"role": "user", "content": "Hello."})
    for entries in ((HEADER, said("u", None, ASKED)), (HEADER, SNAPSHOT, plain)):
        assert detect("\n".join(map(json.dumps, entries))).format == "openclaw"
    assert detect("\n".join(map(json.dumps, (HEADER, plain)))).format == "pi"


def test_what_is_kept_from_the_model_does_not_stand_between_a_call_and_its_result() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "tool_call", "arguments": {"id": "count"}}
    nested = {"role": "custom", "customType": "openclaw.nested-tool.v1", "display": True}
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "tool_call", "content": "3"}
    events = OPENCLAW.read(
        records(
            HEADER,
            said("u", None, ASKED),
            said("a", "u", {"role": "assistant", "content": [call]}),
            said("n", "a", {**nested, "content": "", "excludeFromContext": True}),
            said("r", "n", result),
            said("k", "r", {"role": "user", "content": "/status", "excludeFromContext": True}),
        )
    )
    assert [each.key for each in events if isinstance(each, MessageEvent)] == ["u", "a", "r"]


def test_a_compaction_says_how_large_it_left_the_window() -> None:
    fields = {"summary": "They count.", "tokensBefore": 90, "tokensAfter": 12}
    events = OPENCLAW.read(
        records(
            HEADER,
            said("u", None, ASKED),
            {"type": "compaction", "id": "k", "parentId": "u", "firstKeptEntryId": "u", **fields},
        )
    )
    (folded,) = [each for each in events if isinstance(each, CompactionEvent)]
    assert (folded.tokens_before, folded.tokens_after) == (90, 12)


def test_a_fork_names_the_session_of_the_database_that_it_came_from() -> None:
    origin = "sqlite:main:6f0c-11:/home/ann/.openclaw/agents/main/agent/openclaw-agent.sqlite"
    (begun,) = OPENCLAW.read(records({**HEADER, "parentSession": origin}))
    assert isinstance(begun, StrandStarted)
    assert begun.about.parent == "6f0c-11"
