"""The word index: in the caller's transaction, and without any text of its own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import fold
from holdfast.stores.sqlite.index import INDEX_TABLES, WordIndex, waiting_spellings


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(opened()) as made:
        yield made


def opened() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in INDEX_TABLES:
        connection.execute(statement)
    return connection


def ids(connection: sqlite3.Connection, written: str) -> list[int]:
    rows = connection.execute(
        "SELECT rowid FROM message_words WHERE message_words MATCH ? ORDER BY rowid", (written,)
    )
    return [id_ for (id_,) in rows]


def spellings(connection: sqlite3.Connection) -> list[str]:
    listed = {word for (word,) in connection.execute("SELECT word FROM spellings")}
    return sorted(listed.union(waiting_spellings(connection).split()))


def test_words_are_found_by_id(connection: sqlite3.Connection) -> None:
    WordIndex().add(connection, [(7, "The foxes ran"), (9, "去东京塔"), (11, "")])
    assert ids(connection, '"fox"') == [7]
    assert ids(connection, '"东京 京塔"') == [9]
    assert spellings(connection) == ["foxes", "ran", "the"]


def test_what_is_removed_is_not_found(connection: sqlite3.Connection) -> None:
    index = WordIndex()
    index.add(connection, [(1, "brown fox"), (2, "red fox")])
    index.remove(connection, [(1, "brown fox"), (3, "")])
    assert ids(connection, '"fox"') == [2]
    assert ids(connection, '"brown"') == []
    connection.execute("INSERT INTO message_words(message_words) VALUES ('integrity-check')")


@given(st.lists(st.text(st.characters() | st.sampled_from("aB#+é去东ß\u0301→")), max_size=4))
def test_what_is_indexed_is_what_is_removed(texts: list[str]) -> None:
    with closing(opened()) as connection:
        connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(message_words, 'instance')")
        rows = [(id_, text) for id_, text in enumerate(texts) if text]
        index = WordIndex()
        index.add(connection, rows)
        indexed = connection.execute("SELECT * FROM terms").fetchall()
        index.remove(connection, rows)
        assert connection.execute("SELECT * FROM terms").fetchall() == []
        connection.executemany(
            "INSERT INTO message_words(rowid, text) VALUES (?, ?)",
            [(id_, fold(text)) for id_, text in rows],
        )
        assert connection.execute("SELECT * FROM terms").fetchall() == indexed


def test_words_of_a_rolled_back_transaction_are_stored_later(
    connection: sqlite3.Connection,
) -> None:
    index = WordIndex()
    connection.execute("BEGIN")
    index.add(connection, [(1, "walrus")])
    connection.execute("ROLLBACK")
    index.forget()
    index.add(connection, [(1, "walrus")])
    assert spellings(connection) == ["walrus"]


def test_another_index_on_the_same_file_stores_no_word_twice(
    connection: sqlite3.Connection,
) -> None:
    WordIndex().add(connection, [(1, "walrus")])
    WordIndex().add(connection, [(2, "walrus")])
    assert spellings(connection) == ["walrus"]
    assert ids(connection, '"walrus"') == [1, 2]


def test_a_rebuild_holds_what_the_log_holds(connection: sqlite3.Connection) -> None:
    index = WordIndex()
    index.add(connection, [(1, "stale words")])
    assert index.rebuild(connection, ((id_, f"word{id_} fox") for id_ in range(1, 1_203))) == 1_202
    assert ids(connection, '"stale"') == []
    assert len(ids(connection, '"fox"')) == 1_202
    assert "stale" not in spellings(connection)


def test_the_index_holds_no_text(connection: sqlite3.Connection) -> None:
    WordIndex().add(connection, [(1, "walrus")])
    row = connection.execute("SELECT text FROM message_words WHERE message_words MATCH 'walrus'")
    assert row.fetchall() == [(None,)]
