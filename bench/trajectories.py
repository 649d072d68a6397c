"""How fast trajectories are shrunk to a training window, and in how much memory.

Each figure is a run over a file, in a process of its own, by the clock: from the search for inputs
to the output in its place. Starting workers and loading vocabularies is part of it, which two
hundred trajectories feel and thousands do not; the table of memory shows the speed of those.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.report import Bar, Result, Table, alone
from bench.sharegpt import TOKENS, trajectories, varied
from bench.trajectory_runs import Options, fastest, measured
from holdfast.providers.exact_counter import ExactCounter
from holdfast.trajectories.running import jobs_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.report import Cell
    from bench.trajectory_runs import Figures

NUMBER = 200
ROUNDS = 3
MEGABYTE = 1_000_000
SIZES = (256, 1_000)
"""Megabytes of the inputs whose memory is compared."""
MOST = 300
"""Megabytes that a process may have resident at any moment."""
FLAT = 1.2
"""How much more memory four times the input may take: what comes and goes is not the same."""
NAMES = {False: "deterministic", True: "model answers at once"}


def run() -> Result:
    """Measure rates and memory on generated trajectories."""
    with tempfile.TemporaryDirectory() as folder:
        lines = list(trajectories(NUMBER, ExactCounter("o200k").count))
        rate = rates(written(Path(folder) / "trajectories.jsonl", lines))
        table, bars = memory(Path(folder), lines)
    return Result("trajectories", (rate, table), bars)


def written(path: Path, lines: Iterable[bytes]) -> Path:
    """Write lines to a file as they come."""
    with path.open("wb") as file:
        file.writelines(lines)
    return path


def rates(path: Path, rounds: int = ROUNDS) -> Table:
    """Return the rates of all ways to shrink the trajectories of a file."""
    every = jobs_for(None)
    ways = {
        (asks, redact, jobs): Options(jobs=jobs, asks=asks, redact=redact, clocked=jobs == 1)
        for redact in (True, False)
        for asks in (False, True)
        for jobs in dict.fromkeys((1, every))
    }
    found = fastest(path, ways, rounds)
    rows: list[tuple[Cell, ...]] = [
        (
            NAMES[asks] + ("" if redact else ", secrets kept"),
            jobs,
            figures.trajectories / figures.seconds,
            f"{figures.tokens / figures.seconds / 1e6:.1f} M",
            figures.trajectories / figures.processor,
            f"{figures.counting / figures.seconds:.0%}" if jobs == 1 else "",
        )
        for (asks, redact, jobs), figures in found.items()
    ]
    some = next(iter(found.values()))
    note = (
        f"{some.trajectories} trajectories, {some.tokens / some.trajectories:,.0f} tokens each by "
        f"`o200k`, {path.stat().st_size / MEGABYTE:.0f} MB, down to 15,250. The fastest of "
        f"{rounds} runs, which take turns. The last column is the share of the tokenizer, "
        "loading its vocabulary included."
    )
    columns = (
        "summaries",
        "processes",
        "trajectories/s",
        "tokens/s",
        "a second of one core",
        "counting",
    )
    return Table("trajectories", columns, tuple(rows), note)


def memory(
    folder: Path, lines: Sequence[bytes], sizes: tuple[int, int] = SIZES
) -> tuple[Table, tuple[Bar, ...]]:
    """Return what processes have resident at most, for inputs of two sizes in megabytes.

    With a model more is held, because trajectories wait for their summaries.
    """
    small, large = (
        written(folder / f"{size}.jsonl", varied(lines, size * MEGABYTE)) for size in sizes
    )
    every = jobs_for(None)
    found = {
        (sizes[0], False): measured(small, Options(jobs=every)),
        (sizes[0], True): measured(small, Options(jobs=every, asks=True)),
        (sizes[1], True): measured(large, Options(jobs=every, asks=True)),
    }
    rows = tuple(
        (f"{size:,} MB, {NAMES[asks]}", *_row(figures, size))
        for (size, asks), figures in found.items()
    )
    columns = (
        "input",
        "trajectories",
        "seconds",
        "trajectories/s",
        "MB/s",
        "main process, MB",
        "largest worker, MB",
    )
    note = (
        f"{every} workers, one run each; {len(lines)} trajectories of {TOKENS:,} tokens again and "
        "again with other digits. The most that a process had resident at any moment."
    )
    most = max(map(_largest, found.values())) / MEGABYTE
    growth = _largest(found[sizes[1], True]) / _largest(found[sizes[0], True])
    bars = (
        Bar(
            f"trajectories, {sizes[1]:,} MB: at most {MOST} MB resident in any process",
            f"{most:.0f} MB",
            kept=most <= MOST,
        ),
        Bar(
            f"trajectories, {sizes[1]:,} MB instead of {sizes[0]:,}: the same memory",
            f"{growth:.2f} times",
            kept=growth <= FLAT,
        ),
    )
    return Table("trajectories-memory", columns, rows, note), bars


def _row(figures: Figures, size: int) -> tuple[Cell, ...]:
    return (
        figures.trajectories,
        round(figures.seconds, 1),
        figures.trajectories / figures.seconds,
        size / figures.seconds,
        round(figures.peak / MEGABYTE),
        round(figures.worker_peak / MEGABYTE),
    )


def _largest(figures: Figures) -> int:
    return max(figures.peak, figures.worker_peak)


if __name__ == "__main__":
    alone(run)
