"""Provider documents through the command line: sealed reasoning, parallel calls, open calls."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.transcript import open_calls
from tests.cli.running import Ended, run
from tests.promises.conversations import prose
from tests.promises.invariants import decoded, summary_of, wire

WINDOW = ("--context-length", "12000")
PICTURE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 400}
TASK = "Now make the retry limit configurable, default 3."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))


def seal(number: int) -> str:
    return f"EqoB{number:04d}" + "aB3+/xY9" * 20 + "=="


def claude_step(number: int) -> list[dict[str, Any]]:
    """Return sealed thinking with two parallel calls, and both results in one message."""
    random = Random(number)
    ids = [f"toolu_{number}_{letter}" for letter in "ab"]
    thinking = {"type": "thinking", "thinking": prose(random, 20), "signature": seal(number)}
    hidden = {"type": "redacted_thinking", "data": seal(number + 5_000)}
    uses = [
        {
            "type": "tool_use",
            "id": id_,
            "name": "bash",
            "input": {"command": f"pytest part{number}"},
        }
        for id_ in ids
    ]
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": id_, "content": prose(random, 80)} for id_ in ids
    ]
    if number % 7 == 0:
        picture = {"type": "image", "source": PICTURE}
        results[1]["content"] = [{"type": "text", "text": "a screenshot"}, picture]
    sealed = [thinking, hidden] if number % 5 == 0 else [thinking]
    return [
        {"role": "assistant", "content": [*sealed, *uses]},
        {"role": "user", "content": results},
    ]


def claude_body(*, steps: int = 40, waiting: bool = False) -> dict[str, Any]:
    """Return a request to Anthropic: two user turns, many steps, perhaps a call still open."""
    picture = {"type": "image", "source": PICTURE}
    opening = [{"type": "text", "text": "Fix the billing service. See the picture."}, picture]
    messages: list[dict[str, Any]] = [{"role": "user", "content": opening}]
    for number in range(steps // 2):
        messages += claude_step(number)
    messages += [
        {"role": "assistant", "content": [{"type": "text", "text": "The first half is done."}]},
        {"role": "user", "content": TASK},
    ]
    for number in range(steps // 2, steps):
        messages += claude_step(number)
    if waiting:
        messages.append(claude_step(9_000)[0])
    return {
        "model": "claude-x",
        "max_tokens": 512,
        "system": [{"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
    }


def compress(body: object, *flags: str) -> Ended:
    ended = run("compress", "-", *(flags or WINDOW), stdin=wire(body).encode())
    assert ended.code == 0, ended.errors
    return ended


def assert_valid(output: bytes, provider: str) -> None:
    ended = run("validate", "-", "--provider", provider, stdin=output)
    assert ended.code == 0, ended.text + ended.errors


def sealed(messages: list[dict[str, Any]]) -> list[str]:
    """Return the JSON of all blocks that a provider signed, in order."""
    return [
        wire(block)
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] in ("thinking", "redacted_thinking")
    ]


@pytest.mark.parametrize("flags", [WINDOW, ("--fit", "3000"), ("--fit", "9000")])
def test_signed_thinking_is_kept_byte_for_byte_or_goes_with_its_turn(
    flags: tuple[str, ...],
) -> None:
    before = claude_body()
    ended = compress(before, *flags)
    after: Any = ended.json
    assert_valid(ended.output, "anthropic")
    kept, known = sealed(after["messages"]), sealed(before["messages"])
    assert len(kept) <= len(known)
    assert kept == known[len(known) - len(kept) :]
    for message in after["messages"]:
        if message["role"] == "assistant":
            assert message in before["messages"]
    assert {key: after[key] for key in ("model", "max_tokens")} == {
        "model": "claude-x",
        "max_tokens": 512,
    }
    assert wire(after["system"][0]) == wire(before["system"][0])


def test_parallel_calls_and_their_results_stay_together() -> None:
    after: Any = compress(claude_body()).json
    uses = [
        [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        for message in after["messages"]
        if message["role"] == "assistant"
    ]
    assert [len(ids) for ids in uses if ids][-3:] == [2, 2, 2]
    assert {len(ids) for ids in uses} <= {0, 2}


def test_old_pictures_leave_the_window_and_their_bytes_with_them() -> None:
    body = claude_body()
    shown = wire(body).count(PICTURE["data"])
    ended = compress(body)
    assert shown > 5
    assert ended.text.count(PICTURE["data"]) <= 1
    assert_valid(ended.output, "anthropic")


@pytest.mark.parametrize("flags", [WINDOW, ("--fit", "2500")])
def test_a_call_that_still_runs_is_the_last_word_of_the_window(flags: tuple[str, ...]) -> None:
    body = claude_body(waiting=True)
    after: Any = compress(body, *flags).json
    assert after["messages"][-1] == body["messages"][-1]
    assert TASK in wire(after["messages"])


@pytest.mark.parametrize("provider", ["openai", "responses", "gemini", "anthropic"])
def test_a_compacted_document_is_valid_for_every_provider(provider: str) -> None:
    ended = compress(claude_body(), *WINDOW, "--to", provider)
    assert_valid(ended.output, provider)
    assert TASK in ended.text


def responses_items(*, steps: int = 60, waiting: bool = False) -> list[dict[str, Any]]:
    """Return items of the Responses API: encrypted reasoning before each call."""
    random = Random(3)
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "developer", "content": "Be careful."},
        {"type": "message", "role": "user", "content": "Fix the billing service."},
    ]
    for number in range(steps):
        id_ = f"call_{number}"
        items += [
            {
                "type": "reasoning",
                "id": f"rs_{number}",
                "summary": [{"type": "summary_text", "text": prose(random, 6)}],
                "encrypted_content": seal(number),
            },
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": id_,
                "name": "shell",
                "arguments": json.dumps({"command": f"pytest part{number}"}),
            },
            {"type": "function_call_output", "call_id": id_, "output": prose(random, 80)},
        ]
        if number == steps // 2:
            text = {"type": "output_text", "text": "The first half is done.", "annotations": []}
            items += [
                {"type": "message", "role": "assistant", "content": [text]},
                {"type": "message", "role": "user", "content": TASK},
            ]
    if waiting:
        call = {"name": "shell", "arguments": "{}", "call_id": "call_open"}
        items.append({"type": "function_call", "id": "fc_open", **call})
    return items


@pytest.mark.parametrize("flags", [WINDOW, ("--fit", "1500"), ("--fit", "6000")])
@pytest.mark.parametrize("waiting", [False, True])
def test_encrypted_reasoning_is_kept_exactly_or_goes_with_its_call(
    flags: tuple[str, ...], waiting: bool
) -> None:
    body: dict[str, Any] = {
        "model": "gpt-x",
        "input": responses_items(waiting=waiting),
        "store": False,
    }
    ended = compress(body, *flags)
    after: Any = ended.json
    kinds = [item.get("type") for item in after["input"]]
    assert kinds.count("reasoning") == kinds.count("function_call") - waiting
    for item in after["input"]:
        if item.get("type") in ("reasoning", "function_call"):
            assert item in body["input"]
    assert TASK in wire(after["input"])
    assert after["input"][-1] == body["input"][-1] or not waiting
    assert (after["model"], after["store"]) == ("gpt-x", False)
    if not waiting:
        assert_valid(ended.output, "responses")


def test_reasoning_of_one_provider_never_reaches_another() -> None:
    for provider in ("openai", "anthropic", "gemini"):
        ended = compress({"input": responses_items()}, *WINDOW, "--to", provider)
        assert_valid(ended.output, provider)
        assert "aB3+/xY9" not in ended.text
    ended = compress(claude_body(), *WINDOW, "--to", "responses")
    assert "aB3+/xY9" not in ended.text


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_summary_written_in_one_dialect_is_the_previous_record_in_another(dialect: str) -> None:
    once = compress(claude_body(), *WINDOW, "--to", dialect)
    document: Any = once.json
    messages = document if isinstance(document, list) else document["messages"]
    first = summary_of(messages, dialect)
    assert "## Completed Actions" in first
    more = run("compress", "-", "--force", *WINDOW, "--to", "openai", stdin=once.output)
    after: Any = more.json
    again = summary_of(after if isinstance(after, list) else after["messages"])
    assert again.count("## Completed Actions") == 1
    assert again.count("reference only") == 0


def test_an_open_call_is_known_as_open_after_every_conversion() -> None:
    ended = compress(claude_body(waiting=True), *WINDOW, "--to", "openai")
    document: Any = ended.json
    messages = document if isinstance(document, list) else document["messages"]
    assert set(open_calls(decoded(messages))) == {"toolu_9000_a", "toolu_9000_b"}
