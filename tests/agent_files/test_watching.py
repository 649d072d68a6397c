"""A watch says what is new since it last looked, and nothing else."""

import os
from pathlib import Path

from holdfast.agent_files.detection import FileWatch, FoundFile, Look, ReadOptions, SkippedFile
from holdfast.agent_files.finding import find_files
from holdfast.formats.events import MessageEvent
from tests.agent_files.agent_files import (
    file_at,
    write_droid,
    write_droid_settings,
    write_opencode,
    write_pi,
)


def watch_of(folder: Path, *known: Path) -> FileWatch:
    files = [file for file in find_files([str(folder)]).files if file.path in known]
    return FileWatch(lambda: find_files([str(folder)]), ReadOptions(live=True), files)


def told(looks: tuple[Look, ...]) -> list[list[str]]:
    return [
        [event.message.text for event in look.tell() if isinstance(event, MessageEvent)]
        for look in looks
        if isinstance(look, FoundFile)
    ]


def test_everything_is_new_at_first_and_then_only_what_changed(tmp_path: Path) -> None:
    one = write_pi(tmp_path / "one", "one", "a")
    write_pi(tmp_path / "two", "two", "b")
    watch = watch_of(tmp_path)
    assert told(watch.look()) == [["a"], ["b"]]
    assert watch.look() == ()
    write_pi(one, "one", "a", "more")
    write_pi(tmp_path / "deeper" / "three", "three", "c")
    assert told(watch.look()) == [["c"], ["a", "more"]]
    assert watch.look() == ()


def test_a_file_that_is_known_is_looked_at_when_it_changes(tmp_path: Path) -> None:
    one = write_pi(tmp_path / "one", "one", "a")
    watch = watch_of(tmp_path, one)
    assert watch.look() == ()
    os.utime(one, ns=(1, file_at(one).modified + 1))
    assert told(watch.look()) == [["a"]]


def test_a_file_may_go_and_come_back(tmp_path: Path) -> None:
    one = write_pi(tmp_path / "one", "one", "a")
    watch = watch_of(tmp_path)
    assert told(watch.look()) == [["a"]]
    one.unlink()
    assert watch.look() == ()
    write_pi(one, "one", "a", "b")
    assert told(watch.look()) == [["a", "b"]]


def test_a_file_that_was_empty_is_looked_at_again_when_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.touch()
    watch = watch_of(tmp_path)
    (look,) = watch.look()
    assert isinstance(look, SkippedFile)
    write_pi(path, "one", "a")
    assert told(watch.look()) == [["a"]]


def test_a_part_that_comes_to_a_spread_session_is_told_with_all_others(tmp_path: Path) -> None:
    write_opencode(tmp_path, "ses_a", "one")
    write_pi(tmp_path / "pi.jsonl", "pi", "x")
    watch = watch_of(tmp_path)
    assert told(watch.look()) == [["x"], ["one"]]
    write_opencode(tmp_path, "ses_a", "one", "two")
    assert told(watch.look()) == [["one", "two"]]


def test_a_file_that_comes_beside_a_session_is_told_with_it_and_no_other_is(tmp_path: Path) -> None:
    write_droid(tmp_path, "one", "Hi")
    write_droid(tmp_path, "other", "Ho")
    watch = watch_of(tmp_path)
    assert told(watch.look()) == [["Hi"], ["Ho"]]
    write_droid_settings(tmp_path, "one")
    (found,) = watch.look()
    assert isinstance(found, FoundFile)
    assert [file.path.name for file in found.files] == ["one.jsonl", "one.settings.json"]
    write_droid(tmp_path, "other", "Ho", "Hey")
    assert told(watch.look()) == [["Ho", "Hey"]]
