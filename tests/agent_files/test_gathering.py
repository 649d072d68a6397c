"""Files come together where they belong together, and parents come before their children."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from holdfast.agent_files.detection import FoundFile, Look, ReadOptions, SkippedFile, gather
from holdfast.agent_files.finding import find_files, find_in_places
from holdfast.agent_files.places import Place
from holdfast.formats.events import MessageEvent, StrandStarted
from tests.agent_files.agent_files import (
    write_droid,
    write_droid_settings,
    write_opencode,
    write_pi,
)


def names(looks: tuple[Look, ...]) -> list[str]:
    return [look.about.id for look in looks if isinstance(look, FoundFile)]


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_a_session_comes_before_those_that_came_from_it(
    order: tuple[str, ...], tmp_path: Path
) -> None:
    parents = {"a": "", "b": "a", "c": "b"}
    for place, name in enumerate(order):
        write_pi(tmp_path / f"{place}.jsonl", name, "hello", parent=parents[name])
    assert names(gather(find_files([str(tmp_path)]).files, ReadOptions())) == ["a", "b", "c"]


def test_without_parents_the_order_is_that_of_the_files(tmp_path: Path) -> None:
    for name in "cab":
        write_pi(tmp_path / f"{name}.jsonl", name, "hello", parent="elsewhere")
    (tmp_path / "a.txt").write_text("words", "utf-8")
    looks = gather(find_files([str(tmp_path)]).files, ReadOptions())
    assert names(looks) == ["a", "b", "c"]
    assert [look.file.path.name for look in looks if isinstance(look, SkippedFile)] == ["a.txt"]


def test_sessions_that_name_each_other_as_parents_are_found_once(tmp_path: Path) -> None:
    write_pi(tmp_path / "1", "a", "hello", parent="b")
    write_pi(tmp_path / "2", "b", "hello", parent="a")
    write_pi(tmp_path / "3", "c", "hello", parent="c")
    found = names(gather(find_files([str(tmp_path)]).files, ReadOptions()))
    assert sorted(found) == ["a", "b", "c"]


def test_a_long_line_of_children_is_ordered_in_time(tmp_path: Path) -> None:
    count = 600
    for number in range(count):
        path = tmp_path / f"{count - number:04}"
        write_pi(path, f"s{number}", "hi", parent=f"s{number - 1}" if number else "")
    found = names(gather(find_files([str(tmp_path)]).files, ReadOptions()))
    assert found == [f"s{number}" for number in range(count)]


def test_files_of_a_spread_session_are_one_for_each_folder_that_was_named(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_opencode(tmp_path / folder, f"ses_{folder}", "hello", "again")
    looks = gather(find_files([str(tmp_path / "one"), str(tmp_path / "two")]).files, ReadOptions())
    assert [len(look.files) for look in looks if isinstance(look, FoundFile)] == [5, 5]
    for look, folder in zip(looks, ("one", "two"), strict=True):
        assert isinstance(look, FoundFile)
        events = list(look.tell())
        assert [each.about.id for each in events if isinstance(each, StrandStarted)] == [
            f"ses_{folder}"
        ]
        told = [each.message.text for each in events if isinstance(each, MessageEvent)]
        assert told == ["hello", "again"]


def test_files_of_a_spread_session_that_were_named_one_by_one_are_one(tmp_path: Path) -> None:
    write_opencode(tmp_path, "ses_a", "hello")
    files = find_files([str(tmp_path / "**" / "*.json")]).files
    (look,) = gather(files, ReadOptions())
    assert isinstance(look, FoundFile)
    assert [each.message.text for each in look.tell() if isinstance(each, MessageEvent)] == [
        "hello"
    ]


def test_a_broken_part_is_a_problem_with_its_file_and_the_rest_is_told(tmp_path: Path) -> None:
    write_opencode(tmp_path, "ses_a", "hello", "again")
    (part,) = tmp_path.glob("part/*_1/*.json")
    entry = json.loads(part.read_text("utf-8"))
    part.write_text(json.dumps(entry) + '{"half', "utf-8")
    (look,) = gather(find_files([str(tmp_path)]).files, ReadOptions())
    assert isinstance(look, FoundFile)
    events = list(look.tell())
    assert [each.message.text for each in events if isinstance(each, MessageEvent)] == [
        "hello",
        "again",
    ]
    assert [getattr(each, "file", None) for each in events if hasattr(each, "reason")] == [
        str(part)
    ]


def test_messages_for_a_provider_among_an_agent_s_sessions_are_passed_over(tmp_path: Path) -> None:
    write_pi(tmp_path / "odd name", "a", "one")
    (tmp_path / "result").write_text('{"messages": [{"role": "user", "content": "hi"}]}', "utf-8")
    walk = find_in_places([Place("Pi", tmp_path, ("*.jsonl",))])
    session, request = gather(walk.files, ReadOptions())
    assert isinstance(session, FoundFile)
    assert session.guess.format == "pi"
    assert isinstance(request, SkippedFile)
    assert request.reason.endswith("name it to import it")
    (named,) = gather(find_files([str(tmp_path / "result")]).files, ReadOptions())
    assert isinstance(named, FoundFile)


def test_files_of_one_folder_are_one_only_where_they_belong_to_one_session(tmp_path: Path) -> None:
    one, other = write_droid(tmp_path, "one", "Hi"), write_droid(tmp_path, "other", "Ho")
    settings = write_droid_settings(tmp_path, "one")
    looks = gather(find_files([str(tmp_path)]).files, ReadOptions())
    found = [look for look in looks if isinstance(look, FoundFile)]
    assert sorted(sorted(file.path for file in each.files) for each in found) == [
        [one, settings],
        [other],
    ]
