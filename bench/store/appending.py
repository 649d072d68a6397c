"""How fast messages are written: alone, in batches, on top of a full store, by eight at once."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

from bench.store.corpus import MIXED, Corpus, Sitting
from bench.store.filling import BATCH, add_sitting, drafts_of, fill
from holdfast.recall import Filters
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from bench.store.corpus import Mix
    from bench.store.filling import Filling
    from holdfast.ports import Store

PROCESSES = 8
_SEED_ON_TOP = 91
_SEARCH_EVERY = 25


def fresh(folder: Path, mix: Mix, messages: int, batch: int) -> Filling:
    """Write to a file of its own, one commit for each batch."""
    store = SqliteStore(folder / f"{mix.name}-{batch}.db")
    try:
        return fill(store, Corpus(mix).sittings(messages), batch)
    finally:
        store.close()


def on_top(store: Store, mix: Mix, messages: int, batch: int = 1) -> tuple[list[float], float]:
    """Append to a new session of a store that is full already; returns what `add_sitting` does."""
    made = Corpus(mix, seed=_SEED_ON_TOP).sitting(0, messages)
    id_ = f"20270101_000000_{batch:06x}"
    return add_sitting(store, Sitting(id_, "api", made.started, made.messages), batch)


def crowd(path: Path, seconds: float) -> list[float]:
    """Let eight processes append, and search now and then; returns the seconds of all appends."""
    SqliteStore(path).close()
    context = multiprocessing.get_context("spawn")
    with context.Pool(PROCESSES) as pool:
        jobs = [(str(path), number, seconds) for number in range(PROCESSES)]
        return [each for spent in pool.starmap(_member, jobs, chunksize=1) for each in spent]


def _member(path: str, number: int, seconds: float) -> list[float]:
    from pathlib import Path

    store = SqliteStore(Path(path))
    sitting = Corpus(MIXED, seed=number).sitting(number, 2 * BATCH)
    store.create(Session(id=sitting.id, source=sitting.source, started=sitting.started))
    drafts = drafts_of(sitting.messages, sitting.started)
    spent: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        draft = drafts[len(spent) % len(drafts)]
        started = time.perf_counter()
        store.append(sitting.id, [draft])
        spent.append(time.perf_counter() - started)
        if len(spent) % _SEARCH_EVERY == 0:
            store.search("the ledger", Filters(), limit=5, now=sitting.started)
    store.close()
    return spent
