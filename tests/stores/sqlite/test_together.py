"""What is written together happens at once, or not at all."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.errors import StoreError, UnknownSession
from holdfast.ports import Amendment
from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.transcript import Message, Role, Text


def store_with_sessions(path: Path) -> SqliteStore:
    store = SqliteStore(path / "store.db")
    for name in ("one", "two"):
        store.create(Session(id=name, source="test", started=1))
    return store


def draft(text: str) -> Draft:
    return Draft(message=Message(Role.USER, (Text(text),)), at=1, tokens=1)


def append_together(store: SqliteStore, said: Mapping[str, str]) -> None:
    with store.together():
        for name, text in said.items():
            store.append(name, [draft(text)])


def texts(store: SqliteStore, name: str) -> list[str]:
    return [entry.message.text for entry in store.since(name, 0)]


def test_what_was_written_is_seen_within_and_by_others_at_the_end(tmp_path: Path) -> None:
    store, other = store_with_sessions(tmp_path), SqliteStore(tmp_path / "store.db")
    with store.together():
        store.append("one", [draft("apples")])
        store.append("two", [draft("pears")])
        assert (texts(store, "one"), texts(store, "two")) == (["apples"], ["pears"])
        assert store.refresh("one", None).state.session.size == 1
        assert (texts(other, "one"), texts(other, "two")) == ([], [])
    assert (texts(other, "one"), texts(other, "two")) == (["apples"], ["pears"])
    assert len(other.search("apples", Filters(), limit=5, now=2)) == 1


def test_nothing_happens_when_one_step_fails(tmp_path: Path) -> None:
    store = store_with_sessions(tmp_path)
    both = {"one": "apples", "none": "pears"}
    with pytest.raises(UnknownSession):
        append_together(store, both)
    assert texts(store, "one") == []
    # The words of what did not happen are not taken for known ones.
    store.append("one", [draft("apples")])
    assert len(store.search("apples", Filters(), limit=5, now=2)) == 1
    assert store.check().problems == ()


def test_a_failed_write_that_was_passed_over_lets_nothing_happen(tmp_path: Path) -> None:
    store = store_with_sessions(tmp_path)

    def write() -> None:
        with store.together():
            store.append("one", [draft("apples")])
            with suppress(UnknownSession):
                store.amend("none", Amendment(title="of nothing"))

    with pytest.raises(StoreError, match="one of several writes failed"):
        write()
    assert texts(store, "one") == []


def test_a_failed_look_does_no_harm(tmp_path: Path) -> None:
    store = store_with_sessions(tmp_path)
    with store.together():
        with pytest.raises(UnknownSession):
            store.session("none")
        store.append("one", [draft("apples")])
    assert texts(store, "one") == ["apples"]


def test_other_threads_see_what_was_there_and_write_afterwards(tmp_path: Path) -> None:
    store, seen = store_with_sessions(tmp_path), list[list[str]]()

    def look() -> None:
        seen.append(texts(store, "one"))

    def write() -> None:
        store.append("one", [draft("pears")])

    with store.together():
        store.append("one", [draft("apples")])
        looking, writing = threading.Thread(target=look), threading.Thread(target=write)
        looking.start()
        looking.join()
        writing.start()
    writing.join()
    assert seen == [[]]
    assert texts(store, "one") == ["apples", "pears"]
