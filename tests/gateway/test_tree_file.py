"""The tree of messages: lost, damaged, foreign or read-only, it never stands in the way."""

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.gateway.tree_file import TreeFile
from holdfast.recognition.matching import Continuity
from tests.gateway.scripted import answer, question, upstream
from tests.gateway.serving import serving
from tests.gateway.test_interrupted_turns import keeper, log_of, taken
from tests.gateway.test_turns import said, step

BEGUN = [said("user", "Read the file."), *step(1)]


def settle(file: Path) -> None:
    """Leave nothing beside the file from which it could be made whole again."""
    with closing(sqlite3.connect(file)) as tree:
        tree.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def emptied(file: Path) -> None:
    settle(file)
    file.write_bytes(b"")


def replaced(file: Path) -> None:
    settle(file)
    file.write_bytes(b"no database at all\n" * 500)


def cut_in_half(file: Path) -> None:
    settle(file)
    os.truncate(file, file.stat().st_size // 2)


def of_another_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as tree:
        tree.execute("PRAGMA user_version = 99")


def of_something_else(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as tree:
        tree.execute("CREATE TABLE nodes (name TEXT)")


def made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def deleted(file: Path) -> None:
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()


HARM = [emptied, replaced, cut_in_half, of_another_version, of_something_else, made_a_folder]


@pytest.mark.parametrize("harm", [*HARM, deleted])
def test_a_tree_that_cannot_be_used_is_begun_anew(
    tmp_path: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    before = keeper(tmp_path)
    asyncio.run(taken(before, *BEGUN))
    before.tree.close()
    harm(tmp_path / "gateway.db")
    with caplog.at_level(logging.WARNING, "holdfast.gateway"):
        turns = keeper(tmp_path)

        async def run() -> list[Continuity]:
            try:
                first = await taken(turns, *BEGUN)
            except Exception:  # noqa: BLE001 - what is forwarded unrecorded
                first = await taken(turns, *BEGUN)
            second = await taken(turns, *BEGUN, said("user", "Go on."))
            return [first.found.how, second.found.how]

        assert asyncio.run(run()) == [Continuity.ROOT, Continuity.EXTENDS]
    assert len(log_of(tmp_path)) == 2
    if harm not in (emptied, deleted):
        assert "is begun anew" in caplog.text
        assert (tmp_path / "gateway.db.unusable").exists()


@pytest.mark.parametrize("harm", [cut_in_half, of_something_else, deleted])
def test_a_tree_that_is_harmed_while_it_is_used_is_begun_anew(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    async def run() -> list[Continuity]:
        turns = keeper(tmp_path)
        await taken(turns, *BEGUN)
        harm(tmp_path / "gateway.db")
        found: list[Continuity] = []
        for number in range(3):
            try:
                turn = await taken(turns, *BEGUN, *step(2 + number))
                found.append(turn.found.how)
            except Exception:  # noqa: BLE001 - what is forwarded unrecorded
                found.append(Continuity.SIDE)
        return found

    found = asyncio.run(run())
    assert found[-1] is Continuity.BRANCH
    assert Continuity.ROOT in found


@pytest.mark.parametrize("harm", HARM)
def test_no_request_fails_because_of_the_tree(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    said_back = answer(b'{"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}')
    asked = question("openai", stream=False)
    with upstream(said_back) as there:
        with serving(tmp_path, there.url) as client:
            assert client.post("/v1/chat/completions", asked).status == 200
        harm(tmp_path / "profiles" / "default" / "gateway.db")
        with serving(tmp_path, there.url) as client:
            for _ in range(3):
                assert client.post("/v1/chat/completions", asked).status == 200
            assert len(client.get("/api/sessions").json["sessions"]) == 2


READS_ONLY = """
import os, sys
from holdfast.gateway.tree_file import TreeFile
os.setuid(65534)
tree = TreeFile(sys.argv[1])
print(tree.longest([b"x"], ""), tree.session_of("x"))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_tree_that_is_read_only_is_begun_anew_or_kept_in_memory(
    tmp_path: Path, mode: int
) -> None:
    TreeFile(str(tmp_path / "gateway.db")).close()
    (tmp_path / "gateway.db").chmod(0o444)
    for each in tmp_path.parents[:2]:
        each.chmod(0o755)
    tmp_path.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", READS_ONLY, str(tmp_path / "gateway.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "None \n"), done.stderr
    assert "is begun anew" in done.stderr


def test_a_call_is_found_without_a_look_at_the_whole_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, steps = sqlite3.connect, [0]

    def counted(place: str, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(place, **options)

        def step() -> None:
            steps[0] += 1

        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    with closing(TreeFile(str(tmp_path / "gateway.db"))) as tree:
        with closing(connect(tmp_path / "gateway.db")) as other, other:
            rows = ((None, at, "result", b"digest", f"call{at}", 1, at) for at in range(3000))
            other.executemany("INSERT INTO nodes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", rows)
            other.execute("INSERT INTO sessions (key, id, identity) VALUES (1, 'a', '')")
        steps[0] = 0
        assert [node.message for node in tree.called("call70")] == [70]
        assert steps[0] < 20
