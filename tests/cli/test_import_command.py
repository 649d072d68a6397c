"""`holdfast import`: sessions of other agents come in once, and what does not is named."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from tests.adapters.archives.agent_files import pi_lines, write_pi
from tests.cli.running import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two sessions, one with a damaged line, and something else."""
    write_pi(tmp_path / "one.jsonl", "one", "The lighthouse", "needs paint")
    path = write_pi(tmp_path / "deeper" / "two.jsonl", "two", "The harbor")
    path.write_text(path.read_text("utf-8") + "{broken\n", "utf-8")
    (tmp_path / "notes.txt").write_text("words", "utf-8")
    return tmp_path


def answer(*arguments: str, env: dict[str, str | None] | None = None) -> dict[str, Any]:
    return cast("dict[str, Any]", run("import", *arguments, "--json", env=env).json)


def test_what_a_folder_holds_comes_in_and_is_found(folder: Path) -> None:
    ended = run("import", str(folder))
    assert ended.code == 0
    first, *_ = ended.text.splitlines()
    assert first.startswith("imported 2 sessions: 3 messages (")
    assert "  pi          2         2         3" in ended.text
    assert "passed over: 1 file without a session; --verbose names them" in ended.text
    two = folder / "deeper" / "two.jsonl"
    assert f"problem: {two}:3: not JSON at column 2: Expecting property name" in ended.text
    assert "lighthouse" in run("search", "lighthouse").text
    listed = cast("list[dict[str, Any]]", run("sessions", "list", "--json").json)
    assert {each["source"] for each in listed} == {"import:pi"}


def test_json_says_what_became_of_each_file(folder: Path) -> None:
    found = answer(str(folder))
    figures = {key: value for key, value in found.items() if isinstance(value, int)}
    assert figures == {
        "sessions": 2,
        "messages": 3,
        "skipped": 1,
        "grown": 0,
        "unchanged": 0,
        "branches": 0,
        "tool_calls": 0,
        "images": 0,
        "errors": 0,
        "compactions": 0,
        "bytes": sum(path.stat().st_size for path in folder.rglob("*.jsonl")),
    }
    assert [(each["file"], each["line"]) for each in found["problems"]] == [
        (str(folder / "deeper" / "two.jsonl"), 3)
    ]
    assert found["formats"] == {"pi": 2}
    assert [(each["status"], each["messages"]) for each in found["files"]] == [
        ("imported", 1),
        ("imported", 2),
    ]
    stored = cast("list[dict[str, Any]]", run("sessions", "list", "--json").json)
    told = {id_ for each in found["files"] for id_ in each["sessions"]}
    assert told == {each["id"] for each in stored}


def test_importing_again_changes_nothing_and_a_grown_file_adds_what_is_new(folder: Path) -> None:
    run("import", str(folder))
    again = run("import", str(folder))
    assert (again.code, again.text.splitlines()[0]) == (
        3,
        "nothing new: everything in 2 files is stored already",
    )
    write_pi(folder / "one.jsonl", "one", "The lighthouse", "needs paint", "in spring")
    found = answer(str(folder))
    assert (found["sessions"], found["grown"], found["messages"], found["skipped"]) == (0, 1, 1, 2)
    text = run("import", str(folder)).text
    assert text.startswith("nothing new")


def test_a_dry_run_stores_nothing(folder: Path, home: Path) -> None:
    ended = run("import", str(folder), "--dry-run")
    assert ended.code == 0
    assert ended.text.startswith("would import 2 sessions: 3 messages")
    assert not (home / "profiles").exists()


def test_a_path_that_is_not_there_fails_and_the_others_are_imported(folder: Path) -> None:
    missing = str(folder / "missing.jsonl")
    found = run("import", missing, str(folder / "one.jsonl"), "--json")
    assert found.code == 1
    told = cast("dict[str, Any]", found.json)
    assert told["sessions"] == 1
    assert told["problems"] == [
        {"file": missing, "line": 0, "reason": "there is no such file or folder"}
    ]
    assert told["files"][-1] == {
        "file": missing,
        "format": None,
        "status": "unreadable",
        "reason": "there is no such file or folder",
    }


