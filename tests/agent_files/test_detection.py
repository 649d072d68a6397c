"""What a file is, its content says; what it tells comes with its place and its damage."""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.agent_files.detection import (
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    examine,
    tell_files,
)
from holdfast.agent_files.files import Unreadable
from holdfast.formats import source
from holdfast.formats.catalog import HEAD
from holdfast.formats.events import Event, MessageEvent, Problem
from tests.agent_files.agent_files import file_at, pi_lines, write_pi
from tests.formats.samples import FORMAT_OF, SESSIONS

CHAT = {"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]}


def texts(events: Iterator[Event]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, MessageEvent)]


def problems(events: Iterator[Event]) -> list[Problem]:
    return [event for event in events if isinstance(event, Problem)]


@pytest.mark.parametrize("name", [name for name in FORMAT_OF if (SESSIONS / name).exists()])
def test_every_sample_is_recognized_and_told_packed_or_not(name: str, tmp_path: Path) -> None:
    content = (SESSIONS / name).read_bytes()
    for number, packed in enumerate((content, gzip.compress(content))):
        path = tmp_path / f"session-{number}.bin"
        path.write_bytes(packed)
        look = examine(file_at(path), ReadOptions())
        assert isinstance(look, FoundFile)
        assert look.guess.format == FORMAT_OF[name]
        assert any(isinstance(event, MessageEvent) for event in look.tell())


def test_a_line_that_is_too_long_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LONGEST_DOCUMENT", 4 << 20)
    path = tmp_path / "file"
    path.write_bytes(b'{"a": "' + b"x" * (5 << 20) + b'"}')
    look = examine(file_at(path), ReadOptions())
    assert look == SkippedFile(file_at(path), "the line is longer than 4 MiB")


def test_a_file_that_unpacks_to_a_thousand_times_its_size_is_read_no_further(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    line = json.dumps({"role": "user", "content": "hi"}).encode()
    path.write_bytes(gzip.compress(line + b"\n" * (200 << 20)))
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, FoundFile)
    (problem,) = problems(look.tell())
    assert "times its size, which no session does; unpack it yourself" in problem.reason
    assert texts(look.tell()) == ["hi"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "it is binary, not text"),
        (b"Dear diary,\n", "it is not JSON"),
        (b'{"name": "x"', "no line of it is JSON"),
        (b"[]", "it is an empty list"),
        (b'{\n "name": "x"\n', "line 3 column 1: Expecting ',' delimiter"),
        (b'{"name": "x"}\n', "the shape of the JSON is unknown: an object with the keys name"),
        (b"[1]\n", "the shape of the JSON is unknown: its first value is a number"),
    ],
)
def test_what_holds_no_session_is_passed_over_with_the_reason(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, SkippedFile)
    assert look.reason.startswith(reason)


def test_a_file_that_went_away_is_closed(tmp_path: Path) -> None:
    file = file_at(write_pi(tmp_path / "a.jsonl", "a", "hello"))
    file.path.unlink()
    reason = f"cannot read {file.path}: there is no such file or folder"
    assert examine(file, ReadOptions()) == UnreadableFile(file, reason)
    with pytest.raises(Unreadable):
        list(tell_files((file,), "pi", ReadOptions()))


def test_a_database_of_nobody_is_passed_over_and_a_broken_one_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (words TEXT)")
    look = examine(file_at(path), ReadOptions())
    assert look == SkippedFile(file_at(path), "no agent that we know has these tables: notes")
    path.write_bytes(path.read_bytes()[:1000])
    assert isinstance(examine(file_at(path), ReadOptions()), UnreadableFile)


def test_the_first_session_is_known_before_the_file_is_told(tmp_path: Path) -> None:
    look = examine(file_at(write_pi(tmp_path / "b", "b", "hi", parent="a")), ReadOptions())
    assert isinstance(look, FoundFile)
    assert (look.about.id, look.about.parent, look.about.cwd) == ("b", "a", "/srv")


def test_a_file_is_told_anew_each_time(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a", "a", "one")
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, FoundFile)
    assert texts(look.tell()) == ["one"]
    write_pi(path, "a", "one", "two")
    assert texts(look.tell()) == ["one", "two"]


def test_more_lines_than_show_what_a_file_is_are_told(tmp_path: Path) -> None:
    said = [f"line {number}" for number in range(HEAD * 2)]
    look = examine(file_at(write_pi(tmp_path / "a", "a", *said)), ReadOptions())
    assert isinstance(look, FoundFile)
    assert texts(look.tell()) == said


