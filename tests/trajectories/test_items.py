"""Trajectories are read from files of any size and layout, each with its place."""

import gzip
import json
import sqlite3
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent_files.files import Blocks
from holdfast.trajectories.items import (
    Item,
    Layout,
    SkippedInput,
    TrajectoryBatch,
    batches,
    find_inputs,
)
from tests.formats.samples import FORMAT_OF, SESSIONS
from tests.trajectories.material import lined, long_story, openai, sharegpt

TURNS = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]
ONE = {"id": 1, "conversations": TURNS}
LINE = lined(ONE)
MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
CUT = "the list ends before its end, or is no JSON from here on"


def ignored(_: int) -> None:
    """Hear how many bytes were read."""


def items(path: Path, format_name: str = "auto") -> list[Item]:
    """Return what a file holds."""
    inputs, _ = find_inputs([str(path)], format_name)
    return [item for batch in batches(inputs, ignored) for item in batch.items]


def written(folder: Path, content: bytes, name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def layout_of(path: Path) -> Layout:
    inputs, skipped = find_inputs([str(path)], "auto")
    assert skipped == []
    (only,) = inputs
    return only.layout


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (LINE, Layout.LINES),
        (LINE + b"\n" + LINE + b"\n", Layout.LINES),
        (b"\n\n" + LINE, Layout.LINES),
        (b"{damaged\n" + LINE, Layout.LINES),
        (lined(MESSAGES), Layout.LINES),
        (lined(MESSAGES) + b"\n" + lined(MESSAGES), Layout.LINES),
        (lined({"messages": MESSAGES}), Layout.LINES),
        (lined([ONE, ONE]), Layout.LIST),
        (json.dumps([ONE, ONE], indent=2).encode(), Layout.LIST),
        (lined([MESSAGES, MESSAGES]), Layout.LIST),
        (b"\xef\xbb\xbf" + lined([ONE]), Layout.LIST),
        (json.dumps(ONE, indent=2).encode(), Layout.WHOLE),
        (json.dumps(MESSAGES, indent=2).encode(), Layout.WHOLE),
        (b"\xef\xbb\xbf" + json.dumps(ONE, indent=2).encode(), Layout.WHOLE),
        (gzip.compress(LINE, mtime=0), Layout.LINES),
        (zstandard.compress(lined([ONE])), Layout.LIST),
    ],
)
def test_a_layout_is_told_from_the_beginning(
    tmp_path: Path, content: bytes, layout: Layout
) -> None:
    assert layout_of(written(tmp_path, content)) is layout


@pytest.mark.parametrize(
    "name", [name for name in sorted(FORMAT_OF) if FORMAT_OF[name] != "sharegpt"]
)
def test_the_log_of_an_agent_is_a_session_or_a_document_and_never_lost(name: str) -> None:
    inputs, skipped = find_inputs([str(SESSIONS / name)], "auto")
    assert [each.source for each in inputs] + [each.path for each in skipped] == [
        str(SESSIONS / name)
    ]
    if inputs and inputs[0].layout is Layout.SESSION:
        (batch,) = batches(inputs, ignored)
        assert batch == TrajectoryBatch(str(SESSIONS / name), session=inputs[0].found)


@pytest.mark.parametrize(
    "content",
    [
        LINE + b"\n" + LINE + b"\n",
        LINE + b"\n" + LINE,
        LINE + b"\r\n" + LINE + b"\r\n",
        b"\xef\xbb\xbf" + LINE + b"\n" + LINE + b"\n",
        b" \t" + LINE + b"  \n" + LINE + b"\n",
    ],
    ids=["ends", "no final newline", "crlf", "mark", "spaces"],
)
def test_lines_come_as_they_are(tmp_path: Path, content: bytes) -> None:
    assert items(written(tmp_path, content)) == [Item(1, LINE), Item(2, LINE)]


def test_empty_lines_count_for_the_number_of_a_line_and_damaged_ones_are_kept(
    tmp_path: Path,
) -> None:
    content = b"\n" + LINE + b"\n\r\n  \n" + b"{damaged\n" + LINE + b"\n\n"
    assert items(written(tmp_path, content)) == [
        Item(2, LINE),
        Item(5, b"{damaged"),
        Item(6, LINE),
    ]


def test_a_line_that_is_too_long_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.trajectories.items.LONGEST_LINE", len(LINE))
    for block in (7, 1 << 20):
        monkeypatch.setattr("holdfast.trajectories.items.Blocks", partial(Blocks, block=block))
        content = LINE + b"\n" + LINE + b" \n" + LINE + b"x" * 500 + b"\n" + LINE
        assert items(written(tmp_path, content)) == [
            Item(1, LINE),
            Item(2, b"", "it is longer than 64 MiB"),
            Item(3, b"", "it is longer than 64 MiB"),
            Item(4, LINE),
        ]


