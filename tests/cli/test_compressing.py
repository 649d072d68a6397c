"""What compress reads and what it writes: interrupted calls, unknown roles, several at once."""

import json
from pathlib import Path

import pytest

from holdfast.transcript.effects import STUB
from tests.cli.running import SESSION, SMALL_WINDOW, run

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
INTERRUPTED = [
    {"role": "user", "content": "run it"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "never mind"},
]
TOGETHER = (
    b'{"messages": [{"role": "user", "content": "one"}]}\n'
    b'{"messages": [{"role": "user", "content": "two"}]}\n'
)


@pytest.mark.parametrize("to", ["responses", "anthropic", "gemini", "sharegpt"])
def test_an_interrupted_call_is_answered_by_a_stub_in_another_dialect(to: str) -> None:
    ended = run("compress", "-", "--to", to, stdin=json.dumps(INTERRUPTED).encode())
    assert ended.code == 3
    assert STUB in ended.text


def test_an_interrupted_call_of_another_dialect_is_written_as_openai() -> None:
    anthropic = run("compress", "-", "--to", "responses", stdin=json.dumps(INTERRUPTED).encode())
    items = json.loads(anthropic.output)
    items["input"] = [each for each in items["input"] if each["type"] != "function_call_output"]
    ended = run("compress", "-", "--to", "openai", stdin=json.dumps(items).encode())
    assert (ended.code, STUB in ended.text) == (3, True)
    assert run("validate", "-", "--provider", "openai", stdin=ended.output).code == 0


def test_an_interrupted_call_stays_as_it_is_in_its_own_format() -> None:
    content = json.dumps(INTERRUPTED).encode()
    assert run("compress", "-", stdin=content).output == content


def test_a_rule_that_the_input_broke_is_no_reason_to_refuse() -> None:
    broken = {**CALL, "function": {"name": "run", "arguments": "{cut off"}}
    added = [
        {"role": "assistant", "content": None, "tool_calls": [broken]},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
    ]
    content = json.dumps([*json.loads(SESSION.read_bytes()), *added]).encode()
    assert run("validate", "-", "--provider", "openai", stdin=content).code == 1
    ended = run("compress", "-", *SMALL_WINDOW, stdin=content)
    assert ended.code == 0
    assert len(ended.output) < len(content)


def test_a_message_with_an_unknown_role_is_named_when_it_is_left_out(tmp_path: Path) -> None:
    odd = {"role": "narrator", "content": "meanwhile"}
    content = json.dumps([{"role": "user", "content": "hi"}, odd]).encode()
    report = tmp_path / "report.json"
    ended = run("compress", "-", "--to", "gemini", "--report", str(report), stdin=content)
    left_out = "message 1: gemini has no role 'narrator'"
    assert f"  left out  {left_out}\n" in ended.errors
    assert json.loads(report.read_bytes())["warnings"] == [f"left out: {left_out}"]
    same = run("compress", "-", stdin=content)
    assert (same.output, "left out" in same.errors) == (content, False)


def test_one_of_several_conversations_can_be_picked() -> None:
    ended = run("compress", "-", "--conversation", "2", stdin=TOGETHER)
    assert (ended.code, json.loads(ended.output)) == (
        3,
        {"messages": [{"role": "user", "content": "two"}]},
    )
    inspected = run("inspect", "-", "--conversation", "1", "--json", stdin=TOGETHER)
    assert json.loads(inspected.output)["messages"] == 1
    valid = run("validate", "-", "--provider", "openai", "--conversation", "2", stdin=TOGETHER)
    assert valid.code == 0


@pytest.mark.parametrize("command", ["compress", "inspect", "validate"])
def test_several_conversations_are_an_error_that_names_the_flag(command: str) -> None:
    options = ["--provider", "openai"] if command == "validate" else []
    for content in (TOGETHER, json.dumps([json.loads(each) for each in TOGETHER.splitlines()])):
        stdin = content if isinstance(content, bytes) else content.encode()
        ended = run(command, "-", *options, stdin=stdin)
        assert ended.code == 1
        assert "found 2; choose one with --conversation, from 1 to 2" in ended.errors
    missing = run(command, "-", *options, "--conversation", "9", stdin=TOGETHER)
    assert (missing.code, "the file holds 2" in missing.errors) == (1, True)
    assert run(command, "-", *options, "--conversation", "0", stdin=TOGETHER).code == 2


def test_picking_one_never_replaces_the_file_that_holds_the_others(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_bytes(TOGETHER)
    ended = run("compress", str(file), "--conversation", "1", "-o", str(file))
    assert (ended.code, file.read_bytes()) == (2, TOGETHER)


def test_a_report_never_replaces_a_transcript(tmp_path: Path) -> None:
    file, link, output = tmp_path / "in.json", tmp_path / "link.json", tmp_path / "out.json"
    file.write_bytes(SESSION.read_bytes())
    link.symlink_to(file)
    for report in (file, link, tmp_path / "." / "x" / ".." / "in.json", output):
        ended = run("compress", str(file), "-o", str(output), "--report", str(report))
        assert (ended.code, output.exists()) == (2, False)
        assert "the report" in ended.errors
    assert file.read_bytes() == SESSION.read_bytes()
    several = run(
        "compress", str(file), "-o", f"{tmp_path}/o/", "--report", f"{tmp_path}/o/in.json"
    )
    assert several.code == 2
    assert run("compress", str(file), "-o", "/dev/null", "--report", "/dev/null").code == 0


def test_a_dry_run_does_not_report_over_its_input(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_bytes(SESSION.read_bytes())
    assert run("compress", str(file), "--dry-run", "--report", str(file)).code == 2