def test_a_file_without_a_session_is_named_when_somebody_named_it(folder: Path) -> None:
    notes = str(folder / "notes.txt")
    ended = run("import", notes)
    assert ended.code == 3
    assert ended.text.splitlines() == [
        "nothing new: no file with a session was found",
        f"passed over: {notes}: it is not JSON",
    ]
    assert f"passed over: {notes}: it is not JSON" in run("import", str(folder), "-v").text
    assert [each["status"] for each in answer(notes)["files"]] == ["passed over"]


def test_packed_files_and_patterns_are_read(tmp_path: Path) -> None:
    lines = "".join(f"{line}\n" for line in pi_lines("a", ["one", "two"])).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    found = answer(str(tmp_path / "*.gz"))
    assert (found["sessions"], found["messages"]) == (1, 2)


def test_many_problems_are_shown_as_a_few(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "one")
    path.write_text(path.read_text("utf-8") + "{x\n" * 9, "utf-8")
    shown = [
        line
        for line in run("import", str(path), "--dry-run").text.splitlines()
        if "problem" in line
    ]
    assert len(shown) == 4
    assert shown[-1] == f"problem: {path}: 6 more"
    verbose = run("import", str(path), "--dry-run", "--verbose").text
    assert verbose.count("problem: ") == 9


def test_a_format_that_is_named_is_taken_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}', "utf-8")
    assert answer(str(path))["formats"] == {"openai": 1}
    assert answer(str(path), "--format", "anthropic")["formats"] == {"anthropic": 1}


def test_the_usual_places_are_shown_and_nothing_is_done_without_a_yes(
    tmp_path: Path, home: Path
) -> None:
    write_pi(tmp_path / ".pi/agent/sessions/x/1_a.jsonl", "a", "one")
    env: dict[str, str | None] = {"HOME": str(tmp_path)}
    refused = run("import", env=env)
    assert refused.code == 2
    table, sentence = refused.errors.splitlines()[1], refused.errors.splitlines()[2]
    assert table.split()[:2] == ["Pi", "1"]
    assert sentence == "holdfast: nobody can be asked here; say --yes to go ahead"
    assert not (home / "profiles").exists()
    assert run("import", "--yes", env=env).text.startswith("imported 1 session: 1 message")
    assert answer("--yes", env=env)["skipped"] == 1


def test_where_nothing_is_found_the_places_are_named(tmp_path: Path) -> None:
    env: dict[str, str | None] = {"HOME": str(tmp_path)}
    ended = run("import", "--yes", env=env)
    assert ended.code == 3
    assert ended.errors.startswith("no sessions of other agents were found; these places")
    assert str(tmp_path / ".codex" / "sessions") in ended.errors
    told = run("import", "--yes", "--json", env=env)
    assert (told.code, told.errors) == (3, "")
    assert str(tmp_path / ".codex" / "sessions") in cast("dict[str, Any]", told.json)["places"]


def test_an_interrupt_says_that_nothing_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.import_command.Intake.take", interrupt)
    ended = run("import", str(folder))
    assert (ended.code, ended.errors.split("\n")) == (
        130,
        [
            "what was read so far is stored; the same command goes on from there",
            "",
            "holdfast: interrupted",
            "",
        ],
    )


def test_a_watch_cannot_be_a_dry_run() -> None:
    assert run("import", "x", "--watch", "--dry-run").code == 2


def test_a_watch_follows_files_until_ctrl_c(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "one.jsonl", "one", "first")
    arguments = ["import", str(tmp_path), "--watch", "--interval", "0.1"]
    command = [sys.executable, "-m", "holdfast.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        first_line = "1 message from 1 file; following what is added, Ctrl-C ends it\n"
        assert process.stderr.readline() == first_line
        *_, second = pi_lines("one", ["first", "second"])
        with path.open("a", encoding="utf-8") as stream:
            stream.write(second[:30])
            stream.flush()
            time.sleep(0.4)
            stream.write(second[30:] + "\n")
        assert process.stderr.readline() == f"1 message from {path}\n"
        write_pi(tmp_path / "later" / "two.jsonl", "two", "hello")
        assert process.stderr.readline() == f"1 message from {tmp_path}/later/two.jsonl\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert output.startswith("imported 2 sessions: 3 messages")
    assert "problem" not in output
