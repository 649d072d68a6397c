"""`holdfast formats`: everything that can be read is listed, and files are recognized."""

from pathlib import Path
from typing import cast

from holdfast.formats import FORMATS
from tests.agent_files.agent_files import write_pi
from tests.cli.running import run


def test_every_format_is_listed() -> None:
    assert run("formats", "--json").json == [
        {
            "name": each.name,
            "description": each.description,
            "dialect": each.dialect,
            "writable": each.writable,
        }
        for each in FORMATS.values()
    ]
    assert len(run("formats").text.splitlines()) == len(FORMATS) + 1


def test_files_are_named_with_their_format_and_the_reason(tmp_path: Path) -> None:
    session = write_pi(tmp_path / "one", "one", "hello")
    notes = tmp_path / "two"
    notes.write_text("words", "utf-8")
    ended = run("formats", str(tmp_path), "--json")
    assert ended.code == 0
    (first, second) = cast("list[dict[str, object]]", ended.json)
    assert (first["file"], first["format"], first["confidence"]) == (str(session), "pi", 1.0)
    assert second == {
        "file": str(notes),
        "format": None,
        "confidence": 0.0,
        "reason": "it is not JSON",
    }
    assert run("formats", str(tmp_path)).text.splitlines() == [
        f"{session}: pi (1.0): {first['reason']}",
        f"{notes}: unknown: it is not JSON",
    ]


def test_the_exit_code_says_whether_anything_was_recognized(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("words", "utf-8")
    assert run("formats", str(notes)).code == 3
    assert run("formats", str(tmp_path / "missing")).code == 1
