"""`holdfast import`: sessions of other agents come in once, and what does not is named."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from tests.agent_files.agent_files import pi_lines, write_pi
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


def test_however_many_processes_import_the_same_is_said(folder: Path) -> None:
    for number in range(8):
        write_pi(folder / f"{number}.jsonl", f"p{number}", *["The harbor " * 2_000] * number)
    said: list[dict[str, Any]] = []
    for jobs in ("1", "3"):
        store = {"HOLDFAST_STORE_URL": str(folder / f"{jobs}.db")}
        files = sorted(map(str, folder.rglob("*.jsonl")))
        said.append(answer(*files, "--verbose", "--jobs", jobs, env={**store}))
    assert [each.pop("seconds") > 0 for each in said] == [True, True]
    assert said[0] == said[1]
    assert said[0]["messages"] == 3 + sum(range(8))


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
    run("import", str(folder / "one.jsonl"))
    rest = run("import", str(folder), "--dry-run").text.splitlines()
    # Some of what it would bring may be stored; only the import finds out.
    assert rest[0].startswith("would import at most 1 session: 1 message")
    assert "unchanged: 1 file" in rest
    assert answer(str(folder))["sessions"] == 1


def test_a_deleted_session_comes_back_when_its_file_is_imported(folder: Path) -> None:
    path = str(folder / "one.jsonl")
    (session,) = answer(path)["files"][0]["sessions"]
    run("sessions", "delete", session, "--yes")
    ended = run("import", path)
    assert (ended.code, ended.text.splitlines()[1]) == (
        3,
        f"left alone: session {session}: it is in the trash; restore it, or delete it there to "
        "import it again",
    )
    run("sessions", "prune", "--empty-trash", "--yes")
    assert answer(path)["files"][0]["sessions"] == [session]


def test_a_child_that_was_imported_first_is_joined_with_its_parent(tmp_path: Path) -> None:
    parent = write_pi(tmp_path / "parent.jsonl", "one", "The lighthouse")
    child = write_pi(tmp_path / "child.jsonl", "two", "The harbor", parent="one")
    (early,) = answer(str(child))["files"][0]["sessions"]
    assert "which was not imported (by branch)" in run("sessions", "show", early).text
    (late,) = answer(str(parent))["files"][0]["sessions"]
    assert "part of" not in run("sessions", "show", early).text
    tree = run("sessions", "tree", late).text.splitlines()
    assert tree[0].startswith(f"{late} *>")
    assert tree[1].startswith(f"└─ {early}  by branch")


def test_a_child_that_is_not_joined_with_its_parent_is_shown_with_it(tmp_path: Path) -> None:
    parent = write_pi(tmp_path / "parent.jsonl", "one", "The lighthouse")
    child = write_pi(tmp_path / "child.jsonl", "two", "The harbor", parent="one")
    (early,) = answer(str(child))["files"][0]["sessions"]
    run("sessions", "delete", early, "--yes")
    (late,) = answer(str(parent))["files"][0]["sessions"]
    run("sessions", "restore", early)
    assert f"part of   {late}, which was imported later" in run("sessions", "show", early).text
    assert f"belongs to {late}, which was" in run("sessions", "tree", early).text
    assert f"{early} belongs to it: The harbor" in run("sessions", "tree", late).text


def test_files_are_named_as_they_were_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    told = answer("deeper", "gone")
    assert [each["file"] for each in told["problems"]] == ["gone", "deeper/two.jsonl"]
    assert [each["file"] for each in told["files"]] == ["deeper/two.jsonl", "gone"]


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


def test_a_named_file_that_cannot_be_read_is_a_problem_and_not_nothing_new(folder: Path) -> None:
    notes = str(folder / "notes.txt")
    ended = run("import", notes)
    assert ended.code == 1
    assert ended.text.splitlines() == [
        "nothing imported: no file with a session was found",
        f"problem: {notes}: it is not JSON",
    ]
    found = cast("dict[str, Any]", run("import", notes, "--json").json)
    assert found["problems"] == [{"file": notes, "line": 0, "reason": "it is not JSON"}]
    assert [each["status"] for each in found["files"]] == ["unreadable"]


def test_a_file_without_a_session_in_a_folder_is_passed_over(folder: Path) -> None:
    ended = run("import", str(folder), "-v")
    assert ended.code == 0
    assert f"passed over: {folder / 'notes.txt'}: it is not JSON" in ended.text


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
    assert shown[-1] == f"problem: {path}: 6 more; --verbose shows them"
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
    assert sentence == "holdfast: import 1 file? Nobody can be asked here; say --yes to go ahead"
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

    monkeypatch.setattr("holdfast.cli.import_command.ImportJob.take", interrupt)
    ended = run("import", str(folder))
    assert (ended.code, ended.errors.split("\n")) == (
        130,
        [
            "what is stored so far stays; the same command goes on from there",
            "",
            "holdfast: interrupted",
            "",
        ],
    )


def test_a_watch_cannot_be_a_dry_run() -> None:
    assert run("import", "x", "--watch", "--dry-run").code == 2


@contextmanager
def watching(folder: Path) -> Generator[subprocess.Popen[str]]:
    """Watch a folder in another process, which ends whatever becomes of the test."""
    arguments = ["import", str(folder), "--watch", "--interval", "0.1"]
    command = [sys.executable, "-m", "holdfast.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_watch_follows_files_until_ctrl_c(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "one.jsonl", "one", "first")
    with watching(tmp_path) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == "following 1 file; Ctrl-C ends it\n"
        assert process.stderr.readline() == "1 message from 1 file\n"
        *_, second = pi_lines("one", ["first", "second"])
        with path.open("a", encoding="utf-8") as stream:
            stream.write(second[:30])
            stream.flush()
            time.sleep(0.4)
            stream.write(second[30:] + "\n")
        assert process.stderr.readline() == f"1 message from {path}\n"
        with path.open("a", encoding="utf-8") as stream:
            stream.write("garbage line\n")
        assert process.stderr.readline().startswith(f"problem: {path}:4: not JSON at column 1")
        write_pi(tmp_path / "later" / "two.jsonl", "two", "hello")
        assert process.stderr.readline() == f"1 message from {tmp_path}/later/two.jsonl\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    first, *_, last = output.splitlines()
    assert first == "imported 2 sessions: 3 messages"
    assert last.startswith(f"problem: {path}:4: not JSON at column 1")
    assert output.count("problem") == 1
    assert run("import", str(tmp_path)).text.splitlines() == [
        "nothing new: everything in 2 files is stored already"
    ]


def test_a_watch_that_only_adds_says_to_how_many_sessions(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "one.jsonl", "one", "first")
    run("import", str(path))
    write_pi(path, "one", "first", "second")
    first, heading, row, *rest = run("import", str(path)).text.splitlines()
    assert first.startswith("added to 1 session: 1 message (")
    assert heading.split()[:5] == ["format", "files", "sessions", "grown", "messages"]
    assert row.split()[:5] == ["pi", "1", "0", "1", "1"]
    assert rest == []


def test_what_is_damaged_is_not_said_to_be_stored(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "one.jsonl", "one", "first")
    run("import", str(path))
    path.write_text(path.read_text("utf-8") + "garbage line\n", "utf-8")
    first, second = run("import", str(path)).text.splitlines()
    assert first == "nothing new: everything that can be read in 1 file is stored already"
    assert second.startswith(f"problem: {path}:3: not JSON")


def test_every_file_is_accounted_for(folder: Path) -> None:
    for name in ("silent", "still"):
        write_pi(folder / name, name)
    text = run("import", str(folder), "--dry-run").text
    assert "nothing said: 2 files in which nothing is said; --verbose names them" in text
    verbose = run("import", str(folder), "--dry-run", "-v").text
    assert f"nothing said: {folder / 'still'}: nothing is said in it" in verbose
    found = answer(str(folder))
    assert found["statuses"] == {"imported": 2, "empty": 2, "passed over": 1}
    assert found["formats"] == {"pi": 4}
    assert answer(str(folder))["statuses"] == {"unchanged": 4, "passed over": 1}


def test_a_rehearsal_brings_what_the_import_brings(folder: Path) -> None:
    # The same session once more, as far as it goes and then another way.
    write_pi(folder / "three.jsonl", "one", "The lighthouse", "needs glass")
    figures = ("sessions", "messages", "branches", "grown", "problems", "statuses")
    rehearsed = answer(str(folder), "--dry-run")
    assert (rehearsed["messages"], rehearsed["branches"]) == (4, 1)
    real = answer(str(folder))
    assert {key: rehearsed[key] for key in figures} == {key: real[key] for key in figures}


def test_standard_input_is_read_once_for_what_it_is(folder: Path) -> None:
    content = (folder / "deeper" / "two.jsonl").read_bytes()
    ended = run("import", "-", stdin=content)
    assert ended.text.startswith("imported 1 session: 1 message")
    assert "problem: standard input:3: not JSON" in ended.text
    assert run("import", "-", stdin=content).text.startswith("nothing new: everything that can be")
    chat = b'{"messages": [{"role": "user", "content": "%s"}]}'
    assert run("import", "-", stdin=chat % b"one").code == 0
    assert run("import", "-", stdin=chat % b"two").text.startswith("imported 1 session: 1 message")
    assert run("import", "-", stdin=chat % b"one").code == 3
    assert run("import", "-", "--watch").code == 2
    assert run("formats", "-", stdin=chat % b"one").text.startswith("standard input: openai (")


def test_an_empty_name_is_not_the_folder_we_are_in(folder: Path, home: Path) -> None:
    for command in ("import", "formats"):
        ended = run(command, str(folder), "")
        assert (ended.code, ended.output) == (2, b"")
        assert "a name is empty; name a file" in ended.errors
    assert not (home / "profiles").exists()


def test_a_format_that_no_line_is_of_is_said(folder: Path) -> None:
    path = folder / "one.jsonl"
    assert run("import", str(path), "--format", "claude-code").text.splitlines() == [
        "nothing new: nothing is said in what was found",
        f"nothing said: {path}: no line at its beginning is one of claude-code",
        f"problem: {path}:1: 3 lines are of another format, pi, and left out",
    ]


def test_in_the_usual_places_content_counts_and_not_the_name(tmp_path: Path) -> None:
    write_pi(tmp_path / ".codex/sessions/2026/odd name", "a", "one")
    for name in ("notes.md", "picture"):
        (tmp_path / ".codex/sessions" / name).write_text("words", "utf-8")
    chat = '{"messages": [{"role": "user", "content": "hi"}]}'
    (tmp_path / ".codex/sessions/answer.json").write_text(chat, "utf-8")
    env: dict[str, str | None] = {"HOME": str(tmp_path)}
    ended = run("import", "--yes", "-v", env=env)
    assert ended.errors.splitlines()[1].split()[:2] == ["Codex", "2"]
    assert ended.errors.splitlines()[2] == "other files there that do not look like sessions: 2"
    assert ended.text.startswith("imported 1 session: 1 message")
    assert "answer.json: it holds messages for a provider, and no agent's session" in ended.text


def test_problems_stand_in_the_order_of_the_lines(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "one")
    stranger = tmp_path / "b.jsonl"
    lines = path.read_text("utf-8")
    claude = (
        '{"type": "user", "uuid": "1", "parentUuid": null, "sessionId": "s", '
        '"message": {"role": "user", "content": "hi"}}\n'
    )
    stranger.write_text(lines + claude * 2 + "garbage\n", "utf-8")
    found = answer(str(stranger), "--format", "pi")
    assert [(each["line"], each["reason"]) for each in found["problems"]] == [
        (3, "2 lines are of another format, claude-code, and left out"),
        (5, "not JSON at column 1: Expecting value"),
    ]
