"""Ctrl-C ends every process of an import at once, and the same command goes on from there."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.ports import Listing
from holdfast.stores.sqlite import SqliteStore
from tests.agent_files.agent_files import write_pi

FILES = 30
MESSAGES = 60

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads who is there from /proc")


def test_ctrl_c_ends_every_process_and_nothing_is_lost(tmp_path: Path) -> None:
    folder, path = tmp_path / "sessions", tmp_path / "holdfast.db"
    for number in range(FILES):
        write_pi(folder / f"{number}.jsonl", f"p{number}", *texts(number))
    process = started(folder, path)
    with held_in_the_middle(path):
        assert len(members(process.pid)) == 3  # one hands out, two import
        os.killpg(process.pid, signal.SIGINT)
    output, said = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, b"")
    assert said.decode().split("\n") == [
        "what is stored so far stays; the same command goes on from there",
        "",  # behind the signs that a terminal shows for the keys
        "holdfast: interrupted",
        "",
    ]
    assert members(process.pid) == []
    before = sizes(path)
    assert 0 < len(before) < FILES
    assert set(before.values()) == {MESSAGES}

    again = started(folder, path)
    _, said = again.communicate(timeout=60)
    assert (again.returncode, said) == (0, b"")
    assert len(sizes(path)) == FILES
    assert set(sizes(path).values()) == {MESSAGES}


def texts(number: int) -> list[str]:
    return [f"word {number} of {place}" for place in range(MESSAGES)]


def started(folder: Path, path: Path) -> subprocess.Popen[bytes]:
    """Start an import by two processes, in a group of their own as a shell would."""
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "import", str(folder), "--jobs", "2"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOLDFAST_STORE_URL": str(path)},
        start_new_session=True,
    )


@contextmanager
def held_in_the_middle(path: Path) -> Generator[None]:
    """Let nobody write any more once something is stored, so that the import cannot end."""
    while not path.exists():
        time.sleep(0.001)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        while not has_begun(connection):
            time.sleep(0.001)
        yield


def has_begun(connection: sqlite3.Connection) -> bool:
    """Say whether a session is stored; then the connection keeps the turn to write."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("SELECT 1 FROM sessions").fetchone():
            return True
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:  # the tables are not there yet, or somebody writes them
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return False


def members(group: int) -> list[int]:
    """Return the processes of a group that still run."""
    found: list[int] = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group, *_ = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(its_group) == group and state != "Z":
            found.append(int(each.parent.name))
    return found


def sizes(path: Path) -> dict[str, int]:
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        return {each.id: each.size for each in store.sessions(Listing(limit=None))}
