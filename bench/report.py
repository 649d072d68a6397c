"""Results as values, as JSON files and as the tables of the pages about benchmarks."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "bench" / "results"
PAGES = tuple(REPOSITORY / "docs" / name for name in ("benchmarks.md", "reference/figures.md"))

Cell: TypeAlias = str | int | float

_TABLE = re.compile(r"(<!-- table:([\w-]+) -->\n).*?(<!-- /table:\2 -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise, and whether this run kept it."""

    promise: str
    measured: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Figures for readers; `name` is the marker that it replaces on the page."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    """What a reader must know to read the table, such as the size of the sample."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one benchmark found."""

    name: str
    tables: tuple[Table, ...]
    bars: tuple[Bar, ...] = ()
    figures: Mapping[str, object] = field(default_factory=dict[str, object])
    """Raw figures that are too many for a table."""


def shared() -> Path | None:
    """Return the folder of real sessions, which is not part of the repository, if it is there."""
    folder = Path(os.environ.get("HOLDFAST_SHARED") or REPOSITORY.parent / "shared")
    return folder if folder.is_dir() else None


def stopwatch(work: Callable[[], object], *, rounds: int = 1) -> float:
    """Return the seconds of the fastest round, the one that interference slowed least."""
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def save(result: Result, seconds: float, folder: Path = RESULTS) -> Path:
    """Write the result as JSON, with the machine it was taken on."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.name}.json"
    value = {**asdict(result), "seconds": round(seconds, 1), "machine": _machine()}
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def publish(folder: Path = RESULTS, pages: Sequence[Path] = PAGES) -> tuple[str, ...]:
    """Put the tables of all saved results on the pages; return the markers that have no table."""
    tables = _saved_tables(folder)
    missing: list[str] = []

    def table(match: re.Match[str]) -> str:
        name = match.group(2)
        if name not in tables:
            missing.append(name)
            return match.group()
        return f"{match.group(1)}{tables[name]}\n{match.group(3)}"

    for page in pages:
        page.write_text(_TABLE.sub(table, page.read_text("utf-8")), "utf-8")
    return tuple(missing)


def render(columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = "") -> str:
    """Return a Markdown table; columns after the first are aligned to the right."""
    rule = ["---", *("---:" for _ in columns[1:])]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in (columns, rule, *rows)]
    return "\n".join([*lines, *(["", note] if note else [])])


def missed(result: Result) -> tuple[str, ...]:
    """Return one line for each promise that the run did not keep."""
    return tuple(
        f"{result.name}: {bar.promise}: measured {bar.measured}"
        for bar in result.bars
        if not bar.kept
    )


def alone(run: Callable[[], Result]) -> None:
    """Run one benchmark from the command line: print, save, and bring the pages up to date."""
    started = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - started
    if not result.tables:
        sys.stdout.write(f"{result.name}: skipped, its sessions are not here\n")
        return
    for table in result.tables:
        sys.stdout.write(f"\n{render(table.columns, table.rows, table.note)}\n")
    for line in missed(result):
        sys.stdout.write(f"missed: {line}\n")
    sys.stdout.write(f"\n{save(result, seconds).relative_to(REPOSITORY)} ({seconds:.1f} s)\n")
    publish()


def _saved_tables(folder: Path) -> dict[str, str]:
    tables: dict[str, str] = {}
    bars: list[tuple[Cell, ...]] = []
    for path in sorted(folder.glob("*.json")):
        value = json.loads(path.read_text("utf-8"))
        if not isinstance(value, dict) or "tables" not in value:
            continue
        for table in value["tables"]:
            tables[table["name"]] = render(table["columns"], table["rows"], table["note"])
        bars += [
            (bar["promise"], bar["measured"], "kept" if bar["kept"] else "**missed**")
            for bar in value["bars"]
        ]
    tables["bars"] = render(("promise", "measured", ""), bars)
    lost = [(promise, measured) for promise, measured, kept in bars if kept != "kept"]
    tables["missed"] = render(("promise that the last run missed", "measured"), lost)
    return tables


def _cell(value: Cell) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else value


def _machine() -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "taken": time.strftime("%Y-%m-%d"),
    }