def test_bad_lines_are_problems_with_file_and_line(tmp_path: Path) -> None:
    header, first, second = pi_lines("a", ["one", "two"])
    path = tmp_path / "a"
    path.write_text(f'{header}\n{first}\n{{"cut\n17\n{second}\n{{"half": ', "utf-8")
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, FoundFile)
    assert texts(look.tell()) == ["one", "two"]
    found = problems(look.tell())
    assert [(each.line, each.file) for each in found] == [(n, str(path)) for n in (3, 4, 6)]
    assert found[1].reason == "expected an object, found a number"


def test_half_a_line_at_the_end_of_a_live_file_is_no_problem(tmp_path: Path) -> None:
    header, first, second = pi_lines("a", ["one", "two"])
    path = tmp_path / "a"
    path.write_text(f'{header}\n{{"cut\n{first}\n{second[:40]}', "utf-8")
    look = examine(file_at(path), ReadOptions(live=True))
    assert isinstance(look, FoundFile)
    assert [each.line for each in problems(look.tell())] == [2]
    with path.open("a", encoding="utf-8") as stream:
        stream.write(second[40:])
    assert texts(look.tell()) == ["one", "two"]


def test_a_cut_packed_file_tells_what_came_before_the_cut(tmp_path: Path) -> None:
    said = [f"line {number}" for number in range(50)]
    lines = "".join(f"{line}\n" for line in pi_lines("a", said)).encode()
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(lines) + gzip.compress(lines)[:20])
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, FoundFile)
    assert texts(look.tell()) == said
    assert problems(look.tell())[-1].reason.startswith("the file ends in the middle of its packed")


def test_a_provider_document_is_told_and_a_bad_one_among_many_is_a_problem(
    tmp_path: Path,
) -> None:
    broken = {"messages": [{"role": "tool", "content": "no id"}]}
    path = tmp_path / "chats"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (CHAT, broken, CHAT)), "utf-8")
    look = examine(file_at(path), ReadOptions())
    assert isinstance(look, FoundFile)
    assert look.guess.format == "openai"
    assert texts(look.tell()) == ["one", "two", "one", "two"]
    assert [each.line for each in problems(look.tell())] == [2]


def test_the_format_that_somebody_names_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "chat"
    path.write_text(json.dumps(CHAT), "utf-8")
    look = examine(file_at(path), ReadOptions(format="anthropic"))
    assert isinstance(look, FoundFile)
    assert (look.guess.format, look.guess.reason) == ("anthropic", "--format says so")
    assert texts(look.tell()) == ["one", "two"]
    assert examine(file_at(path), ReadOptions(format="langgraph")) == SkippedFile(
        file_at(path), "it is text; langgraph is a database"
    )


def test_whoever_asks_hears_how_many_bytes_were_read(tmp_path: Path) -> None:
    seen: list[int] = []
    file = file_at(write_pi(tmp_path / "a", "a", "one"))
    look = examine(file, ReadOptions(seen=seen.append))
    assert isinstance(look, FoundFile)
    assert seen == []
    assert texts(look.tell()) == ["one"]
    assert sum(seen) == file.size == look.size


@pytest.mark.parametrize(
    "content", [b"\x28\xb5\x2f\xfd\x00\x00", gzip.compress(b"{}")[:8]], ids=["zstd", "gzip"]
)
def test_a_packed_file_that_holds_nothing_readable_is_closed(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    reason = "it is packed, and nothing of it can be unpacked: it is cut or damaged"
    assert examine(file_at(path), ReadOptions()) == UnreadableFile(file_at(path), reason)


def test_a_damaged_line_of_a_live_file_is_named_once_it_was_ended(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "hello")
    before = path.read_text("utf-8")

    def named(end: str) -> list[int]:
        path.write_text(before + end, "utf-8")
        look = examine(file_at(path), ReadOptions(live=True))
        assert isinstance(look, FoundFile)
        return [problem.line for problem in problems(look.tell())]

    assert named("garbage") == []
    assert named("garbage\n") == [3]
    assert named("garbage\nmore") == [3]


def test_a_format_that_no_line_has_is_taken_without_confidence(tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a.jsonl", "a", "hello")
    look = examine(file_at(path), ReadOptions(format="claude-code"))
    assert isinstance(look, FoundFile)
    assert (look.guess.confidence, look.guess.reason) == (
        0.0,
        "no line at its beginning is one of claude-code",
    )
