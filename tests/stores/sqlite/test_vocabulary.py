"""The spellings in memory: always those of the file that is read, however they came into it."""

from contextlib import closing
from pathlib import Path

import pytest

from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore, index
from holdfast.transcript import Message, Role, Text


def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    store.create(Session(id="one", source="test", started=1))
    return store


def test_a_part_is_found_at_the_beginning_in_the_middle_and_at_the_end(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "store.db")) as store:
        _say(store, "wallpaper", "unwalled", "drywall", "door")
        assert _found(store, "wall") == {1, 2, 3}


def test_an_empty_store_holds_no_words(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "store.db")) as store:
        assert _found(store, "wall") == set()
        _say(store, "drywall")
        assert _found(store, "wall") == {1}


@pytest.mark.parametrize("count", [1, 100, 101, 300])
def test_words_that_came_after_the_first_search_are_found(tmp_path: Path, count: int) -> None:
    with closing(opened(tmp_path / "store.db")) as store:
        _say(store, "drywall")
        assert _found(store, "wall") == {1}
        _say(store, *[f"{_letters(number)}brick" for number in range(count)])
        assert _found(store, f"{_letters(count - 1)[1:]}bric") >= {count + 1}
        assert _found(store, "wall") == {1}


def test_words_of_another_process_are_found(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(opened(path)) as store, closing(SqliteStore(path)) as other:
        _say(store, "seawall")
        assert _found(store, "wall") == {1}
        _say(other, "drywall")
        assert _found(store, "wall") == {1, 2}


def test_many_words_one_after_another_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_ADDED", 5)
    with closing(opened(tmp_path / "store.db")) as store:
        for number in range(12):
            _say(store, f"{_letters(number)}brick stone")
            assert _found(store, f"{_letters(number)[1:]}bric") == {number + 1}


def test_words_that_are_too_many_to_hold_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MOST_WORDS", 1)
    with closing(opened(tmp_path / "store.db")) as store:
        for number, text in enumerate(("seawall", "drywall stonewall", "wallpaper"), start=1):
            _say(store, text)
            assert _found(store, "wall") == set(range(1, number + 1))


def test_after_a_repair_and_a_purge_the_others_are_found(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "store.db")) as store:
        _say(store, "seawall")
        store.create(Session(id="two", source="test", started=1))
        store.append("two", [_draft("drywall")])
        assert _found(store, "wall") == {1, 2}
        store.trash(["two"], 5)
        store.purge(["two"])
        assert _found(store, "wall") == {1}
        store.repair()
        _say(store, "stonewall")
        assert _found(store, "wall") == {1, 3}


def test_a_file_that_is_put_in_place_has_its_own_words(tmp_path: Path) -> None:
    path, spare = tmp_path / "store.db", tmp_path / "spare.db"
    with closing(opened(path)) as store:
        store.backup(spare)
        _say(store, "seawall", "drywall")
        assert _found(store, "wall") == {1, 2}
        with closing(SqliteStore(spare)) as other:
            _say(other, "stonewall", "wallflower")
        for suffix in ("-wal", "-shm"):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
        spare.replace(path)
        assert _found(store, "onewal") == {1}
        assert _found(store, "rywal") == set()


def _say(store: SqliteStore, *texts: str) -> None:
    store.append("one", [_draft(text) for text in texts])


def _draft(text: str) -> Draft:
    return Draft(message=Message(Role.USER, (Text(text),)), at=1, tokens=5)


def _found(store: SqliteStore, part: str) -> set[int]:
    return {hit.message_id for hit in store.search(part, Filters(), limit=9, now=0)}


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")
