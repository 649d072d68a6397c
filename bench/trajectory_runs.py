"""One run over a file of trajectories, in a process of its own, with its time and its memory.

The way is that of `holdfast trajectories compress`: find the inputs, hand out batches, write the
output with its journal and figures. A fresh process for each run keeps what one has loaded out of
the memory and the time of the next.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import active_children
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bench.report import REPOSITORY
from holdfast.trajectories import work as batch_work
from holdfast.trajectories.asking import BulkSummarizer, SummaryLimits
from holdfast.trajectories.compression import TrajectoryPolicy, counter_for
from holdfast.trajectories.items import find_inputs
from holdfast.trajectories.output import OutputFiles, RunOutput
from holdfast.trajectories.running import HereExecutor, PoolExecutor, RunProgress, run, run_identity
from holdfast.trajectories.work import Work, prepare_process
from holdfast.wiring.models import summarizer_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from holdfast.tokens import Counter

SUMMARY = (
    "The assistant read the sources, ran the tests and edited the parser; two cases still fail. "
    * 39
).strip()
"""What every model of these benchmarks answers: about as long as it is asked for."""
K = TypeVar("K")
_EVERY = 0.05
"""Seconds between two looks at the memory of the workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is to be done."""

    jobs: int
    """Processes; with one, no other is started."""
    tokenizer: str = "o200k"
    asks: bool = False
    """Whether a model answers, at once, with a fixed text."""
    redact: bool = True
    clocked: bool = False
    """Whether the time of the tokenizer is taken; for runs in one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a run did and took."""

    trajectories: int
    tokens: int
    """What the trajectories weighed before."""
    seconds: float
    """By the clock, from the search for inputs to the last rename; starting workers and loading
    vocabularies included."""
    processor: float
    """Seconds of all processes together."""
    peak: int
    """The most bytes that the process that hands out the work had resident."""
    worker_peak: int
    """The same of the largest of its workers."""
    counting: float = 0.0
    """Seconds in the tokenizer, where they were taken."""


def measured(path: Path, options: Options) -> Figures:
    """Run over a file in a fresh process; the output is thrown away."""
    command = [sys.executable, "-m", __name__, str(path), json.dumps(asdict(options))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=REPOSITORY)
    return Figures(**json.loads(done.stdout))


def fastest(path: Path, options: Mapping[K, Options], rounds: int) -> dict[K, Figures]:
    """Return the fastest of several runs each; they take turns, so that others slow all alike."""
    found: dict[K, Figures] = {}
    for _ in range(rounds):
        for name, each in options.items():
            figures = measured(path, each)
            if name not in found or figures.seconds < found[name].seconds:
                found[name] = figures
    return found


def _run(path: str, options: Options) -> Figures:
    clock = _Clock()
    if options.clocked:
        batch_work.counter_for = clock.counter_for
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        started, processor = time.perf_counter(), time.process_time()
        tokens, worker_peak = _compressed(path, Path(folder) / "out.jsonl", options)
        seconds = time.perf_counter() - started
        own = time.process_time() - processor
        for child in active_children():
            child.join()
    ended = os.times()
    return Figures(
        trajectories=len(tokens),
        tokens=sum(tokens),
        seconds=seconds,
        processor=own + ended.children_user + ended.children_system,
        peak=_peak("self"),
        worker_peak=worker_peak,
        counting=clock.seconds,
    )


def _compressed(path: str, place: Path, options: Options) -> tuple[list[int], int]:
    """Run over a file as the command does.

    Returns:
        What each trajectory weighed, and the most bytes that a worker had resident.
    """
    work = Work(
        policy=TrajectoryPolicy(),
        tokenizer=options.tokenizer,
        redact=options.redact,
        asks=options.asks,
    )
    prepare_process(work)
    inputs, _ = find_inputs([path], "auto")
    identity = run_identity(inputs, work, "", [str(place)])
    with ExitStack() as stack:
        executor = (
            HereExecutor() if options.jobs == 1 else stack.enter_context(PoolExecutor(options.jobs))
        )
        # Only now: processes are split off as long as there is no thread.
        peaks = stack.enter_context(_watched_workers())
        output = stack.enter_context(RunOutput(OutputFiles.at(str(place)), identity, restart=False))
        progress = RunProgress(lambda _: None, lambda _: None)
        run(inputs, work, executor, output, progress, _model(options))
        tokens = [int(str(each["original_tokens"])) for each in output.metrics()]
        output.finish()
    return tokens, max(peaks.values(), default=0)


def _model(options: Options) -> BulkSummarizer | None:
    summarizer = summarizer_of(_answered) if options.asks else None
    if summarizer is None:
        return None
    return BulkSummarizer(summarizer, SummaryLimits(), counter_for(options.tokenizer).count)


async def _answered(_prompt: str) -> str:
    return SUMMARY


class _Clock:
    """Takes the time of every count."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def counter_for(self, name: str) -> Counter:
        """Stand in for what gives `process` its counter."""
        return _ClockedCounter(counter_for(name), self)


class _ClockedCounter:
    """A counter that adds its time to a clock."""

    def __init__(self, counter: Counter, clock: _Clock) -> None:
        self.name = counter.name
        self._counter = counter
        self._clock = clock

    def count(self, text: str) -> int:
        started = time.perf_counter()
        try:
            return self._counter.count(text)
        finally:
            self._clock.seconds += time.perf_counter() - started


@contextmanager
def _watched_workers() -> Generator[dict[int, int]]:
    """Look again and again at the most memory that each child process has had, by its id."""
    peaks: dict[int, int] = {}
    ended = threading.Event()

    def look() -> None:
        for child in active_children():
            if child.pid is not None:
                peaks[child.pid] = max(_peak(str(child.pid)), peaks.get(child.pid, 0))

    def watch() -> None:
        while not ended.wait(_EVERY):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()
        look()


def _peak(process: str) -> int:
    """Return the most bytes that a process has had resident so far; 0 where nobody says so.

    The figure of `getrusage` would not do: a new process inherits that of its parent.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    found = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(next(found, "0")) * 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_run(sys.argv[1], Options(**json.loads(sys.argv[2]))))))
