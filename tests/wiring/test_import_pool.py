"""Several processes import what one would, whatever becomes of them."""

import pickle
from collections.abc import Iterator
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest

from holdfast.agent_files.detection import FoundFile, ReadOptions, examine_all, gather
from holdfast.agent_files.finding import File, find_files
from holdfast.config import Settings
from holdfast.config.settings import StoreSettings
from holdfast.ports import Listing
from holdfast.stores.sqlite import SqliteStore
from holdfast.wiring.import_job import ImportJob, ImportResult, ImportStatus
from holdfast.wiring.import_pool import ImportPool, families_of
from tests.agent_files.agent_files import write_pi

LONG = "word " * 5_000
"""So much that each message is worth handing out."""
CHAT = '{"messages": [{"role": "user", "content": "hello"}]}'


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "holdfast.db"


@pytest.fixture
def store(place: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(place)) as store:
        yield store


def settings(place: Path) -> Settings:
    return Settings(store=StoreSettings(url=str(place)))


def finds(folder: Path) -> list[FoundFile]:
    heard: list[int] = []
    looks = gather(find_files([str(folder)]).files, ReadOptions(seen=heard.append))
    return [look for look in looks if isinstance(look, FoundFile)]


def names(finds: list[list[FoundFile]]) -> list[list[str]]:
    return [[found.files[0].path.name for found in family] for family in finds]


def write_some(folder: Path) -> None:
    for number in range(6):
        write_pi(folder / f"p{number}", f"p{number}", *(f"{LONG}{n}" for n in range(number + 1)))
    write_pi(folder / "a-child", "child", "more", parent="p5")
    (folder / "copy.json").write_text(CHAT)
    (folder / "copy-of-it.json").write_text(CHAT)


def test_files_that_depend_on_each_other_stay_together(tmp_path: Path) -> None:
    write_some(tmp_path)
    write_pi(tmp_path / "q", "p0", "word 0")
    assert names(families_of(finds(tmp_path))) == [
        ["p5", "a-child"],
        ["copy-of-it.json", "copy.json"],
        ["p0", "q"],
        ["p1"],
        ["p2"],
        ["p3"],
        ["p4"],
    ]
    assert families_of([]) == []


def test_a_find_goes_to_another_process_without_who_hears(tmp_path: Path) -> None:
    (found,) = finds(write_pi(tmp_path / "a", "a", "one"))
    sent = pickle.loads(pickle.dumps(found))
    assert (sent.files, sent.guess, sent.about) == (found.files, found.guess, found.about)
    assert list(sent.tell()) == list(found.tell())


def files_of(found: list[FoundFile]) -> list[File]:
    return [file for each in found for file in each.files]


def take_all(pool: ImportPool, place: Path, found: list[FoundFile]) -> list[ImportResult]:
    """Take finds as the command does: the store is opened here after an early start."""
    with closing(SqliteStore(place)) as store, pool:
        pool.start(files_of(found))
        together = pool.take(found, ImportJob(store, settings(place)).take)
        assert together is not None
        return list(together)


def stored(place: Path) -> dict[str, tuple[int, str | None]]:
    with closing(SqliteStore(place)) as store:
        assert store.check().problems == ()
        return {each.id: (each.size, each.parent) for each in store.sessions(Listing())}


def stored_by_one(place: Path, found: list[FoundFile]) -> dict[str, tuple[int, str | None]]:
    with closing(SqliteStore(place)) as store:
        job = ImportJob(store, Settings())
        for each in found:
            job.take(each)
    return stored(place)


@pytest.mark.parametrize("is_early", [True, False])
def test_several_processes_import_what_one_would(
    place: Path, tmp_path: Path, *, is_early: bool
) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    pool = ImportPool(settings(place), jobs=3)
    if is_early:
        pool.start_early(files_of(found))
    done = {taken.found.files[0].path.name: taken for taken in take_all(pool, place, found)}
    statuses = {name: taken.status for name, taken in done.items()}
    assert statuses.pop("copy.json") is ImportStatus.UNCHANGED
    assert len(statuses) == 8
    assert set(statuses.values()) == {ImportStatus.IMPORTED}
    assert stored(place) == stored_by_one(tmp_path / "alone.db", found)


