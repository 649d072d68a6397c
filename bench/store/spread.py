"""How a list of times is spread, and a place on a memory disk to take them."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds at some ranks of a sorted list."""

    count: int
    total: float
    p50: float
    p95: float
    p99: float
    longest: float


def spread(seconds: Sequence[float]) -> Spread:
    """Return the ranks; a rank is a time that was measured, never one between two."""
    ordered = sorted(seconds)
    p50, p95, p99 = (ordered[ceil(share * len(ordered)) - 1] for share in (0.5, 0.95, 0.99))
    return Spread(len(ordered), sum(ordered), p50, p95, p99, ordered[-1])


def milliseconds(seconds: float) -> str:
    """Return a time for a cell of a table."""
    value = 1000 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@contextmanager
def memory_disk() -> Generator[Path]:
    """Lend a folder in memory, where the machine has one, so that no disk takes part."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        yield Path(folder)
