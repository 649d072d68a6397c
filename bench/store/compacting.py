"""A whole compaction: the conversation, the summary of a model that answers at once, the store."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import holdfast
from bench.report import stopwatch
from bench.store.corpus import Sitting
from bench.store.filling import BATCH, add_sitting
from bench.transcripts import transcript
from holdfast.stores.sqlite import SqliteStore
from holdfast.summary import adopt, render

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (2_000, 20_000)
_RECORD = render(
    adopt("## Goal\nFinish the task.\n\n## Completed Actions\n1. Read the code.\n", "")
)


@dataclass(frozen=True, slots=True)
class Pass:
    """Seconds of one conversation's steps, and how many messages its window shows afterwards."""

    read: float
    """From the file to a window in memory, and nothing more."""
    load: float
    """Until a conversation that was opened knows how it stands, its messages weighed."""
    compress: float
    processor: float
    """The same in seconds of the processor."""
    undo: float
    """Until the window is in memory again."""
    redo: float
    shown: int


def whole_compaction(folder: Path, size: int) -> Pass:
    """Write a session of so many messages, load it, compact it, take that back and forth."""
    path = folder / f"whole-{size}.db"
    sitting = Sitting("20260101_000000_ffffff", "cli", 1_750_000_000_000, transcript(size))
    store = SqliteStore(path)
    add_sitting(store, sitting, BATCH)
    store.close()
    return compact_session(path, sitting.id)


def compact_session(path: Path, id_: str) -> Pass:
    """Compact a session of a store as its user does, with a model that is a fixed text."""
    store = SqliteStore(path)
    read = stopwatch(lambda: store.window(id_))
    store.close()
    with holdfast.Conversation.open(
        id_, store=path, summarizer=lambda _prompt: _RECORD, automatic=False, active=False
    ) as chat:
        load = stopwatch(chat.status)
        busy, started = time.process_time(), time.perf_counter()
        report = chat.compress()
        compress, processor = time.perf_counter() - started, time.process_time() - busy
        if report.figures.audit is None:
            raise AssertionError(f"the benchmark compacts nothing: {report.reason}")
        shown = chat.status().messages
        undo = stopwatch(lambda: (chat.undo(), chat.status()))
        redo = stopwatch(lambda: (chat.redo(), chat.status()))
        if chat.status().messages != shown:
            raise AssertionError("redo does not give back what undo took away")
        return Pass(read, load, compress, processor, undo, redo, shown)
