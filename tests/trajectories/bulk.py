"""Runs over files for tests: trajectories that are made up, and runs that write them."""

import json
from pathlib import Path
from random import Random

from holdfast.trajectories.compression import TrajectoryPolicy
from holdfast.trajectories.items import find_inputs
from holdfast.trajectories.output import OutputFiles, RunOutput
from holdfast.trajectories.running import Executor, RunProgress, run, run_identity
from holdfast.trajectories.work import Work

WORK = Work(
    policy=TrajectoryPolicy(target_tokens=400, summary_tokens=100, protect_last=2),
    tokenizer="estimate",
)
SILENT = RunProgress(lambda _: None, lambda _: None)
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()


def trajectory(seed: int, turns: int = 16) -> dict[str, object]:
    """Return a trajectory with a system turn and calls of tools; every third is short."""
    chance = Random(seed)
    count = turns if seed % 3 else 4
    said: list[dict[str, str]] = [{"from": "system", "value": "You work with tools."}]
    for number in range(count):
        speaker = ("human", "gpt", "tool", "gpt")[number % 4]
        words = " ".join(chance.choices(WORDS, k=chance.randint(20, 60)))
        said.append({"from": speaker, "value": f"{number}: {words}"})
    return {"id": f"t{seed}", "conversations": said, "score": seed / 7}


def write_lines(path: Path, count: int, **more: int) -> Path:
    lines = (json.dumps(trajectory(seed, **more)) for seed in range(count))
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def run_over(
    path: Path, output: str, executor: Executor, *, shard_bytes: int = 1 << 20, packing: str = ""
) -> None:
    """Run over a file to the end, as the command does."""
    inputs, _ = find_inputs([str(path)], "auto")
    files = OutputFiles.at(output, packing=packing, shard_bytes=shard_bytes)
    identity = run_identity(inputs, WORK, "deterministic", [files.packing, shard_bytes])
    with RunOutput(files, identity, restart=False) as written:
        run(inputs, WORK, executor, written, SILENT)
        written.finish()


def contents(folder: Path) -> dict[str, bytes]:
    """Return everything that a run wrote and that is the same in each run."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if "metrics" not in path.name and "journal" not in path.name
    }
