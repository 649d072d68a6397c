"""The strict rules of Codex fire on what Codex would not have written."""

import json
from collections.abc import Callable

import pytest

from holdfast.formats.json_access import mapping
from holdfast.formats.source import SourceRecord
from tests.formats.codex.rules import violations

Lines = list[dict[str, object]]
TIME = "2026-01-01T00:00:00.000Z"
SESSION = "00000000-0000-4000-8000-000000000001"


def line(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def talk() -> Lines:
    words = [{"type": "input_text", "text": "go"}]
    return [
        line(
            "session_meta", id=SESSION, timestamp=TIME, cwd="/", originator="x", cli_version="0.1.0"
        ),
        line("event_msg", type="task_started", turn_id="t"),
        line(
            "turn_context",
            cwd="/",
            model="m",
            approval_policy="never",
            summary="auto",
            sandbox_policy={"type": "read-only"},
        ),
        line("response_item", type="message", role="user", content=words),
        line("event_msg", type="user_message", message="go"),
        line("response_item", type="function_call", call_id="c", name="shell", arguments="{}"),
        line("response_item", type="function_call_output", call_id="c", output="ok"),
        line("compacted", message="", replacement_history=[]),
        line("event_msg", type="task_complete", turn_id="t"),
    ]


def put(place: int, **fields: object) -> Callable[[Lines], object]:
    return lambda lines: mapping(lines[place]["payload"]).update(fields)  # type: ignore[attr-defined]


def reasons(lines: Lines) -> list[str]:
    return [each.reason for each in violations(SourceRecord(n, v) for n, v in enumerate(lines, 1))]


def test_a_whole_session_keeps_the_rules() -> None:
    assert reasons(talk()) == []


BREAKS: list[tuple[Callable[[Lines], object], str]] = [
    (lambda lines: lines[1].pop("timestamp"), "no time"),
    (lambda lines: lines[1].update(type="notes"), "without a payload"),
    (lambda lines: lines.pop(0), "does not begin with session_meta"),
    (put(0, cwd=None), "cwd is missing"),
    (put(0, id="s-1"), "no UUID"),
    (put(1, turn_id="u"), "ends that is not open"),
    (lambda lines: lines.insert(1, lines[1]), "begins before the last one ended"),
    (put(2, model=""), "model is missing"),
    (put(2, sandbox_policy=None), "sandbox policy"),
    (put(3, content="go"), "no list"),
    (put(3, role="assistant"), "'input_text' in a message of 'assistant'"),
    (put(4, message="stop"), "a prompt that no item holds"),
    (put(5, arguments={}), "arguments is missing"),
    (lambda lines: lines.insert(5, lines[5]), "made twice"),
    (put(6, call_id="d"), "no call waits"),
    (put(6, type="custom_tool_call_output"), "no call waits"),
    (put(6, output=None), "neither text nor a list"),
    (put(6, type="ghost"), "no kind of item"),
    (put(7, message=None), "message is missing"),
    (put(7, replacement_history={}), "no list of items"),
    (put(7, replacement_history=[{"type": "ghost"}]), "no kind of item"),
    (put(8, type="token_count", info={}), "no total_token_usage"),
]


@pytest.mark.parametrize(("harm", "reason"), BREAKS, ids=[reason for _, reason in BREAKS])
def test_each_rule_fires(harm: Callable[[Lines], object], reason: str) -> None:
    lines: Lines = json.loads(json.dumps(talk()))
    harm(lines)
    assert any(reason in each for each in reasons(lines)), reasons(lines)


def test_the_screen_says_what_the_item_after_it_says() -> None:
    words = [{"type": "output_text", "text": "Well."}]
    lines = [
        *talk()[:3],
        line("event_msg", type="agent_message", message="Hello."),
        line("response_item", type="message", role="assistant", content=words),
    ]
    assert reasons(lines) == ["the screen said something else than the item after it"]
