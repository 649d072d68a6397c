"""Real trajectories and real sessions of agents are treated by the specification."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.trajectories.asking import NOTICE
from holdfast.trajectories.compression import TrajectoryPolicy
from holdfast.trajectories.items import batches, find_inputs
from holdfast.trajectories.work import FinishedTrajectory, Work, process
from tests.trajectories.material import (
    WORK,
    Turns,
    expected_region,
    finished,
    speaker_of,
    weight_of,
)

FOLDERS = ("hermes", "sharegpt", "pi", "openclaw", "swe_agent", "mini_swe_agent", "codex")
SHORT = ("hermes", "openclaw")
"""Where every trajectory is too short to lose a turn."""
MOST = 12
"""Trajectories of a file that are looked at."""


def treated(path: Path, work: Work) -> Iterator[tuple[Turns, FinishedTrajectory]]:
    """Yield the trajectories of a file as they are, and as they become."""
    inputs, _ = find_inputs([str(path)], "auto")
    plain = replace(work, policy=TrajectoryPolicy(target_tokens=10**9))
    for batch in batches(inputs, lambda _: None):
        short = replace(batch, items=batch.items[:MOST])
        for before, after in zip(process(short, plain), process(short, work), strict=True):
            assert isinstance(before, FinishedTrajectory)
            assert isinstance(after, FinishedTrajectory)
            assert before.metrics.skipped_under_target
            yield turns_of(before.line), after


def turns_of(line: bytes) -> Turns:
    value = json.loads(line)
    return value if isinstance(value, list) else value.get("conversations", value.get("messages"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_region_of_a_real_trajectory_is_the_one_of_the_specification(
    shared: Path, folder: str
) -> None:
    compressed = 0
    for path in sorted((shared / "data/sessions" / folder).rglob("*.*")):
        if "compression_logs" in path.parts or path.stat().st_size > 900_000:
            continue
        for target in (150, 1_000, 4_000):
            policy = TrajectoryPolicy(target_tokens=target, summary_tokens=100)
            for raw, done in treated(path, replace(WORK, policy=policy)):
                compressed += done.metrics.was_compressed
                assert_as_specified(raw, done, policy)
    assert bool(compressed) == (folder not in SHORT)


def assert_as_specified(raw: Turns, done: FinishedTrajectory, policy: TrajectoryPolicy) -> None:
    turns = turns_of(done.line)
    region = expected_region(
        [speaker_of(turn) for turn in raw], [weight_of(turn) for turn in raw], policy
    )
    assert done.metrics.original_tokens == sum(map(weight_of, raw))
    assert done.metrics.compressed_tokens == sum(map(weight_of, turns))
    over = done.metrics.compressed_tokens > policy.target_tokens
    assert done.metrics.still_over_limit == over
    if region is None:
        assert turns == raw
        return
    start, stop = region
    assert turns[start + 1 :] == raw[stop:]
    assert speaker_of(turns[start]) == "human"
    assert json.dumps(turns).count('"synthetic": "summary"') == 1
    noted = 1 if speaker_of(raw[0]) == "system" else 0
    assert turns[noted:start] == raw[noted:start]
    assert done.line.decode().count(NOTICE.strip()) == noted
    assert json.dumps(turns).count('"synthetic": "note"') == noted


@pytest.mark.parametrize("folder", SHORT)
def test_real_turns_that_are_put_together_are_treated_by_the_specification(
    shared: Path, folder: str
) -> None:
    turns: Turns = []
    for path in sorted((shared / "data/sessions" / folder).rglob("*.*")):
        for raw, _ in treated(path, WORK):
            turns += [turn for turn in raw if not turns or speaker_of(turn) != "system"]
    for target in (300, 600, 1_200):
        policy = TrajectoryPolicy(target_tokens=target, summary_tokens=100)
        done = finished({"conversations": turns}, replace(WORK, policy=policy))
        assert_as_specified(turns, done, policy)
        assert done.metrics.was_compressed == (sum(map(weight_of, turns)) > target)
