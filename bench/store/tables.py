"""The store's figures as tables and promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.report import Bar, Table
from bench.store.appending import PROCESSES
from bench.store.filling import BATCH
from bench.store.large import LONG
from bench.store.searching import LIMIT, all_of, rows_by_kind
from bench.store.spread import milliseconds, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.report import Cell
    from bench.store.compacting import Pass
    from bench.store.disk import Disk
    from bench.store.filling import Filling
    from bench.store.large import Large

STALL = 0.1
_CROWD = 0.1
_BYTES = 2.5
_SEARCH = (0.010, 0.050)
_DISCOVERY = 0.025
_OPEN = 0.010


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that was measured."""

    written: dict[tuple[str, int], Filling]
    """Fresh files, by kind of messages and messages a transaction."""
    together: list[float]
    """Appends of eight processes."""
    disk: dict[str, tuple[Filling, Disk]]
    stores: tuple[Large, Large]
    """A usual one and a large one."""
    passes: dict[int, Pass]


def tables(figures: Figures) -> tuple[Table, ...]:
    """Return the tables of the page."""
    return (
        _append_table(figures),
        _disk_table(figures),
        _search_table(figures.stores),
        _open_table(figures.stores),
        _compaction_table(figures.passes),
    )


def bars(figures: Figures) -> tuple[Bar, ...]:
    """Return the promises that need no peer."""
    usual, large = figures.stores
    stalls = {
        f"{_count(store)} messages": max(*store.appending, *store.filling.seconds)
        for store in figures.stores
    }
    stalls["an empty store"] = max(max(each.seconds) for each in figures.written.values())
    where, stall = max(stalls.items(), key=lambda each: each[1])
    crowd = spread(figures.together)
    found = [
        Bar("append: no stall over 100 ms", f"{_ms(stall)} ({where})", stall <= STALL),
        Bar(
            "append by eight processes on two cores: p99 under 100 ms",
            _ms(crowd.p99),
            crowd.p99 < _CROWD,
        ),
    ]
    for name, (filling, disk) in figures.disk.items():
        ratio = disk.size / filling.content
        promise = f"bytes on disk for a byte of content, {name}: at most {_BYTES}"
        found.append(Bar(promise, f"{ratio:.2f}", ratio <= _BYTES))
    for store, limit in zip(figures.stores, _SEARCH, strict=True):
        p95 = all_of(store.answers).p95
        promise = f"search over {_count(store)} messages: p95 at most {_ms(limit)}"
        found.append(Bar(promise, _ms(p95), p95 <= limit))
    tool, opening = spread(usual.discoveries).p95, spread(large.opening).p50
    promise = f"discovery over {_count(usual)} messages: p95 at most {_ms(_DISCOVERY)}"
    found.append(Bar(promise, _ms(tool), tool <= _DISCOVERY))
    promise = f"open among {_count(large)} messages: at most {_ms(_OPEN)}"
    found.append(Bar(promise, _ms(opening), opening <= _OPEN))
    return tuple(found)


def _append_table(figures: Figures) -> Table:
    def row(store: str, messages: str, batch: int, seconds: Sequence[float]) -> tuple[Cell, ...]:
        times = spread(seconds)
        ranks = map(milliseconds, (times.p50, times.p99, times.longest))
        return (store, messages, batch, *ranks)

    rows: list[tuple[Cell, ...]] = []
    for (name, batch), filling in figures.written.items():
        cells = row("empty", name, batch, filling.seconds)
        rows.append((*cells[:3], f"{filling.rate:,.0f}", *cells[3:]))
    for store in figures.stores:
        rate = len(store.appending) / sum(store.appending)
        cells = row(f"{_count(store)} messages", "the store's own", 1, store.appending)
        rows.append((*cells[:3], f"{rate:,.0f}", *cells[3:]))
        cells = row(f"0 to {_count(store)}", "the store's own", BATCH, store.filling.seconds)
        rows.append((*cells[:3], f"{store.filling.rate:,.0f}", *cells[3:]))
    cells = row("eight processes", "tool-heavy", 1, figures.together)
    rows.append((*cells[:3], "", *cells[3:]))
    columns = ("store", "messages", "a transaction", "messages/s", "p50 ms", "p99 ms", "longest ms")
    note = (
        "On a memory disk; index, compression and hashing included, decoding left out. Times are "
        f"of calls. The {PROCESSES} processes search now and then; they share the machine's cores."
    )
    return Table("store-append", columns, tuple(rows), note)


def _disk_table(figures: Figures) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (filling, disk) in figures.disk.items():
        parts = disk.parts or {}
        split = [f"{parts[part] / filling.content:.2f}" if part in parts else "" for part in _PARTS]
        rows.append(
            (
                name,
                filling.messages,
                f"{filling.content / filling.messages:,.0f}",
                f"{disk.size / filling.content:.2f}",
                *split,
            )
        )
    columns = ("messages", "number", "bytes each", "on disk for a byte", *_PARTS)
    note = "Content is the text of messages with names and arguments of calls, in UTF-8."
    return Table("store-disk", columns, tuple(rows), note)


_PARTS = ("messages", "index", "blobs")


def _search_table(stores: Sequence[Large]) -> Table:
    rows = rows_by_kind({_count(store): store.answers for store in stores})
    tool: list[Cell] = ["discovery tool, all"]
    for store in stores:
        times = spread(store.discoveries)
        tool += ["", milliseconds(times.p50), milliseconds(times.p95)]
    columns = ["question"]
    for store in stores:
        number = _count(store)
        columns += [f"found at {number}", f"{number}: p50 ms", f"{number}: p95 ms"]
    note = (
        f"The best {LIMIT} messages, each question asked once. *Found* is the share of questions "
        "with a result. The discovery tool returns snippets, what was said around each, and how "
        "each conversation began and ended, as the text that a model reads."
    )
    return Table("store-search", tuple(columns), (*rows, tuple(tool)), note)


def _open_table(stores: Sequence[Large]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for store in stores:
        opening, resuming = spread(store.opening), spread(store.resuming)
        ranks = (opening.p50, opening.p95, resuming.p50, resuming.p95)
        rows.append((_count(store), *map(milliseconds, ranks), f"{store.shown:,} of {LONG:,}"))
    columns = ("messages", "open p50 ms", "p95", "resume p50 ms", "p95", "rows of the window")
    note = (
        f"Of a compacted session of {LONG:,} messages. *Open*: connect, head and window of the "
        "store, and close. *Resume*: a `Conversation` up to the messages that a provider gets."
    )
    return Table("store-open", columns, tuple(rows), note)


def _compaction_table(passes: dict[int, Pass]) -> Table:
    rows = [
        (
            f"{size:,}",
            *map(_ms, (done.read, done.load, done.compress, done.undo, done.redo)),
            done.shown,
        )
        for size, done in passes.items()
    ]
    columns = ("messages", "read", "load", "compress", "undo", "redo", "messages after it")
    note = "Wall time through `Conversation`, until the window is read; the model is a fixed text."
    return Table("store-compaction", columns, tuple(rows), note)


def _count(store: Large) -> str:
    return f"{store.filling.messages:,}"


def _ms(seconds: float) -> str:
    return f"{milliseconds(seconds)} ms"