def test_a_whole_file_that_is_too_long_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, json.dumps(ONE, indent=2).encode())
    assert layout_of(path) is Layout.WHOLE
    monkeypatch.setattr("holdfast.trajectories.items.LONGEST_LINE", 40)
    assert layout_of(path) is Layout.SESSION


@given(
    st.lists(st.binary(max_size=12).map(lambda each: each.replace(b"\n", b"")), max_size=6),
    st.integers(1, 20),
)
def test_lines_are_the_same_however_the_bytes_are_split(lines: list[bytes], block: int) -> None:
    content = b"\n".join([LINE, *lines])
    expected = [
        Item(number, kept)
        for number, line in enumerate(content.split(b"\n"), 1)
        if (kept := line.removeprefix(b"\xef\xbb\xbf").strip())
    ]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.trajectories.items.Blocks", partial(Blocks, block=block))
        assert items(written(Path(folder), content)) == expected


objects = st.dictionaries(
    st.text(max_size=4),
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=10),
    max_size=3,
)


@given(st.lists(objects, max_size=6), st.sampled_from([None, 0, 1, 4]), st.booleans())
def test_the_objects_of_a_list_come_back_whole(
    entries: list[dict[str, object]], indent: int | None, ascii_only: bool
) -> None:
    content = json.dumps([ONE, *entries], indent=indent, ensure_ascii=ascii_only).encode()
    with TemporaryDirectory() as folder:
        found = items(written(Path(folder), content))
    assert [item.number for item in found] == list(range(1, len(entries) + 2))
    assert [json.loads(item.content) for item in found] == [ONE, *entries]


@given(st.lists(objects, max_size=5), st.integers(1, 40))
def test_a_list_is_never_taken_for_something_else_however_the_bytes_are_split(
    entries: list[dict[str, object]], block: int
) -> None:
    # What comes before the end of the bytes is whole; the end has a test of its own.
    content = json.dumps([ONE, *entries, *[ONE] * 8], ensure_ascii=False).encode()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.trajectories.items.Blocks", partial(Blocks, block=block))
        found = items(written(Path(folder), content))
    read = [json.loads(item.content) for item in found if not item.problem]
    assert read == [ONE, *entries, *[ONE] * 8][: len(read)]
    assert len(read) > len(entries)


def test_a_list_of_lists_of_messages_is_read(tmp_path: Path) -> None:
    found = items(written(tmp_path, json.dumps([MESSAGES, MESSAGES], indent=1).encode()))
    assert [(item.number, json.loads(item.content)) for item in found] == [
        (1, MESSAGES),
        (2, MESSAGES),
    ]


@pytest.mark.parametrize("end", [b"", b",", b', {"id": 2, "conv', b", nonsense]"])
def test_a_list_that_is_cut_or_damaged_gives_what_came_before(tmp_path: Path, end: bytes) -> None:
    content = b"[" + LINE + b"," + LINE + end
    assert items(written(tmp_path, content)) == [Item(1, LINE), Item(2, LINE), Item(3, b"", CUT)]


def test_an_element_that_is_too_long_ends_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.trajectories.items.LONGEST_LINE", 200)
    monkeypatch.setattr("holdfast.trajectories.items.Blocks", partial(Blocks, block=50))
    content = lined([ONE, {**ONE, "note": "x" * 900}, ONE])
    reason = "it is longer than 64 MiB, or is no JSON"
    assert items(written(tmp_path, content)) == [Item(1, LINE), Item(2, b"", reason)]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("listed", [False, True])
def test_packed_files_are_read(
    tmp_path: Path, pack: Callable[[bytes], bytes], listed: bool
) -> None:
    content = lined([ONE] * 3) if listed else b"\n".join([LINE] * 3)
    found = items(written(tmp_path, pack(content), "set.jsonl.packed"))
    assert found == [Item(number, LINE) for number in (1, 2, 3)]


