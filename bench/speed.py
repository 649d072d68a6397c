"""How work grows with the transcript: per model call, and for a whole compaction.

Times are CPU seconds of the fastest round, so that other work on the machine disturbs them little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import holdfast
from bench.calls import call_costs, calls_bars, calls_table
from bench.report import REPOSITORY, Bar, Result, Table, alone
from bench.transcripts import SIZES, megabytes, transcript
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from types import ModuleType

    from bench.report import Cell
    from bench.transcripts import Chat

ROUNDS = {200: 7, 2_000: 4, 20_000: 3}
FITS = {200: (2_000, 8_000), 2_000: (8_000, 100_000), 20_000: (8_000, 100_000)}
MEMORY_LIMIT = 2.0
PHASES = (
    ("prune", "holdfast.compaction.plan", ("prune",)),
    ("weigh and cut", "holdfast.compaction.flow", ("decided",)),
    ("statements", "holdfast.compaction.flow", ("draft",)),
    ("audit", "holdfast.compaction.flow", ("audit",)),
    ("fold", "holdfast.compaction.flow", ("fold",)),
)
"""Where each phase is called; a phase that contains another is listed after it."""
_INSIDE = {"weigh and cut": "prune"}


def run() -> Result:
    """Measure all sizes and return the tables."""
    chats = {size: transcript(size) for size in SIZES}
    weights = {size: megabytes(chat) for size, chat in chats.items()}
    calls = {size: call_costs(chat) for size, chat in chats.items()}
    passes = {size: compaction_seconds(chat, ROUNDS[size]) for size, chat in chats.items()}
    peaks = {size: _peak_in_subprocess(size) for size in SIZES}
    tables = (
        calls_table(calls, weights),
        _compaction_table(passes, peaks, weights),
        _fit_table(chats),
        _phase_table({size: _phases(chat) for size, chat in chats.items()}),
    )
    return Result("speed", tables, (*calls_bars(calls), *_bars(peaks, weights)))


def compaction_seconds(
    messages: Sequence[Chat],
    rounds: int,
    model: Callable[[str], str] | None = None,
    fit: int | None = None,
) -> float:
    """Return the CPU seconds of `holdfast.compress`, audit included; without a model by default."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        done = holdfast.compress(messages, summarizer=model, fit=fit)
        best = min(best, time.process_time() - started)
        figures = done.report.figures
        if figures.audit is None or figures.summary is None:
            raise AssertionError(f"the benchmark compacts nothing: {done.report.reason}")
        if (figures.summary.origin == "deterministic") != (model is None):
            raise AssertionError(f"the model's answer was not used: {done.report.warnings}")
    return best


def _compaction_table(
    passes: dict[int, float], peaks: dict[int, int], weights: dict[int, float]
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            f"{size:,}",
            f"{weights[size]:.1f}",
            f"{seconds:.3f}",
            f"{weights[size] / seconds:.0f}",
            f"{1e6 * seconds / size:.0f}",
            f"{peaks[size] / 1e6:.1f}",
            f"{_memory_ratio(peaks[size], weights[size]):.2f}",
        )
        for size, seconds in passes.items()
    ]
    columns = ("messages", "MB", "CPU s", "MB/s", "µs a message", "peak MB", "of the transcript")
    note = (
        "`holdfast.compress`, deterministic record, audit included. The peak is what the "
        "compaction allocates beyond the transcript, which it does not copy; the last column "
        "counts both, in bytes of the transcript. Of a small transcript, a few MB are a multiple."
    )
    return Table("compaction", columns, tuple(rows), note)


def _fit_table(chats: Mapping[int, Sequence[Chat]]) -> Table:
    rows = tuple(
        (f"{size:,}", f"{fit:,}", f"{compaction_seconds(chats[size], ROUNDS[size], fit=fit):.3f}")
        for size, fits in FITS.items()
        for fit in fits
    )
    note = "`holdfast.compress(fit=...)`, deterministic record, audit included."
    return Table("fits", ("messages", "tokens they are fitted into", "CPU s"), rows, note)


def _phase_table(phases: dict[int, dict[str, float]]) -> Table:
    rows = tuple(
        (name, *(f"{1000 * each[name]:,.1f}" for each in phases.values()))
        for name in phases[SIZES[0]]
    )
    columns = ("phase", *(f"ms at {size:,}" for size in phases))
    return Table("phases", columns, rows, "Wall time of one pass each.")


def _bars(peaks: dict[int, int], weights: dict[int, float]) -> tuple[Bar, ...]:
    memory = _memory_ratio(peaks[SIZES[-1]], weights[SIZES[-1]])
    return (
        Bar(
            f"memory in compaction of 20,000 messages: at most {MEMORY_LIMIT:.0f}x of them",
            f"{memory:.2f}x",
            memory <= MEMORY_LIMIT,
        ),
    )


def _memory_ratio(peak: int, weight: float) -> float:
    return 1 + peak / (1e6 * weight)


def _phases(messages: Sequence[Chat]) -> dict[str, float]:
    """Return the seconds of each phase of one pass, read from clocks around its functions."""
    spent: dict[str, float] = {}
    with ExitStack() as stack:
        for phase, home, names in PHASES:
            module = import_module(home)
            for name in names:
                stack.enter_context(_clock(module, name, phase, spent))
        started = time.perf_counter()
        holdfast.compress(messages)
        whole = time.perf_counter() - started
    for outer, inner in _INSIDE.items():
        spent[outer] -= spent.get(inner, 0.0)
    started = time.perf_counter()
    DIALECTS["openai"].decode(Body(list(messages)))
    spent["decode"] = time.perf_counter() - started
    return {**spent, "the rest": whole - sum(spent.values()), "whole": whole}


@contextmanager
def _clock(module: ModuleType, name: str, phase: str, spent: dict[str, float]) -> Generator[None]:
    original: Callable[..., object] = getattr(module, name)

    def timed(*arguments: object, **named: object) -> object:
        started = time.perf_counter()
        try:
            return original(*arguments, **named)
        finally:
            spent[phase] = spent.get(phase, 0.0) + time.perf_counter() - started

    setattr(module, name, timed)
    try:
        yield
    finally:
        setattr(module, name, original)


def _peak_in_subprocess(size: int) -> int:
    """Return the peak of a fresh process; tracing slows work down, so it is never timed."""
    command = [sys.executable, "-m", "bench.speed", "--peak", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return int(json.loads(done.stdout))


def _peak(size: int) -> int:
    messages = transcript(size)
    holdfast.compress(transcript(60))  # modules and caches are not the transcript's
    tracemalloc.start()
    holdfast.compress(messages)
    return tracemalloc.get_traced_memory()[1]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        sys.stdout.write(json.dumps(_peak(int(sys.argv[2]))))
    else:
        alone(run)
