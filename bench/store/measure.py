"""Everything about the store in one run, on a memory disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.report import Result
from bench.store.appending import crowd, fresh
from bench.store.compacting import SIZES, whole_compaction
from bench.store.corpus import CHAT, MIXED, MOSTLY_CHAT
from bench.store.disk import on_disk
from bench.store.filling import BATCH
from bench.store.large import measure
from bench.store.spread import memory_disk
from bench.store.tables import Figures, bars, tables

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is written."""

    appended: int = 20_000
    stored: int = 100_000
    large: int = 1_000_000
    seconds: float = 5.0
    """How long the eight processes write."""


FULL = Sizes()


def run(sizes: Sizes = FULL) -> Result:
    """Measure the store and return its tables and promises."""
    with memory_disk() as folder:
        figures = _figures(folder, sizes)
    return Result("store", tables(figures), bars(figures))


def _figures(folder: Path, sizes: Sizes) -> Figures:
    written = {
        (mix.name, batch): fresh(folder, mix, sizes.appended, batch)
        for mix in (MIXED, CHAT)
        for batch in (1, BATCH)
    }
    together = crowd(folder / "crowd.db", sizes.seconds)
    passes = {size: whole_compaction(folder, size) for size in SIZES}
    (folder / "chat").mkdir()
    chat = fresh(folder / "chat", CHAT, sizes.stored, BATCH)
    chat_disk = on_disk(next((folder / "chat").glob("*.db")))
    added = sizes.appended // 4
    usual = measure(folder / "usual.db", MIXED, sizes.stored, added)
    large = measure(folder / "large.db", MOSTLY_CHAT, sizes.large, added)
    disk = {
        MIXED.name: (usual.filling, usual.disk),
        CHAT.name: (chat, chat_disk),
        MOSTLY_CHAT.name: (large.filling, large.disk),
    }
    return Figures(written, together, disk, (usual, large), passes)
