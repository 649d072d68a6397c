"""`holdfast gateway explain` says which conversation a request belongs to, and why."""

import json
from pathlib import Path

import pytest

from tests.cli.running import run

ASKED = {"role": "user", "content": "Which port?"}
TOLD = {"role": "assistant", "content": "Port 8787."}
NEXT = {"role": "user", "content": "Why?"}
PATH = "/v1/chat/completions"


def recording(folder: Path, *bodies: object) -> str:
    """Write requests down, one a line."""
    place = folder / "recording.jsonl"
    rows = [
        {"n": n, "method": "POST", "path": PATH, "headers": {}, "body": body, "note": ""}
        for n, body in enumerate(bodies, 1)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(place)


def test_each_request_is_told_with_its_conversation_and_the_reason(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "read"}}]
    bodies = [
        {"model": "m1", "tools": tools, "messages": [ASKED]},
        {"model": "m1", "tools": tools, "messages": [ASKED, TOLD, NEXT]},
        {"model": "m1", "tools": tools, "messages": [ASKED, TOLD, NEXT]},
        {"model": "m1", "tools": tools, "messages": [ASKED, TOLD, {**NEXT, "content": "Who?"}]},
        {"model": "m1", "messages": [ASKED, TOLD, {**NEXT, "content": "A title, please."}]},
    ]
    place = recording(tmp_path, *bodies)
    ended = run("gateway", "explain", place, "--json")
    assert ended.code == 0, ended.errors
    told = json.loads(ended.output)
    assert [
        (row["conversation"], row["how"], row["known"], row["new"]) for row in told["requests"]
    ] == [
        ("1", "root", 0, {"user": 1}),
        ("1", "extends", 1, {"assistant": 1, "user": 1}),
        ("1", "retry", 3, {}),
        ("4", "branch", 2, {"user": 1}),
        ("5", "side call", 2, {"user": 1}),
    ]
    table = run("gateway", "explain", place).text
    assert "it goes another way after message 1" in table
    assert "it has no tools, and the conversation has tools" in table
    assert "5 requests, 3 conversations, side calls included" in table


@pytest.mark.parametrize(
    "request_",
    [
        {"path": PATH, "messages": [ASKED]},
        {"path": PATH, "headers": {"x-session-id": "s1"}, "body": {"messages": [ASKED]}},
    ],
)
def test_one_request_is_a_recording_of_one(request_: object) -> None:
    ended = run("gateway", "explain", "-", stdin=json.dumps(request_, indent=2).encode())
    assert ended.code == 0, ended.errors
    assert "nothing of it is known" in ended.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"# Notes\n", "line 1 is not JSON"),
        (b"[1]", "no object"),
        (b'{"messages": []}', "has no path"),
        (b'{"path": "/v1/messages"}', "has no body"),
        (b'{"path": "/v1/messages", "body": [1]}', "request 1: its body is no JSON object"),
        (b'{"path": "/v1/models", "body": {}}', "none of its 1 requests is one to a model"),
        (b"\x8d\xff\x00\x01", "it is no text"),
        (b"", "is empty"),
    ],
)
def test_what_is_no_recording_is_refused_with_what_is_wanted(content: bytes, words: str) -> None:
    ended = run("gateway", "explain", "-", stdin=content)
    assert (ended.code, words in ended.errors) == (1, True), ended.errors


def test_the_page_on_decisions_shows_what_the_command_says(repository: Path) -> None:
    place = repository / "tests" / "fixtures" / "gateway_recording.jsonl"
    told = run("gateway", "explain", str(place)).text
    page = (repository / "docs" / "gateway" / "how-it-decides.md").read_text("utf-8")
    assert f"```text\n{told}```" in page, told


def test_a_request_that_says_nothing_is_told_with_what_is_wrong(tmp_path: Path) -> None:
    ended = run("gateway", "explain", recording(tmp_path, {"model": "m1", "messages": []}))
    assert ended.code == 0, ended.errors
    assert "messages is empty" in ended.text
    assert ended.text.splitlines()[-1] == "  1 request, 1 conversation, side calls included"