def test_what_other_processes_cannot_do_is_done_here(place: Path, tmp_path: Path) -> None:
    write_some(tmp_path / "files")
    (tmp_path / "file").write_text("no folder")
    nowhere = settings(tmp_path / "file" / "holdfast.db")
    assert len(take_all(ImportPool(nowhere, jobs=2), place, finds(tmp_path / "files"))) == 9
    assert len(stored(place)) == 8


@pytest.mark.parametrize("is_early", [True, False])
def test_what_killed_processes_had_is_done_here(
    place: Path, tmp_path: Path, *, is_early: bool
) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    with ImportPool(settings(place), jobs=3) as pool:
        (pool.start_early if is_early else pool.start)(files_of(found))
        for process in active_children():
            process.kill()
        assert len(take_all(pool, place, found)) == 9
    assert active_children() == []
    assert stored(place) == stored_by_one(tmp_path / "alone.db", found)


@pytest.mark.parametrize("is_killed", [True, False])
def test_processes_find_out_what_one_would(place: Path, tmp_path: Path, *, is_killed: bool) -> None:
    write_some(tmp_path)
    (tmp_path / "notes.txt").write_text("no session")
    files = find_files([str(tmp_path)]).files
    heard: list[int] = []
    reading = ReadOptions(seen=heard.append)
    with ImportPool(settings(place), jobs=3) as pool:
        pool.start_early(files)
        if is_killed:
            for process in active_children():
                process.kill()
        looks = pool.examine(files, reading)
    assert looks == examine_all(files, reading)
    found = [look for look in looks if isinstance(look, FoundFile)]
    assert len(found) == len(files) - 1
    for each in found:
        list(each.tell())
    assert sum(heard) == sum(each.size for each in found)


def test_small_files_go_to_a_process_together(place: Path, tmp_path: Path) -> None:
    for number in range(40):
        write_pi(tmp_path / f"{number}", f"p{number}", f"word {number}")
    found = finds(tmp_path)
    pool = ImportPool(settings(place), jobs=2)
    pool.start_early(files_of(found))
    assert {taken.status for taken in take_all(pool, place, found)} == {ImportStatus.IMPORTED}
    assert len(stored(place)) == 40


def test_one_process_is_enough_for_little(store: SqliteStore, place: Path, tmp_path: Path) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    take = ImportJob(store, Settings()).take
    for pool in (ImportPool(settings(place)), ImportPool(settings(place), jobs=1)):
        with pool:
            pool.start_early(files_of(found))
            pool.start(files_of(found))
            assert active_children() == []
            assert pool.take(found, take) is None


def test_one_family_is_taken_by_one_process(place: Path, tmp_path: Path) -> None:
    write_pi(tmp_path / "a", "a", "one")
    write_pi(tmp_path / "b", "a", "one", "two")
    found = finds(tmp_path)
    with ImportPool(settings(place), jobs=2) as pool:
        pool.start_early(files_of(found))
        with closing(SqliteStore(place)) as store:
            assert pool.take(found, ImportJob(store, Settings()).take) is None


def test_whoever_stops_in_the_middle_ends_the_processes(place: Path, tmp_path: Path) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    pool = ImportPool(settings(place), jobs=2)
    pool.start_early(files_of(found))
    with pytest.raises(KeyboardInterrupt):
        take_one(pool, place, found)
    assert active_children() == []
    assert stored(place)


def take_one(pool: ImportPool, place: Path, found: list[FoundFile]) -> None:
    """Stop when the first was taken, as whoever presses Ctrl-C."""
    with closing(SqliteStore(place)) as store, pool:
        pool.start(files_of(found))
        for _ in pool.take(found, ImportJob(store, settings(place)).take) or ():
            raise KeyboardInterrupt
