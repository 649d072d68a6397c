"""Trajectories on Ray Data: the bytes of the process pool, and workers that die."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import ConfigError
from holdfast.trajectories.items import Item, TrajectoryBatch, batches, find_inputs
from holdfast.trajectories.ray_executor import RayExecutor, RayFailed
from holdfast.trajectories.running import DIED, HereExecutor, PoolExecutor
from holdfast.trajectories.work import Failed
from tests.trajectories.bulk import WORK, contents, run_over, write_lines
from tests.trajectories.test_executors import Deadly, DeadlyOnce, untimed


@pytest.fixture(scope="module")
def ray() -> Iterator[RayExecutor]:
    """Return an executor with two workers; it is started once, because that takes seconds."""
    with RayExecutor("local", 2) as executor:
        yield executor


def test_ray_writes_the_bytes_of_the_process_pool(ray: RayExecutor, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", 150)
    with PoolExecutor(2) as pool:
        for name, executor in (("ray", ray), ("pool", pool)):
            run_over(source, f"{tmp_path / name}/", executor, shard_bytes=20_000, packing=".zst")
    assert contents(tmp_path / "ray") == contents(tmp_path / "pool")
    assert len(contents(tmp_path / "ray")) > 2


def test_a_worker_that_is_killed_in_the_middle_is_replaced(
    ray: RayExecutor, tmp_path: Path
) -> None:
    some = _batches(tmp_path)
    value = json.loads(some[1].items[1].content)
    content = json.dumps({**value, "mark": str(tmp_path / "mark")}).encode()
    calm = _with(some, content)
    expected = [untimed(done) for _, done in HereExecutor().outcomes(calm, WORK)]
    hostile = _with(some, DeadlyOnce(content))
    assert [untimed(done) for _, done in ray.outcomes(hostile, WORK)] == expected
    assert (tmp_path / "mark").exists()


def test_a_trajectory_that_kills_every_worker_is_set_aside(
    ray: RayExecutor, tmp_path: Path
) -> None:
    some = _batches(tmp_path)
    expected = [untimed(done) for _, done in HereExecutor().outcomes(some, WORK)]
    expected[1][1] = Failed(some[1].items[1].number, DIED, "")
    hostile = _with(some, Deadly(b"{}"))
    assert [untimed(done) for _, done in ray.outcomes(hostile, WORK)] == expected


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("ray://host:10001", "Ray Data does not work"),
        ("somewhere", "allowed: local, auto or HOST:PORT"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(address: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words), RayExecutor(address, None):
        pass


def test_a_cluster_that_does_not_answer_is_said_at_once() -> None:
    with (
        pytest.raises(RayFailed, match=r"nothing answers at 127\.0\.0\.1:9"),
        RayExecutor("127.0.0.1:9", None),
    ):
        pass


def _batches(folder: Path) -> list[TrajectoryBatch]:
    inputs, _ = find_inputs([str(write_lines(folder / "in.jsonl", 12))], "auto")
    (whole,) = batches(inputs, lambda _: None)
    return [replace(whole, items=whole.items[start : start + 4]) for start in range(0, 12, 4)]


def _with(some: list[TrajectoryBatch], content: bytes) -> list[TrajectoryBatch]:
    first, second, third = some
    items = (second.items[0], Item(second.items[1].number, content), *second.items[2:])
    return [first, replace(second, items=items), third]
