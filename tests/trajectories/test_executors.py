"""Who processes batches: in order, on several cores, whatever dies on the way."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.trajectories.items import Item, TrajectoryBatch, batches, find_inputs
from holdfast.trajectories.running import DIED, HereExecutor, PoolExecutor, jobs_for
from holdfast.trajectories.work import Failed, Outcome
from tests.trajectories.bulk import WORK, contents, run_over, write_lines

BATCHES = 9


@pytest.fixture
def some(tmp_path: Path) -> list[TrajectoryBatch]:
    inputs, _ = find_inputs([str(write_lines(tmp_path / "in.jsonl", 45))], "auto")
    (whole,) = batches(inputs, lambda _: None)
    return [
        replace(whole, items=whole.items[start : start + 5]) for start in range(0, 45, BATCHES - 4)
    ]


def untimed(outcomes: tuple[Outcome, ...]) -> list[object]:
    return [
        each if isinstance(each, Failed) else (each.number, getattr(each, "line", b""))
        for each in outcomes
    ]


def test_several_processes_do_what_one_does_in_the_same_order(some: list[TrajectoryBatch]) -> None:
    here = [(batch, untimed(done)) for batch, done in HereExecutor().outcomes(some, WORK)]
    with PoolExecutor(2) as pool:
        there = [(batch, untimed(done)) for batch, done in pool.outcomes(some, WORK)]
    assert there == here
    assert len(here) == BATCHES


def test_batches_are_taken_as_room_is_made(some: list[TrajectoryBatch]) -> None:
    taken: list[int] = []

    def incoming() -> Iterator[TrajectoryBatch]:
        for number, batch in enumerate(some):
            taken.append(number)
            yield batch

    with PoolExecutor(2) as pool:
        outcomes = pool.outcomes(incoming(), WORK)
        next(outcomes)
        assert len(taken) <= 5
        assert len(list(outcomes)) == BATCHES - 1


class Deadly(bytes):
    """Bytes that kill the process which unpacks them, but not the one that made them."""

    def __reduce__(self) -> tuple[object, tuple[int, bytes]]:
        return _killed_by, (os.getpid(), bytes(self))


def _killed_by(maker: int, content: bytes) -> bytes:
    if os.getpid() != maker:
        os.kill(os.getpid(), signal.SIGKILL)
    return content


class DeadlyOnce(Deadly):
    """Bytes that kill the first process which unpacks them."""

    def __reduce__(self) -> tuple[object, tuple[int, bytes]]:
        return _killed_once_by, (os.getpid(), bytes(self))


def _killed_once_by(maker: int, content: bytes) -> bytes:
    mark = Path(json.loads(content)["mark"])
    if not mark.exists():
        mark.touch()
        return _killed_by(maker, content)
    return content


def test_a_trajectory_that_ends_its_process_is_set_aside_and_the_others_are_done(
    some: list[TrajectoryBatch],
) -> None:
    good = [untimed(done) for _, done in HereExecutor().outcomes(some, WORK)]
    poisoned = Item(some[4].items[2].number, Deadly(b"{}"))
    items = (*some[4].items[:2], poisoned, *some[4].items[3:])
    hostile = [*some[:4], replace(some[4], items=items), *some[5:]]
    with PoolExecutor(2) as pool:
        done = [untimed(done) for _, done in pool.outcomes(hostile, WORK)]
    good[4][2] = Failed(poisoned.number, DIED, "")
    assert done == good


def test_a_process_that_is_killed_once_costs_nothing(
    some: list[TrajectoryBatch], tmp_path: Path
) -> None:
    value = json.loads(some[3].items[1].content)
    content = json.dumps({**value, "mark": str(tmp_path / "mark")}).encode()
    items = (some[3].items[0], Item(17, content), *some[3].items[2:])
    calm = [*some[:3], replace(some[3], items=items), *some[4:]]
    items = (some[3].items[0], Item(17, DeadlyOnce(content)), *some[3].items[2:])
    hostile = [*some[:3], replace(some[3], items=items), *some[4:]]
    expected = [untimed(done) for _, done in HereExecutor().outcomes(calm, WORK)]
    with PoolExecutor(2) as pool:
        assert [untimed(done) for _, done in pool.outcomes(hostile, WORK)] == expected
    assert (tmp_path / "mark").exists()


def test_an_output_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", 150)
    with PoolExecutor(2) as pool:
        for name, executor in (("here", HereExecutor()), ("pool", pool)):
            run_over(source, f"{tmp_path / name}/", executor, shard_bytes=20_000)
    assert contents(tmp_path / "here") == contents(tmp_path / "pool")
    assert len(contents(tmp_path / "here")) > 2


def test_there_is_a_process_for_each_core_unless_a_number_is_named() -> None:
    assert jobs_for(3) == 3
    assert 1 <= jobs_for(None) <= (os.cpu_count() or 1)
