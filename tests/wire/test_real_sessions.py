"""Real files come back exactly; skipped where there are none."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.transcript import Summary, check
from holdfast.wire import DIALECTS, Body


def load(path: Path) -> list[Any]:
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


def chats(shared: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield message lists in OpenAI's shape."""
    sessions = shared / "data/sessions"
    for pattern in ("mini_swe_agent/*.json", "openhands/sdk_*.json", "hermes/*.json"):
        for path in sorted(sessions.glob(pattern)):
            value = json.loads(path.read_text("utf-8"))
            messages = value if isinstance(value, list) else value["messages"]
            yield path.name, [each for each in messages if each.get("role") != "session_meta"]


def trees(shared: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield ShareGPT conversations."""
    sessions = shared / "data/sessions"
    for pattern in ("sharegpt/glaive*.json", "hermes/*.jsonl"):
        for path in sorted(sessions.glob(pattern)):
            for entry in load(path):
                yield entry["conversations"]


def rollouts(shared: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of Codex sessions, which are those of the Responses API."""
    for path in sorted((shared / "data/sessions/codex").glob("entire-*.jsonl")):
        entries = load(path)
        items = [entry["payload"] for entry in entries if entry.get("type") == "response_item"]
        if items:
            yield items


def replies(shared: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of Claude Code sessions, each as it stands."""
    for path in sorted((shared / "data/sessions/claude_code").glob("entire-*.jsonl")):
        entries = [
            entry["message"] for entry in load(path) if isinstance(entry.get("message"), dict)
        ]
        yield [entry for entry in entries if entry.get("content")]


def exact(dialect: str, messages: list[dict[str, Any]]) -> None:
    body = Body(messages)
    before = json.dumps(messages)
    assert DIALECTS[dialect].encode(DIALECTS[dialect].decode(body)) == body
    assert json.dumps(messages) == before


def test_chat_files_come_back_exactly(shared: Path) -> None:
    found = list(chats(shared))
    for _, messages in found:
        exact("openai", messages)
    assert found


def test_chat_files_are_valid_in_every_dialect(shared: Path) -> None:
    for name, messages in chats(shared):
        transcript = DIALECTS["openai"].decode(Body(messages))
        for dialect in DIALECTS.values():
            violations = dialect.validate(dialect.encode(transcript))
            assert [(name, dialect.name, each) for each in violations] == []


def test_conversations_come_back_exactly_and_are_valid(shared: Path) -> None:
    found = list(trees(shared))
    for conversation in found:
        exact("sharegpt", conversation)
        transcript = DIALECTS["sharegpt"].decode(Body(conversation))
        assert check(transcript) == ()
        for name in ("openai", "anthropic", "gemini", "responses"):
            assert DIALECTS[name].validate(DIALECTS[name].encode(transcript)) == ()
    assert found


def test_items_of_codex_sessions_come_back_exactly(shared: Path) -> None:
    for items in rollouts(shared):
        transcript = DIALECTS["responses"].decode(Body(items))
        written = DIALECTS["responses"].encode(transcript).messages
        # Reasoning of a turn that was broken off has lost what followed it.
        assert spoken(written) == spoken(items)
        broken = DIALECTS["responses"].validate(Body(items))
        lost = [each for each in broken if each.rule == "reasoning-successor"]
        assert len(items) - len(written) == len(lost)


def spoken(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["type"] != "reasoning"]


def test_messages_of_claude_code_sessions_come_back_exactly(shared: Path) -> None:
    summaries = 0
    for messages in replies(shared):
        for message in messages:
            (content,) = messages_of(message)
            body = Body([content])
            read = DIALECTS["anthropic"].decode(body)
            summaries += any(isinstance(part, Summary) for each in read for part in each.parts)
            written = DIALECTS["anthropic"].encode(read).messages
            assert written[-1] == content or is_refused(body)
    assert summaries


def messages_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [{key: message[key] for key in ("role", "content")}]


def is_refused(body: Body) -> bool:
    rules = {violation.rule for violation in DIALECTS["anthropic"].validate(body)}
    return bool(rules & {"empty-text", "trailing-whitespace", "ordering", "shape"})


@pytest.mark.parametrize("name", ["openai", "responses", "anthropic", "gemini", "sharegpt"])
def test_an_empty_conversation_is_empty(name: str) -> None:
    dialect = DIALECTS[name]
    assert dialect.encode(()) == Body([])
    assert dialect.decode(Body([])) == ()
    assert dialect.validate(Body([])) == ()
