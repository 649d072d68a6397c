"""A store of many messages, with one long compacted session in it: search, open, resume, append."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import holdfast
from bench.store.appending import on_top
from bench.store.compacting import compact_session
from bench.store.corpus import Corpus, Sitting
from bench.store.discovering import discoveries
from bench.store.disk import on_disk
from bench.store.filling import BATCH, add_sitting, fill
from bench.store.queries import questions
from bench.store.searching import answers, ask_store
from holdfast.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bench.store.corpus import Mix
    from bench.store.disk import Disk
    from bench.store.filling import Filling
    from bench.store.searching import Answer

LONG = 20_000
"""Messages of the one long session."""
ROUNDS = 15
_LONG_ID = "20270101_000000_ffffff"


@dataclass(frozen=True, slots=True)
class Large:
    """What was measured on one store; lists are seconds of calls."""

    filling: Filling
    disk: Disk
    """Of the corpus alone, before the rest was added."""
    answers: list[Answer]
    discoveries: list[float]
    opening: list[float]
    resuming: list[float]
    shown: int
    """Messages of the long session that its window shows."""
    appending: list[float]


def measure(path: Path, mix: Mix, messages: int, appended: int) -> Large:
    """Fill a store with a corpus and measure what its users would notice."""
    store = SqliteStore(path)
    corpus = Corpus(mix)
    filling = fill(store, corpus.sittings(messages))
    store.close()
    disk = on_disk(path)
    store = SqliteStore(path)
    long = Corpus(mix, seed=77).sitting(0, LONG)
    add_sitting(store, Sitting(_LONG_ID, "cli", long.started, long.messages), BATCH)
    asked = questions(corpus, filling.samples)
    given = answers(ask_store(store), asked)
    tool = discoveries(store, asked)
    store.close()
    done = compact_session(path, _LONG_ID)
    opening = _rounds(lambda: _open(path))
    resuming = _rounds(lambda: _resume(path))
    store = SqliteStore(path)
    appending, _ = on_top(store, mix, appended)
    store.close()
    return Large(filling, disk, given, tool, opening, resuming, done.shown, appending)


def _rounds(work: Callable[[], None]) -> list[float]:
    spent: list[float] = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return spent


def _open(path: Path) -> None:
    store = SqliteStore(path)
    store.head(_LONG_ID)
    store.window(_LONG_ID)
    store.close()


def _resume(path: Path) -> None:
    with holdfast.Conversation.open(_LONG_ID, store=path, active=False) as chat:
        chat.messages()
