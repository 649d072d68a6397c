"""Killed at any moment, a run over trajectories goes on, and writes what others write."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.promises.killing import SOAKS
from tests.trajectories.bulk import contents, write_lines

KILLS = 100 if SOAKS else 4
RAY_KILLS = 100 if SOAKS else 1
ARGUMENTS = ("--target", "2000", "--summary", "300", "--shard-size", "300k", "--packed", "gz")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lines(tmp_path_factory.mktemp("source") / "in.jsonl", 300, turns=120)


@pytest.fixture(scope="module")
def undisturbed(source: Path) -> dict[str, bytes]:
    folder = source.parent / "whole"
    assert command(source, folder, "--jobs", "1").wait(100) == 0
    return contents(folder)


@pytest.mark.timeout(3600 if SOAKS else 120)
def test_a_run_that_is_killed_again_and_again_writes_the_same_bytes(
    source: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    killed_until_done(source, tmp_path / "out", KILLS, (0.3, 2.0), "--jobs", "2")
    assert contents(tmp_path / "out") == undisturbed


@pytest.mark.slow
@pytest.mark.timeout(3600 if SOAKS else 120)
def test_a_run_on_ray_that_is_killed_writes_the_same_bytes(
    source: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    arguments = ("--ray", "local", "--jobs", "2")
    killed_until_done(source, tmp_path / "out", RAY_KILLS, (3.0, 7.0), *arguments)
    assert contents(tmp_path / "out") == undisturbed


def test_processes_end_with_the_run_that_started_them(source: Path, tmp_path: Path) -> None:
    run = command(source, tmp_path / "out", "--jobs", "2")
    workers: set[int] = set()
    for _ in range(200):
        workers = children(run.pid)
        if len(workers) >= 2:
            break
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    for _ in range(100):
        if not any(map(is_alive, workers)):
            break
        time.sleep(0.1)
    assert workers
    assert not any(map(is_alive, workers))


def killed_until_done(
    source: Path, output: Path, kills: int, moments: tuple[float, float], *arguments: str
) -> None:
    """Kill so many runs at random moments, each at work, and let the last one end."""
    chance = Random(time.time_ns())
    for _ in range(kills):
        while True:
            if is_done(output):
                for path in output.iterdir():
                    path.unlink()
            run = command(source, output, *arguments)
            try:
                assert run.wait(chance.uniform(*moments)) == 0
            except subprocess.TimeoutExpired:
                break
        run.send_signal(signal.SIGKILL)
        run.wait()
        no_torn_line(output)
    assert command(source, output, *arguments).wait(100) in {0, 3}


def no_torn_line(output: Path) -> None:
    """Show that what has its name is whole."""
    for part in output.glob("part-*.gz"):
        assert gzip.decompress(part.read_bytes()).endswith(b"}\n")


def is_done(output: Path) -> bool:
    journal = output / "journal"
    return journal.exists() and journal.read_bytes().endswith(b'{"done": true}\n')


def command(source: Path, output: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "holdfast", "trajectories", "compress", str(source)),
            *("-o", f"{output}/", "--json", *ARGUMENTS, *arguments),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def children(pid: int) -> set[int]:
    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.add(int(path.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
