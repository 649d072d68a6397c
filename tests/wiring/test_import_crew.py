"""Several processes import what one would, whatever becomes of them."""

import pickle
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.adapters.archives.finding import find_files
from holdfast.adapters.archives.gathering import gather
from holdfast.adapters.archives.opening import Found, Reading
from holdfast.adapters.sqlite import SqliteStore
from holdfast.config import Settings
from holdfast.config.settings import StoreSettings
from holdfast.ports import Listing
from holdfast.wiring.import_crew import Crew, families_of
from holdfast.wiring.importing import Intake, Status
from tests.adapters.archives.agent_files import write_pi

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


def finds(folder: Path) -> list[Found]:
    heard: list[int] = []
    looks = gather(find_files([str(folder)]).files, Reading(seen=heard.append))
    return [look for look in looks if isinstance(look, Found)]


def names(finds: list[list[Found]]) -> list[list[str]]:
    return [[found.files[0].path.name for found in family] for family in finds]


def write_some(folder: Path) -> None:
    for number in range(6):
        write_pi(folder / f"p{number}", f"p{number}", *(f"word {n}" for n in range(number + 1)))
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


def test_several_processes_import_what_one_would(
    store: SqliteStore, place: Path, tmp_path: Path
) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    together = Crew(Intake(store, settings(place)), settings(place), jobs=3).take(found)
    assert together is not None
    done = {taken.found.files[0].path.name: taken for taken in together}
    statuses = {name: taken.status for name, taken in done.items()}
    assert statuses.pop("copy.json") is Status.UNCHANGED
    assert len(statuses) == 8
    assert set(statuses.values()) == {Status.IMPORTED}
    with closing(SqliteStore(tmp_path / "alone.db")) as other:
        intake = Intake(other, Settings())
        for each in found:
            intake.take(each)
        alone = {each.id: (each.size, each.parent) for each in other.sessions(Listing())}
    assert {each.id: (each.size, each.parent) for each in store.sessions(Listing())} == alone
    assert store.check().problems == ()


def test_what_other_processes_cannot_do_is_done_here(store: SqliteStore, tmp_path: Path) -> None:
    write_some(tmp_path / "files")
    (tmp_path / "file").write_text("no folder")
    nowhere = settings(tmp_path / "file" / "holdfast.db")
    together = Crew(Intake(store, Settings()), nowhere, jobs=2).take(finds(tmp_path / "files"))
    assert together is not None
    assert len(list(together)) == 9
    assert len(store.sessions(Listing())) == 8


def test_one_process_is_enough_for_little(store: SqliteStore, tmp_path: Path) -> None:
    write_some(tmp_path)
    found = finds(tmp_path)
    intake = Intake(store, Settings())
    assert Crew(intake, Settings()).take(found) is None
    assert Crew(intake, Settings(), jobs=1).take(found) is None
    assert Crew(intake, Settings(), jobs=4).take(found[:1]) is None


def test_whoever_stops_listening_ends_the_processes(
    store: SqliteStore, place: Path, tmp_path: Path
) -> None:
    write_some(tmp_path)
    together = Crew(Intake(store, settings(place)), settings(place), jobs=2).take(finds(tmp_path))
    assert isinstance(together, Iterator)
    next(together)
    together.close()  # type: ignore[attr-defined] - it is a generator
    assert store.check().problems == ()
