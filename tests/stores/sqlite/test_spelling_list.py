"""The list of spellings: a word is found whether it waits or is listed, and waits not for long."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore, index
from holdfast.stores.sqlite.index import (
    LIST_TABLES,
    WAITING_TABLES,
    add_spellings,
    clear_spellings,
    waiting_spellings,
    words_with,
)
from holdfast.transcript import Message, Role, Text

WORDS = st.text("abcdefgh", min_size=3, max_size=6)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(opened()) as made:
        yield made


def test_new_words_wait(connection: sqlite3.Connection) -> None:
    add_spellings(connection, ["walrus", "otter"])
    add_spellings(connection, ["seal"])
    add_spellings(connection, [])
    assert waiting_spellings(connection) == "\notter\nwalrus\nseal\n"
    assert listed(connection) == []
    assert numbers(connection) == [2, 3]


def test_enough_words_are_listed_in_one_go(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_WAITING", 4)
    add_spellings(connection, ["walrus", "otter", "seal"])
    assert listed(connection) == []
    add_spellings(connection, ["walrus"])
    assert listed(connection) == ["otter", "seal", "walrus"]
    assert waiting_spellings(connection) == "\n"
    add_spellings(connection, ["seal"])
    assert numbers(connection) == [1]


def test_a_list_that_is_cleared_holds_nothing(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_WAITING", 2)
    add_spellings(connection, ["walrus", "otter"])
    add_spellings(connection, ["seal"])
    clear_spellings(connection)
    assert (listed(connection), waiting_spellings(connection)) == ([], "\n")


@given(st.lists(st.lists(WORDS, max_size=5), max_size=12), st.integers(1, 9))
def test_no_word_is_lost_however_they_come(batches: list[list[str]], most: int) -> None:
    with closing(opened()) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_MOST_WAITING", most)
        for batch in batches:
            add_spellings(connection, batch)
            assert sum(numbers(connection)[-1:]) < most
        found = {*listed(connection), *waiting_spellings(connection).split()}
    assert found == {word for batch in batches for word in batch}


@given(st.lists(WORDS), st.text("abcdefgh", min_size=1, max_size=3), st.integers(1, 5))
def test_a_part_is_found_in_the_first_words_that_hold_it(
    words: list[str], part: str, most: int
) -> None:
    text = "\n".join(["", *words, ""]) if words else "\n"
    holding = list(dict.fromkeys(word for word in words if part in word))
    assert words_with(text, part, most) == holding[:most]


@pytest.mark.parametrize("most_waiting", [1, 3, 1_000])
@pytest.mark.parametrize("most_held", [0, 1_000])
def test_a_search_finds_the_same_whether_words_wait_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_waiting: int, most_held: int
) -> None:
    monkeypatch.setattr(index, "_MOST_WAITING", most_waiting)
    monkeypatch.setattr(index, "_MOST_WORDS", most_held)
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(Session(id="one", source="test", started=1))
        for text in ("release_schedule", "the seawall", "drywalls schedules", "a walled garden"):
            draft = Draft(message=Message(Role.USER, (Text(text),)), at=1, tokens=5)
            store.append("one", [draft])
        found = [
            {hit.message_id for hit in store.search(query, Filters(), limit=9, now=0)}
            for query in ("lease_sched", "wall", "sched*", "eawal")
        ]
    assert found == [{1}, {2, 3, 4}, {1, 3}, {2}]


def opened() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in (*LIST_TABLES, *WAITING_TABLES):
        connection.execute(statement)
    return connection


def listed(connection: sqlite3.Connection) -> list[str]:
    return [word for (word,) in connection.execute("SELECT word FROM spellings")]


def numbers(connection: sqlite3.Connection) -> list[int]:
    rows = connection.execute("SELECT upto FROM spellings_waiting ORDER BY upto")
    return [number for (number,) in rows]
