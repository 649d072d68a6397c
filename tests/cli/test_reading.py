"""Whatever is named is read: packed files, databases, folders over which a session is spread."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import zstandard

from tests.agent_files.agent_files import pi_lines, write_opencode
from tests.cli.running import SESSION, run

WIDE = ("--context-length", "1000000")


def test_a_packed_file_reads_like_the_file_in_it(tmp_path: Path) -> None:
    content = SESSION.read_bytes()
    for number, packed in enumerate((gzip.compress(content), zstandard.compress(content))):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(packed)
        assert run("compress", str(path), *WIDE).output == content
        assert run("validate", str(path), "--provider", "openai").code == 0
    assert run("compress", "-", *WIDE, stdin=gzip.compress(content)).output == content


def test_a_damaged_packed_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(SESSION.read_bytes())[:-20])
    ended = run("inspect", str(path))
    assert (ended.code, ended.errors) == (
        1,
        f"holdfast: {path}: the file ends in the middle of its packed content; "
        "what came before was read\n",
    )


def test_a_folder_over_which_a_session_is_spread_is_read_whole(tmp_path: Path) -> None:
    write_opencode(tmp_path, "ses_a", "Where is the lighthouse?", "And the harbor?")
    ended = run("inspect", str(tmp_path), "--messages")
    assert ended.code == 0
    assert "And the harbor?" in ended.text
    write_opencode(tmp_path, "ses_b", "Another one")
    assert "choose one with --conversation, from 1 to 2" in run("inspect", str(tmp_path)).errors
    chosen = run("compress", str(tmp_path), "--conversation", "2")
    assert chosen.code == 3
    assert "Another one" in chosen.text


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(pi_lines("a", ["one"])), "utf-8")
    ended = run("inspect", str(tmp_path))
    assert (ended.code, ended.errors) == (
        1,
        f"holdfast: cannot read {tmp_path}: it is a folder; name a file\n",
    )


def test_a_database_of_nobody_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (words TEXT)")
    ended = run("inspect", str(path))
    reason = "no agent that we know has these tables: notes"
    assert (ended.code, ended.errors) == (1, f"holdfast: {path}: {reason}\n")
    piped = run("inspect", "-", stdin=path.read_bytes())
    assert piped.errors == (
        "holdfast: standard input is a database, which can only be read from its file\n"
    )


def test_a_session_file_is_compressed_in_its_own_format_where_that_can_be_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    said = [f"{number}: {'the lighthouse needs paint ' * 60}" for number in range(40)]
    path.write_text("".join(f"{line}\n" for line in pi_lines("a", said)), "utf-8")
    output = tmp_path / "smaller.jsonl"
    ended = run("compress", str(path), "--context-length", "16000", "-o", str(output))
    assert ended.code == 0
    assert 0 < output.stat().st_size < path.stat().st_size
    found = run("formats", str(output), "--json").json
    assert isinstance(found, list)
    assert [each["format"] for each in found] == ["pi"]
    assert run("validate", str(output), "--provider", "openai").code == 0
