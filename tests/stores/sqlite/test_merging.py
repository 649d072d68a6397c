"""Merging the pieces of the word index: little by little, and never by FTS5 alone."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.index import INDEX_TABLES, WordIndex, merge_some
from tests.promises.store_text import FIXTURES, load


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        for statement in INDEX_TABLES:
            made.execute(statement)
        yield made


def automerge(connection: sqlite3.Connection) -> object:
    row = connection.execute("SELECT v FROM message_words_config WHERE k = 'automerge'").fetchone()
    return None if row is None else row[0]


def pieces(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(DISTINCT segid) FROM message_words_idx").fetchone()
    return count


def batches(count: int, size: int) -> Iterator[list[tuple[int, str]]]:
    """Yield messages of which each says some words that others say too."""
    for first in range(1, count * size, size):
        yield [
            (id_, " ".join(f"word{id_ * step % 997}" for step in range(1, 20)))
            for id_ in range(first, first + size)
        ]


@pytest.mark.parametrize(
    "version", sorted(FIXTURES.glob("store_v*.sql")), ids=lambda path: path.stem
)
def test_a_file_of_any_version_leaves_merging_to_us_once_it_is_opened(
    version: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    load(version.read_text("utf-8"), path)
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert automerge(connection) == 0


def test_a_repaired_index_leaves_merging_to_us(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE message_words")
    with closing(SqliteStore(path)) as store:
        store.repair()
    with closing(sqlite3.connect(path)) as connection:
        assert automerge(connection) == 0


def test_the_index_stays_in_few_pieces_when_many_batches_are_written(
    connection: sqlite3.Connection,
) -> None:
    index, counts = WordIndex(), list[int]()
    for batch in batches(300, 20):
        index.add(connection, batch)
        counts.append(pieces(connection))
    assert max(counts) <= 20


def test_the_index_stays_in_few_pieces_when_messages_are_taken_out(
    connection: sqlite3.Connection,
) -> None:
    index, counts = WordIndex(), list[int]()
    written = list(batches(150, 20))
    for batch in written:
        index.add(connection, batch)
    for batch in written:
        index.remove(connection, batch)
        counts.append(pieces(connection))
    assert max(counts) <= 20


def test_what_is_merged_is_found_as_before(connection: sqlite3.Connection) -> None:
    index, said = WordIndex(), dict[int, str]()
    for batch in batches(60, 20):
        index.add(connection, batch)
        said.update(batch)
    connection.execute("INSERT INTO message_words(message_words) VALUES ('integrity-check')")
    for word in ("word1", "word500", "word996"):
        found = connection.execute(
            "SELECT rowid FROM message_words WHERE message_words MATCH ? ORDER BY rowid", (word,)
        )
        expected = [id_ for id_, text in said.items() if word in text.split()]
        assert [id_ for (id_,) in found] == expected


@pytest.mark.parametrize(
    ("ids", "merges"),
    [([], False), ([1], False), ([15], True), ([16], False), ([3, 9], False), ([9, 40], True)],
)
def test_one_message_in_sixteen_brings_a_merge(
    connection: sqlite3.Connection, ids: list[int], merges: bool
) -> None:
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    merge_some(connection, [(id_, "text") for id_ in ids])
    assert bool(asked) is merges
