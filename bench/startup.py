"""What importing the package and starting the command cost."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.report import Bar, Result, Table, alone

if TYPE_CHECKING:
    from bench.report import Cell

ROUNDS = 15
IMPORT_LIMIT, HELP_LIMIT = 0.050, 0.150


def run() -> Result:
    """Measure start-up and return its table."""
    python, command = sys.executable, Path(sys.executable).with_name("holdfast")
    commands = {
        "bare `python`": [python, "-c", ""],
        "`import holdfast`": [python, "-c", "import holdfast"],
        "`holdfast.compress` loaded": [python, "-c", "import holdfast; holdfast.compress"],
        "`holdfast --help`": [str(command), "--help"],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    # In turn, so that a busy minute slows all of them alike.
    for _ in range(ROUNDS):
        for name, arguments in commands.items():
            spent[name].append(_seconds(arguments))
    bare, imported, _, help_shown = (median(each) for each in spent.values())
    rows: list[tuple[Cell, ...]] = [
        (name, f"{1000 * median(each):.0f}", f"{1000 * (median(each) - bare):.0f}")
        for name, each in spent.items()
    ]
    above = imported - bare
    bars = (
        Bar(
            "`import holdfast`: at most 50 ms above bare Python",
            f"{1000 * above:.0f} ms",
            above <= IMPORT_LIMIT,
        ),
        Bar(
            "`holdfast --help`: at most 150 ms",
            f"{1000 * help_shown:.0f} ms",
            help_shown <= HELP_LIMIT,
        ),
    )
    note = f"Wall time, median of {ROUNDS} processes each, started in turn."
    table = Table("startup", ("start", "median ms", "above bare Python"), tuple(rows), note)
    return Result("startup", (table,), bars)


def _seconds(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(arguments, check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    alone(run)
