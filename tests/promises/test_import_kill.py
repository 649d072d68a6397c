"""Killed at any moment, an import goes on where it stopped; two at once store everything once."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from holdfast.formats.events import Event, MessageEvent
from holdfast.stores.sqlite import SqliteStore
from holdfast.transfer import export_session
from tests.promises.import_worker import story
from tests.promises.killing import SOAKS, start
from tests.transfer.taking import opened, sessions, take

KILLS = 100 if SOAKS else 3
LONGEST = 0.5
"""Seconds in which a worker imports the file, and a little more."""


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_import_goes_on_where_it_stopped(tmp_path: Path, seed: int) -> None:
    events = story(seed)
    path = tmp_path / "holdfast.db"
    for _ in range(2):
        kill_worker(path, seed, after=Random(time.time_ns()).uniform(0.0, LONGEST))
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        stored = sum(each.size for each in sessions(store))
        tally = take(store, events)
        assert tally.count.messages == told(events) - stored
        assert everything(store) == undisturbed(events)
        assert store.check().problems == ()


def test_two_processes_that_import_the_same_file_store_it_once(tmp_path: Path) -> None:
    events = story(7)
    path = tmp_path / "holdfast.db"
    workers = [start("-m", "tests.promises.import_worker", str(path), "7") for _ in range(2)]
    for worker in workers:
        _, said = worker.communicate(timeout=60)
        assert (worker.returncode, said.decode()) == (0, "")
    with closing(SqliteStore(path)) as store:
        assert everything(store) == undisturbed(events)
        assert sum(each.size for each in sessions(store)) == told(events)
        assert store.check().problems == ()


def kill_worker(path: Path, seed: int, *, after: float) -> None:
    with start("-m", "tests.promises.import_worker", str(path), str(seed)) as worker:
        assert worker.stdout
        assert worker.stderr
        assert worker.stdout.readline() == b"ready\n"
        time.sleep(after)
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.stderr.read() == b""


def everything(store: SqliteStore) -> list[Event]:
    (root,) = (each for each in sessions(store) if each.parent is None)
    return list(export_session(store, root.id, family=True))


def undisturbed(events: Sequence[Event]) -> list[Event]:
    """Return what an import tells again that nobody disturbed."""
    with opened() as store:
        take(store, events)
        return everything(store)


def told(events: Sequence[Event]) -> int:
    return sum(isinstance(each, MessageEvent) for each in events)
