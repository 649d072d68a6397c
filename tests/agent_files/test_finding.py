"""Files are found in whatever is named, each once, in an order that stays."""

import os
import socket
import sys
from pathlib import Path

import pytest

from holdfast.agent_files.finding import File, Refused, find_files, find_in_places
from holdfast.agent_files.places import Place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b/two.jsonl", "a/one.jsonl", ".hidden/three.jsonl", ".git/x", "node_modules/y"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}", "utf-8")
    return tmp_path


def names(files: tuple[File, ...], root: Path) -> list[str]:
    return [file.path.relative_to(root).as_posix() for file in files]


def test_a_folder_stands_for_everything_below_it_sorted(folder: Path) -> None:
    walk = find_files([str(folder)])
    assert names(walk.files, folder) == [".hidden/three.jsonl", "a/one.jsonl", "b/two.jsonl"]
    assert {(file.root, file.size, file.is_named) for file in walk.files} == {(folder, 2, False)}
    assert walk.refused == ()


def test_a_file_is_found_once_however_often_it_is_named(folder: Path) -> None:
    one = folder / "a" / "one.jsonl"
    walk = find_files([str(one), str(folder / "a"), str(folder / "*" / "one.jsonl")])
    assert [(file.path, file.is_named) for file in walk.files] == [(one, True)]


def test_a_pattern_matches_folders_of_any_depth(folder: Path) -> None:
    walk = find_files([str(folder / "**" / "*.jsonl")])
    assert names(walk.files, folder) == [".hidden/three.jsonl", "a/one.jsonl", "b/two.jsonl"]


def test_a_name_that_looks_like_a_pattern_is_taken_as_it_stands(tmp_path: Path) -> None:
    odd = tmp_path / "run[1].jsonl"
    odd.write_text("{}", "utf-8")
    assert names(find_files([str(odd)]).files, tmp_path) == ["run[1].jsonl"]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    missing, pattern = tmp_path / "missing", tmp_path / "*.none"
    reason = "there is no such file or folder"
    assert find_files([str(missing), str(pattern)]).refused == (
        Refused(missing, reason, is_named=True),
        Refused(pattern, reason, is_named=True),
    )


def test_a_link_to_a_folder_is_followed_when_it_is_named(folder: Path) -> None:
    link = folder / "a" / "link"
    link.symlink_to(folder / "b", target_is_directory=True)
    assert find_files([str(folder / "a")]).refused == (
        Refused(link, "it is a link to a folder; name it to have it followed", is_named=False),
    )
    assert names(find_files([str(link)]).files, folder) == ["a/link/two.jsonl"]


def test_links_to_files_are_followed_and_a_file_is_found_once(folder: Path) -> None:
    (folder / "a" / "again.jsonl").symlink_to(folder / "a" / "one.jsonl")
    (folder / "a" / "dangling").symlink_to(folder / "nowhere")
    walk = find_files([str(folder)])
    assert len(walk.files) == 3
    assert [(each.path.name, each.is_named) for each in walk.refused] == [("dangling", False)]


def test_folders_that_lead_into_each_other_end(folder: Path) -> None:
    (folder / "a" / "loop").symlink_to(folder, target_is_directory=True)
    walk = find_files([str(folder), str(folder / "a" / "loop"), str(folder / "a")])
    assert len(walk.files) == 3


def test_sockets_and_pipes_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("listening")
        assert find_files(["."]) == find_files([])
        assert find_files(["pipe"]).refused == (
            Refused(Path("pipe"), "it is neither a file nor a folder", is_named=True),
        )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_may_not_be_read_is_refused_and_the_rest_is_found(folder: Path) -> None:
    closed = folder / "a"
    closed.chmod(0)
    try:
        walk = find_files([str(folder)])
    finally:
        closed.chmod(0o700)
    assert len(walk.files) == 2
    assert walk.refused == (Refused(closed, "permission denied", is_named=False),)


def test_a_folder_deeper_than_python_recurses_is_walked(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(sys.getrecursionlimit() + 10):
        deep /= "d"
        deep.mkdir()
    session = deep / "session"
    session.write_text("{}", "utf-8")
    try:
        assert [file.path for file in find_files([str(tmp_path)]).files] == [session]
    finally:
        # Whoever sweeps up temporary folders may recurse.
        session.unlink()
        while deep != tmp_path:
            deep.rmdir()
            deep = deep.parent


@pytest.mark.parametrize("name", ["state.db", ""], ids=["named", "in its folder"])
def test_a_database_is_as_new_as_what_it_wrote_beside_itself(name: str, tmp_path: Path) -> None:
    for ending, size, at in (("", 5, 100), ("-wal", 7, 300), ("-shm", 9, 900)):
        path = tmp_path / f"state.db{ending}"
        path.write_bytes(b"x" * size)
        os.utime(path, (at, at))
    (file,) = find_files([str(tmp_path / name)]).files
    assert (file.path.name, file.size, file.modified) == ("state.db", 12, 300 * 10**9)


def test_a_file_that_is_only_named_like_a_database_s_companion_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes-wal").write_text("{}", "utf-8")
    assert names(find_files([str(tmp_path)]).files, tmp_path) == ["notes-wal"]


def test_a_limit_ends_the_walk(folder: Path) -> None:
    assert len(find_files([str(folder)], limit=2).files) == 2


def in_place(place: Place) -> list[tuple[str, bool]]:
    walk = find_in_places([place])
    return [(file.path.relative_to(place.path).as_posix(), file.is_stray) for file in walk.files]


def test_in_a_place_a_file_of_any_name_is_found_if_it_begins_like_a_session(tmp_path: Path) -> None:
    contents = {
        "a.jsonl": b"broken",
        "b.trajectory.jsonl": b"{}",
        "c.txt": b"words",
        "d.bak": b'\xef\xbb\xbf \n{"a": 1}',
        "e": b"[",
        "f.gz": b"\x1f\x8b\x08",
        "g.zst": b"\x28\xb5\x2f\xfd",
        "h": b"SQLite format 3\0",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    place = Place("Agent", tmp_path, ("*.jsonl",), ("*.trajectory.jsonl",))
    assert in_place(place) == [
        ("a.jsonl", False),
        ("d.bak", True),
        ("e", True),
        ("f.gz", True),
        ("g.zst", True),
        ("h", True),
    ]
    assert find_in_places([place, Place("Other", tmp_path / "nowhere", ("*",))]).others == 2
    (tmp_path / "c.txt").write_bytes(b"{}, now")
    assert ("c.txt", True) in in_place(place)


def test_in_a_place_of_other_things_too_only_an_agent_s_own_names_are_found(folder: Path) -> None:
    (folder / "a" / "settings").write_text("{}", "utf-8")
    assert in_place(Place("Agent", folder, ("*.jsonl",), any_name=False)) == [
        (".hidden/three.jsonl", False),
        ("a/one.jsonl", False),
        ("b/two.jsonl", False),
    ]
