"""A session goes out as the file of any agent, and comes back as the same session."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from holdfast.formats.events import without_native
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcript import Message, shape
from holdfast.views.export import AGENT_FORMATS
from tests.agent_files.agent_files import write_pi
from tests.cli.running import run
from tests.cli.stored import compacted, store_in


def window(home: Path, id_: str, profile: str = "default") -> str:
    """Return what a window shows; a summary stands apart, as the files of agents have it."""
    with closing(SqliteStore(store_in(home, profile))) as store:
        transcript = store.window(id_).transcript
    return shape(tuple(each for message in transcript for each in apart(without_native(message))))


def apart(message: Message) -> tuple[Message, ...]:
    rest = tuple(part for part in message.parts if part is not message.summary)
    if message.summary is None or not rest:
        return (message,)
    return (replace(message, parts=(message.summary,)), replace(message, parts=rest))


def brought_back(path: Path, profile: str = "other") -> tuple[str, int]:
    """Import a file into another profile, and return the session and how much was said."""
    found = cast("dict[str, Any]", run("import", str(path), "--profile", profile, "--json").json)
    assert found["problems"] == []
    (file,) = found["files"]
    return file["sessions"][0], found["messages"]


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_a_conversation_goes_out_and_comes_back(agent: str, home: Path, tmp_path: Path) -> None:
    id_ = compacted(store_in(home))
    path = tmp_path / "session.jsonl"
    ended = run("sessions", "export", id_, "--format", agent, "-o", str(path), "--json")
    assert ended.code == 0
    recognized = cast("list[dict[str, object]]", run("formats", str(path), "--json").json)
    assert [each["format"] for each in recognized] == [agent]
    copy, messages = brought_back(path)
    # The record of the compaction is a message of the agent's file.
    assert messages >= cast("dict[str, int]", ended.json)["messages"]
    original = window(home, id_).splitlines()
    assert len(window(home, copy, "other").splitlines()) == len(original)
    again = tmp_path / "again.jsonl"
    run("sessions", "export", id_, "--format", agent, "-o", str(again))
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_a_window_goes_out_alone(agent: str, home: Path, tmp_path: Path) -> None:
    id_ = compacted(store_in(home))
    whole, part = tmp_path / "whole", tmp_path / "part"
    run("sessions", "export", id_, "--format", agent, "-o", str(whole))
    run("sessions", "export", id_, "--format", agent, "--window", "-o", str(part))
    assert 0 < part.stat().st_size < whole.stat().st_size
    copy, _ = brought_back(part)
    assert window(home, copy, "other").count("\n") == window(home, id_).count("\n")


def test_an_imported_session_goes_out_as_it_came_in(home: Path, tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "The lighthouse", "needs paint")
    run("import", str(path))
    exported = tmp_path / "exported.jsonl"
    assert run("sessions", "export", "last", "--format", "pi", "-o", str(exported)).code == 0
    found = cast("dict[str, Any]", run("import", str(exported), "--json").json)
    assert (found["sessions"], found["messages"], found["unchanged"]) == (0, 0, 1)


def forks_in(path: Path, profile: str) -> list[str]:
    """Import a file into a profile of its own, and return how its sessions came about."""
    copy, _ = brought_back(path, profile)
    tree = run("sessions", "tree", copy, "--profile", profile, "--json").json
    return re.findall(r"'(branch|delegation)'", str(tree))


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_what_went_along_is_in_the_file_and_what_was_left_out_is_not(
    agent: str, tmp_path: Path
) -> None:
    sample = Path(__file__).parents[1] / "fixtures" / "sessions" / "claude_code.jsonl"
    found = cast("dict[str, Any]", run("import", str(sample), "--json").json)
    root, *children = found["files"][0]["sessions"]
    path = tmp_path / "exported.jsonl"
    written = run("sessions", "export", root, "-o", str(path), "--json", "--format", agent)
    told = cast("dict[str, Any]", written.json)
    assert sorted([*told["along"], *told["left_out"]]) == sorted(children)
    assert len(told["along"]) == len(forks_in(path, agent))


def test_an_export_says_what_went_along_and_what_was_left_out(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "one", "two")
    root = answer_of("import", str(path))["files"][0]["sessions"][0]
    # The same session, which went another way: a branch.
    write_pi(path, "a", "one", "three", "four")
    (branch,) = answer_of("import", str(path))["files"][0]["sessions"]
    target = str(tmp_path / "out.jsonl")
    ended = run("sessions", "export", root, "--format", "pi", "-o", target)
    assert ended.errors.splitlines() == [
        f"wrote 2 messages of session {root} to {target}",
        "with it: 1 branch (2 messages)",
    ]
    ended = run("sessions", "export", root, "--format", "codex", "-o", target)
    assert ended.errors.splitlines()[1:] == [
        f"left out: 1 branch (2 messages); a codex file has no place for them: {branch}"
    ]
    # A branch that is told alone holds what it shares.
    ended = run("sessions", "export", branch, "--format", "codex", "-o", target)
    assert ended.errors.splitlines() == [f"wrote 3 messages of session {branch} to {target}"]


def answer_of(*arguments: str) -> dict[str, Any]:
    return cast("dict[str, Any]", run(*arguments, "--json").json)