def test_a_packed_file_that_is_cut_says_so_at_its_end(tmp_path: Path) -> None:
    lines = [lined({**ONE, "id": number}) for number in range(2_000)]
    packed = gzip.compress(b"\n".join(lines))
    found = items(written(tmp_path, packed[: len(packed) // 2]))
    *read, last, problem = found
    assert read
    assert read == [Item(number, line) for number, line in enumerate(lines[: len(read)], 1)]
    assert lines[len(read)].startswith(last.content)
    assert problem == Item(
        last.number + 1,
        b"",
        "the file ends in the middle of its packed content; what came before was read",
    )


def test_a_whole_file_is_one_trajectory(tmp_path: Path) -> None:
    content = json.dumps(ONE, indent=2).encode()
    assert items(written(tmp_path, b"\xef\xbb\xbf" + content)) == [Item(1, content)]


def test_a_folder_is_read_in_order_and_what_holds_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    written(tmp_path, LINE, "b.jsonl")
    written(tmp_path, lined([ONE]), "a.json")
    written(tmp_path / "sub", LINE, "c.jsonl")
    written(tmp_path, b"", "empty.jsonl")
    written(tmp_path, b"# Notes\n", "README.md")
    written(tmp_path, b"[]", "none.json")
    written(tmp_path, b"\x1f\x8bnot packed", "broken.gz")
    inputs, skipped = find_inputs([str(tmp_path)], "auto")
    assert [Path(each.source).name for each in inputs] == ["a.json", "b.jsonl", "c.jsonl"]
    assert [each.size for each in inputs] == [len(LINE) + 2, len(LINE), len(LINE)]
    told = {Path(each.path).name: each for each in skipped}
    assert {name: each.is_named for name, each in told.items()} == dict.fromkeys(
        ["empty.jsonl", "README.md", "none.json", "broken.gz"], False
    )
    assert told["README.md"].reason == "it is not JSON"
    assert told["none.json"].reason == "it is an empty list"


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.jsonl")
    assert find_inputs([missing], "auto") == (
        [],
        [SkippedInput(missing, "there is no such file or folder", is_named=True)],
    )


def test_a_file_that_may_not_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, LINE)
    opened = Path.open

    def closed(self: Path, *arguments: object) -> object:
        if self == path:
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments)  # pyright: ignore[reportArgumentType, reportCallIssue]

    monkeypatch.setattr(Path, "open", closed)
    inputs, (skipped,) = find_inputs([str(path)], "auto")
    assert inputs == []
    assert skipped == SkippedInput(
        str(path), f"cannot read {path}: permission denied", is_named=True
    )


def test_a_database_of_something_else_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("create table t (x)")
    database.close()
    inputs, (skipped,) = find_inputs([str(path)], "auto")
    assert inputs == []
    assert skipped.path == str(path)


def test_a_format_that_is_named_is_believed(tmp_path: Path) -> None:
    path = written(tmp_path, LINE)
    assert [each.layout for each in find_inputs([str(path)], "sharegpt")[0]] == [Layout.LINES]
    (taken,), _ = find_inputs([str(path)], "pi")
    assert (taken.layout, taken.found.guess.format) == (Layout.SESSION, "pi")


def test_a_batch_is_closed_by_its_number_or_its_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, b"\n".join([LINE] * 150))
    inputs, _ = find_inputs([str(path)], "auto")
    found = list(batches(inputs, ignored))
    assert [len(batch.items) for batch in found] == [64, 64, 22]
    assert {batch.source for batch in found} == {str(path)}
    heavy = lined({**ONE, "note": "x" * 400_000})
    inputs, _ = find_inputs([str(written(tmp_path, b"\n".join([heavy] * 7)))], "auto")
    assert [len(batch.items) for batch in batches(inputs, ignored)] == [3, 3, 1]


def test_whoever_reads_hears_of_every_byte(tmp_path: Path) -> None:
    written(tmp_path, b"\n".join([LINE] * 40), "a.jsonl")
    written(tmp_path, lined([ONE] * 9), "b.json")
    written(tmp_path, gzip.compress(LINE, mtime=0), "c.gz")
    written(tmp_path, (SESSIONS / "pi_v3.jsonl").read_bytes(), "d.jsonl")
    inputs, _ = find_inputs([str(tmp_path)], "auto")
    heard: list[int] = []
    list(batches(inputs, heard.append))
    assert sum(heard) == sum(each.size for each in inputs)
    assert [each.layout for each in inputs][-1] is Layout.SESSION


@pytest.mark.parametrize("listed", [False, True])
def test_a_large_file_takes_the_memory_of_a_batch(tmp_path: Path, listed: bool) -> None:
    entry = lined({"conversations": sharegpt(long_story(20)), "raw": openai(long_story(20))})
    number = 24_000_000 // len(entry)
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.write(b"[" if listed else b"")
        for place in range(number):
            stream.write((b",\n" if listed else b"\n") * bool(place) + entry)
        stream.write(b"]" if listed else b"")
    inputs, _ = find_inputs([str(path)], "auto")
    tracemalloc.start()
    try:
        assert sum(len(batch.items) for batch in batches(inputs, ignored)) == number
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 23_000_000
    assert peak < 16_000_000
