"""`holdfast sessions export --for-training`: files that models learn from."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import zstandard

from holdfast.cli.files import drafts
from holdfast.session import Draft, Session
from holdfast.testing.builders import assistant, user
from holdfast.wire import DIALECTS, Body
from holdfast.wiring import Conversation, open_store
from tests.cli.running import Ended, run
from tests.cli.stored import compacted, conversation, store_in, talk

FORMATS = ("sharegpt", "openai", "anthropic")


@pytest.fixture
def session(home: Path) -> str:
    """Return the id of a stored session with one compaction."""
    return compacted(store_in(home), title="A session")


def export(*arguments: str) -> Ended:
    return run("sessions", "export", "--for-training", *arguments)


def lines(content: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in content.splitlines()]


def turns(line: dict[str, object]) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", line.get("messages") or line["conversations"])


def many(home: Path, count: int, words: str = "ok") -> None:
    """Store sessions of one turn."""
    store_in(home).parent.mkdir(parents=True, exist_ok=True)
    store = open_store(store_in(home), os.environ)
    for number in range(count):
        id_ = f"20260101_{number:06}_00c0de"
        store.create(Session(id=id_, source="cli", started=number + 1))
        said = (user(f"question {number}"), assistant(words))
        store.append(id_, [Draft(message=message, at=2) for message in said])
    store.close()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("choice", ["drop", "mask", "keep"])
def test_one_session_or_all_of_them(session: str, name: str, choice: str, home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        other = chat.id
    one = export(session, "--format", name, "--synthetic", choice)
    assert (one.code, [each["id"] for each in lines(one.output)]) == (0, [session])
    every = export("--format", name, "--synthetic", choice)
    assert sorted(str(each["id"]) for each in lines(every.output)) == sorted((session, other))
    for line in lines(every.output):
        body = Body(turns(line), line.get("system"))
        assert DIALECTS[name].validate(body) == ()


def test_the_original_is_everything_that_was_said(session: str) -> None:
    (window,) = lines(export(session).output)
    (original,) = lines(export(session, "--original").output)
    said = [each for each in turns(original) if each["role"] == "user"]
    assert len(said) == 17
    assert len(turns(window)) < len(turns(original)) == 1 + 17 * 4


def test_the_figures_are_told_as_json_and_in_words(session: str, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    ended = export(session, "-o", str(file), "--json")
    told = json.loads(ended.output)
    (line,) = lines(file.read_bytes())
    figures = {
        "conversations": 1,
        "messages": len(turns(line)),
        "tokens": line["tokens"],
        "dropped": 1,
        "masked": 0,
        "redacted": 0,
    }
    files = [{"file": str(file), "split": None, **figures}]
    assert told == {"files": files, **figures, "left_out": {}}
    words = export(session, "-o", str(file)).errors
    assert words.startswith("wrote 1 conversation (")
    assert "1 message dropped" in words


def test_a_split_is_several_files_beside_each_other(home: Path, tmp_path: Path) -> None:
    many(home, 60)
    flags = ("--split", "80/10/10", "--seed", "7", "-o", str(tmp_path / "data.v1.jsonl"))
    ended = export(*flags, "--json")
    told = json.loads(ended.output)
    assert [Path(each["file"]).name for each in told["files"]] == [
        "data.v1.train.jsonl",
        "data.v1.validation.jsonl",
        "data.v1.test.jsonl",
    ]
    counts = [each["conversations"] for each in told["files"]]
    assert sum(counts) == told["conversations"] == 60
    assert all(counts)
    sides = [lines(Path(each["file"]).read_bytes()) for each in told["files"]]
    assert [len(each) for each in sides] == counts
    before = {str(line["id"]): side for side, found in enumerate(sides) for line in found}
    many_more(home)
    export(*flags)
    again = [lines(Path(each["file"]).read_bytes()) for each in told["files"]]
    after = {str(line["id"]): side for side, found in enumerate(again) for line in found}
    assert len(after) > 60
    assert before.items() <= after.items()


def many_more(home: Path) -> None:
    with conversation(store_in(home), 1) as chat:
        chat.branch().close()


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_is_packed_as_its_name_says(home: Path, tmp_path: Path, suffix: str) -> None:
    many(home, 20)
    plain = export().output
    file = tmp_path / f"train.jsonl{suffix}"
    assert export("-o", str(file)).code == 0
    first = file.read_bytes()
    unpacked = gzip.decompress if suffix == ".gz" else unpack_zstd
    assert unpacked(first) == plain
    export("-o", str(file))
    assert file.read_bytes() == first
    export("--split", "50/50", "-o", str(file))
    halves = [tmp_path / f"train.{side}.jsonl{suffix}" for side in ("train", "test")]
    both = b"".join(unpacked(half.read_bytes()) for half in halves)
    assert sorted(both.splitlines()) == sorted(plain.splitlines())


def unpack_zstd(content: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(content)


def test_secrets_are_masked_unless_they_are_wanted(home: Path) -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    with conversation(store_in(home), 1, title=f"The {key}") as chat:
        chat.add_user(f"use {key} and ACME-123456")
        chat.add_assistant("done")
    (home / "config.yaml").write_text("redaction:\n  extra_patterns: ['ACME-\\d{6}']\n", "utf-8")
    for name in FORMATS:
        masked = export("--format", name).text
        assert key not in masked
        assert "ACME-123456" not in masked
        open_text = export("--format", name, "--no-redact").text
        assert key in open_text


def test_filters_are_those_of_lists_and_searches(home: Path) -> None:
    for source, model in (("cli", "gpt-5"), ("api", "opus")):
        conversation(store_in(home), 2, source=source, model=model).close()
    assert len(lines(export().output)) == 2
    for flags in (
        ("--source", "api"),
        ("--model", "opus"),
        ("--source", "cli", "--model", "gpt-5"),
    ):
        assert len(lines(export(*flags).output)) == 1
    assert len(lines(export("--since", "1d", "--until", "2099").output)) == 2
    for flags in (
        ("--since", "2099"),
        ("--min-turns", "3"),
        ("--max-tokens", "5"),
        ("--folder", "/"),
    ):
        assert export(*flags).code == 3


def test_sessions_in_which_a_tool_failed_can_be_left_out(home: Path, tmp_path: Path) -> None:
    conversation(store_in(home), 1).close()
    with conversation(store_in(home), 1) as chat:
        call = {"id": "x", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        chat.add_response({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]})
        chat.add_tool_result("x", "no such file", is_error=True)
        chat.add_assistant("oh")
    ended = export("--no-tool-errors", "-o", str(tmp_path / "x.jsonl"), "--json")
    told = json.loads(ended.output)
    assert (told["conversations"], told["left_out"]) == (1, {"tool_errors": 1})


def test_nothing_to_export_leaves_the_file_as_it_was(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text("old\n", "utf-8")
    absent = export("-o", str(file))
    assert absent.code == 3
    assert "there are no sessions yet" in absent.errors
    Conversation.open(store=store_in(home), active=False).close()
    empty = export("-o", str(file))
    assert empty.code == 3
    assert "nothing to export" in empty.errors
    told = export("-o", str(file), "--json")
    assert (told.code, json.loads(told.output)["files"]) == (3, [])
    assert file.read_text("utf-8") == "old\n"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--for-training", "--split", "95/5"), "name them with -o"),
        (("--for-training", "--split", "95", "-o", "x"), "is no split"),
        (("--for-training", "--split", "90/9", "-o", "x"), "is no split"),
        (("--for-training", "--split", "50/0/50", "-o", "x"), "is no split"),
        (("--for-training", "--format", "html"), "sharegpt, openai or anthropic"),
        (("--for-training", "--log"), "--original"),
        (("--for-training", "--json"), "name one with -o"),
        (("last", "--unique"), "--unique goes with --for-training"),
        (("last", "--seed", "1"), "--seed goes with --for-training"),
        (("last", "--no-tool-errors"), "--no-tool-errors goes with --for-training"),
        ((), "Missing argument 'ID'"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(flags: tuple[str, ...], reason: str) -> None:
    ended = run("sessions", "export", *flags)
    assert ended.code == 2
    assert reason in ended.errors


def test_a_session_that_is_not_there_is_a_failure(session: str) -> None:
    assert session
    assert export("20200101").code == 1


def test_a_place_that_cannot_be_written_is_a_failure(session: str, tmp_path: Path) -> None:
    ended = export(session, "-o", str(tmp_path / "none" / "train.jsonl"))
    assert ended.code == 1
    assert "cannot write" in ended.errors


def test_repeats_are_left_out_on_request(home: Path, tmp_path: Path) -> None:
    with conversation(store_in(home), 2, strategy="rotation") as chat:
        chat.branch(keep_parent=True).close()
        talk(chat, 1, 7)
    assert len(lines(export().output)) == 2
    ended = export("--unique", "-o", str(tmp_path / "x.jsonl"), "--json")
    told = json.loads(ended.output)
    assert (told["conversations"], told["left_out"]) == (1, {"repeated": 1})


def test_files_that_are_written_together_are_all_there_or_none(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        write_half((str(first), str(second)))
    assert (first.read_bytes(), [*tmp_path.iterdir()]) == (b"old", [first])
    with drafts((str(first), str(second))) as (one, two):
        one.write(b"1")
        two.write(b"2")
        assert first.read_bytes() == b"old"
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


def write_half(names: tuple[str, ...]) -> None:
    with drafts(names) as (one, _):
        one.write(b"half of it")
        raise RuntimeError


def test_a_killed_export_leaves_no_part_of_a_file(home: Path, tmp_path: Path) -> None:
    many(home, 400, "a long answer " * 4_000)
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "train.jsonl"
    file.write_text("old\n", "utf-8")
    command = ["-m", "holdfast.cli", "sessions", "export", "--for-training", "-o", str(file)]
    running = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    try:
        assert waited_for(lambda: any(each.stat().st_size for each in folder.glob(".train*")))
        running.send_signal(signal.SIGKILL)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == -signal.SIGKILL
    assert file.read_text("utf-8") == "old\n"
    assert [each.name for each in folder.iterdir() if not each.name.startswith(".")] == [file.name]


def waited_for(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.001)
    return False


@pytest.mark.parametrize("name", FORMATS)
def test_a_training_file_is_read_back_with_its_labels(
    session: str, name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    flags = ("--format", name, "--synthetic", "keep")
    file = tmp_path / "train.jsonl"
    assert export(session, *flags, "-o", str(file)).code == 0
    other = {"HOLDFAST_HOME": str(tmp_path_factory.mktemp("other"))}
    for _ in range(2):
        taken = run("import", str(file), "--yes", env=other)
        assert taken.code in (0, 3), taken.errors
    again = run("sessions", "export", "--for-training", *flags, env=other)
    (before,), (after,) = lines(file.read_bytes()), lines(again.output)
    assert without_ids(turns(after)) == without_ids(turns(before))
    for key in ("model", "title", "started_at", "system"):
        assert after.get(key) == before.get(key)
    shown = run("sessions", "show", "last", "--json", "--limit", "0", env=other)
    told = {each["synthetic"] for each in json.loads(shown.output)["messages"]}
    assert "summary" in told
    request = run("sessions", "export", "last", "--format", name, env=other)
    assert '"holdfast"' not in request.text


def without_ids(found: list[dict[str, object]]) -> object:
    """Return turns without the ids that ShareGPT has for results and not for their calls."""
    return json.loads(re.sub(r'(tool_call_id\\": \\")[\w-]+', r"\1", json.dumps(found)))


@pytest.mark.parametrize("name", FORMATS)
def test_real_sessions_become_valid_lines(shared: Path, name: str, tmp_path: Path) -> None:
    folder = shared / "data" / "sessions"
    run("import", str(folder / "codex"), str(folder / "claude_code"), "--yes")
    file = tmp_path / "train.jsonl"
    for flags in ((), ("--original", "--unique"), ("--synthetic", "mask")):
        ended = export("--format", name, "-o", str(file), *flags)
        assert ended.code == 0
        for line in lines(file.read_bytes()):
            assert DIALECTS[name].validate(Body(turns(line), line.get("system"))) == ()
