"""Reading, listing and searching stay inside the working directory, and inside bounds."""

from pathlib import Path

import pytest

from holdfast.agent import ListFiles, ReadFile, SearchFiles, ToolFailed, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("port = 8443\n")
    (root / "README.md").write_text("The harbor service.\n")
    (root / "src" / "tides.py").write_text("PORT = 8443\nNAME = 'harbor'\n")
    (root / "src" / "blob.bin").write_bytes(b"PORT\0\1")
    (tmp_path / "outside.txt").write_text("secret\n")
    return Workplace(root)


def test_a_short_file_is_read_whole(place: Workplace) -> None:
    assert ReadFile(place).run({"path": "src/tides.py"}) == "PORT = 8443\nNAME = 'harbor'"


def test_a_range_of_lines_says_where_it_stands(place: Workplace) -> None:
    (place.root / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 1_001)))
    read = ReadFile(place)
    assert read.run({"path": "long.txt", "first_line": 3, "last_line": 4}) == (
        "line 3\nline 4\n[lines 3 to 4 of 1000; go on with first_line=5]"
    )
    whole = read.run({"path": "long.txt"})
    assert whole.endswith("line 400\n[lines 1 to 400 of 1000; go on with first_line=401]")
    assert read.run({"path": "long.txt", "first_line": 999}) == (
        "line 999\nline 1000\n[lines 999 to 1000 of 1000]"
    )
    with pytest.raises(ToolFailed, match="has 1000 lines only"):
        read.run({"path": "long.txt", "first_line": 1_001})


def test_lines_without_an_end_are_bounded(place: Workplace) -> None:
    (place.root / "wide.txt").write_text(("x" * 100_000 + "\n") * 100)
    shown = ReadFile(place).run({"path": "wide.txt"})
    assert len(shown) < 45_000
    assert "go on with first_line=" in shown


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("src", "src is a folder"),
        ("src/blob.bin", "src/blob.bin is not text"),
        ("a\0b", "no path"),
        ("", "path is missing"),
    ],
)
def test_what_cannot_be_read_is_said(place: Workplace, path: str, says: str) -> None:
    with pytest.raises(ToolFailed, match=says):
        ReadFile(place).run({"path": path})


@pytest.mark.parametrize("path", ["../outside.txt", "src/../../outside.txt", "/etc/hosts", "link"])
def test_what_lies_outside_needs_approval_by_whatever_path(place: Workplace, path: str) -> None:
    (place.root / "link").symlink_to(place.root.parent / "outside.txt")
    for tool in (ReadFile(place), ListFiles(place), SearchFiles(place)):
        assert "outside" in tool.needs_approval({"path": path})


def test_what_lies_inside_needs_none(place: Workplace) -> None:
    assert ReadFile(place).needs_approval({"path": "src/../README.md"}) == ""
    assert ListFiles(place).needs_approval({}) == ""
    assert SearchFiles(place).needs_approval({"pattern": "x"}) == ""


def test_a_folder_is_listed_and_a_pattern_looks_below(place: Workplace) -> None:
    listing = ListFiles(place)
    assert listing.run({}) == ".git/\nREADME.md\nsrc/"
    assert listing.run({"pattern": "*.py"}) == "src/tides.py"
    assert listing.run({"path": "src"}) == "blob.bin\ntides.py"
    assert listing.run({"pattern": "*.rs"}) == "(nothing)"
    with pytest.raises(ToolFailed, match="is no folder"):
        listing.run({"path": "README.md"})


def test_a_listing_is_bounded(place: Workplace) -> None:
    for number in range(310):
        (place.root / f"file{number}").touch()
    assert ListFiles(place).run({}).endswith("[there are more; narrow the pattern]")


def test_lines_that_match_are_found_with_their_place(place: Workplace) -> None:
    search = SearchFiles(place)
    assert search.run({"pattern": r"port\s*=", "names": "*.py"}) == "no match"
    assert search.run({"pattern": r"(?i)port\s*="}) == "src/tides.py:1: PORT = 8443"
    assert search.run({"pattern": "harbor", "path": "README.md"}) == (
        "README.md:1: The harbor service."
    )


def test_a_search_that_makes_no_sense_is_said(place: Workplace) -> None:
    with pytest.raises(ToolFailed, match="no regular expression"):
        SearchFiles(place).run({"pattern": "("})
    with pytest.raises(ToolFailed, match="there is no"):
        SearchFiles(place).run({"pattern": "x", "path": "nowhere"})


def test_a_pattern_that_takes_for_ever_is_stopped(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.agent.workplace._SEARCH_SECONDS", 1.0)
    (place.root / "trap.txt").write_text("a" * 60 + "!\n")
    with pytest.raises(ToolFailed, match="took more than"):
        SearchFiles(place).run({"pattern": "(a+)+$"})


@pytest.mark.parametrize("name", ["json.py", "re.py", "holdfast/__init__.py", "sitecustomize.py"])
def test_a_search_runs_nothing_that_lies_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    trap = tmp_path / name
    trap.parent.mkdir(exist_ok=True)
    trap.write_text("import pathlib\npathlib.Path('sprung').touch()\n", "utf-8")
    (tmp_path / "notes.txt").write_text("needle\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f":.:{tmp_path}")
    assert SearchFiles(Workplace(tmp_path)).run({"pattern": "needle"}) == "notes.txt:1: needle"
    assert not (tmp_path / "sprung").exists()


def test_a_search_follows_no_link_out_of_the_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "key.txt").write_text("needle outside\n", "utf-8")
    (inside / "notes.txt").write_text("needle inside\n", "utf-8")
    (inside / "link.txt").symlink_to(outside / "key.txt")
    (inside / "same.txt").symlink_to(inside / "notes.txt")
    (inside / "folder").symlink_to(outside)
    found = SearchFiles(Workplace(inside)).run({"pattern": "needle"})
    assert found == (
        "notes.txt:1: needle inside\nsame.txt:1: needle inside\n"
        "[1 links lead out of the folder and were not followed; "
        "read_file asks the user for such a file]"
    )
    assert ReadFile(Workplace(inside)).needs_approval({"path": "link.txt"})
