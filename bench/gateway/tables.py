"""The figures of the gateway for readers, and the bars of the specification beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.gateway.cells import DIRECT, HOLDFAST, PASSTHROUGH
from bench.gateway.upstream import LONG
from bench.report import Bar, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.gateway.cells import Cell, Figures
    from bench.gateway.measure import Measured
    from bench.report import Cell as Shown

MOST_P50, MOST_P99, MOST_LARGE = 3.0, 25.0, 15.0
LEAST_STREAMED = 0.8
MOST_BYTES = 300_000_000
THREADS, DESCRIPTORS = 48, 20
MOST_IDLE = 10_000
"""Bytes that an idle conversation may take: half of the longer ones' words."""
MIDDLE, LATE = 0.5, 0.99


def added(found: Mapping[str, Figures], server: str, share: float) -> float:
    """Return the milliseconds that a server adds at the first byte."""
    return found[server].first(share) - found[DIRECT].first(share)


def load_of(cell: Cell) -> str:
    """Return what the clients do, in words."""
    if cell.clients == 1:
        return "one after the other"
    return f"{cell.rate}/s" if cell.rate else "no pause"


def gateway_tables(found: Measured) -> tuple[Table, ...]:
    """Return the tables of latency, streams and memory."""
    return _latency(found), _streams(found), _memory(found)


def _latency(found: Measured) -> Table:
    rows: list[tuple[Shown, ...]] = []
    for cell, figures in found.latency:
        direct, bare, ours = (figures[name] for name in (DIRECT, PASSTHROUGH, HOLDFAST))
        rows.append(
            (
                f"{cell.work}{', streamed' if cell.is_streamed else ', whole'}",
                cell.clients,
                load_of(cell),
                pair(direct.first(MIDDLE), direct.first(LATE)),
                pair(*(added(figures, PASSTHROUGH, share) for share in (MIDDLE, LATE))),
                pair(*(added(figures, HOLDFAST, share) for share in (MIDDLE, LATE))),
                pair(*(ours.total(share) - direct.total(share) for share in (MIDDLE, LATE))),
                f"{bare.each:.1f} / {ours.each:.1f}",
                _verdict(cell, figures),
            )
        )
    columns = (
        "requests",
        "clients",
        "pace",
        "direct, first byte",
        "pass-through adds",
        "holdfast adds",
        "holdfast adds to the whole",
        "CPU, pass-through / holdfast",
        "bar",
    )
    sent = found.latency[1][1][HOLDFAST].taken
    mean = sent.size / len(sent.total) / 1000
    note = (
        "Milliseconds, p50 / p99; CPU in milliseconds of a core for each request. What is added is "
        "the difference to the same share of the direct requests. *At a pace of 50/s*: clients "
        "think between requests, so that all together ask 50 times a second. *No pause*: each asks "
        "again at once, and the figure says mostly how long a request stands in line before a "
        "server with one core. Clients, upstream and server share the machine. Conversations have "
        f"50 messages at first and grow by two with every turn ({mean:.0f} kB on average with one "
        "client). The dialect is OpenAI's chat where none is named. Load of the machine before the "
        f"run: {found.load:.1f}."
    )
    return Table("gateway", columns, tuple(rows), note)


def _verdict(cell: Cell, figures: Mapping[str, Figures]) -> str:
    bars = [bar.kept for bar in _bars_of(cell, figures)]
    return "" if not bars else "kept" if all(bars) else "**missed**"


def _streams(found: Measured) -> Table:
    rows: list[tuple[Shown, ...]] = []
    for cell, figures in found.streams:
        direct, bare, ours = (figures[name] for name in (DIRECT, PASSTHROUGH, HOLDFAST))
        rows.append(
            (
                cell.clients,
                round(direct.events_a_second),
                round(bare.events_a_second),
                round(ours.events_a_second),
                f"{ours.events_a_second / bare.events_a_second:.0%}",
                *(f"{1e6 * each.processor / each.taken.events:.0f} µs" for each in (bare, ours)),
            )
        )
    columns = (
        "streams at once",
        "direct, events/s",
        "pass-through",
        "holdfast",
        "of the pass-through",
        "CPU for an event, pass-through",
        "holdfast",
    )
    note = (
        f"Streams of {LONG:,} events, each written by itself; from the request to the last byte, "
        "so that recording question and answer is part of it."
    )
    return Table("gateway-streams", columns, tuple(rows), note)


def _memory(found: Measured) -> Table:
    rows = tuple(
        (
            name,
            *(f"{each / 1e6:.0f}" for each in (seen.resident, seen.proportional)),
            seen.threads,
            seen.descriptors,
        )
        for name, seen in found.memory
    )
    columns = ("conversations", "RSS, MB", "PSS, MB", "threads", "descriptors")
    note = "One process of `holdfast serve`, eight requests at once."
    return Table("gateway-memory", columns, rows, note)


def gateway_bars(found: Measured) -> tuple[Bar, ...]:
    """Return what the specification promises, with what was measured."""
    latency = [bar for cell, figures in found.latency for bar in _bars_of(cell, figures)]
    streams = [
        Bar(
            f"gateway, {cell.clients} long streams at once: at most 20 % fewer events a second "
            "than a bare pass-through",
            f"{share:.0%} of its events",
            share >= LEAST_STREAMED,
        )
        for cell, figures in found.streams
        for share in [figures[HOLDFAST].events_a_second / figures[PASSTHROUGH].events_a_second]
    ]
    taken = [figures[HOLDFAST].taken for _, figures in (*found.latency, *found.streams)]
    lost = sum(each.unrecorded for each in taken)
    recorded = Bar(
        "gateway: every request is recorded before it is forwarded",
        f"{lost} of {sum(len(each.total) for each in taken):,} were not",
        not lost,
    )
    return (*latency, *streams, *_memory_bars(found), recorded)


def _bars_of(cell: Cell, figures: Mapping[str, Figures]) -> list[Bar]:
    """Return what is promised of one row."""
    if cell.is_new:
        return []
    middle, late = (added(figures, HOLDFAST, share) for share in (MIDDLE, LATE))
    where = f"gateway, {cell.work}, {'streamed' if cell.is_streamed else 'whole'}"
    if cell.kind == "1 MB":
        promise = f"{where}: at most 15 ms more at the first byte (p50)"
        return [Bar(promise, f"{middle:.1f} ms", middle <= MOST_LARGE)]
    if cell.clients != 50:
        return []
    bare = ", ".join(f"{added(figures, PASSTHROUGH, share):.1f}" for share in (MIDDLE, LATE))
    return [
        Bar(
            f"{where}, 50 clients, {load_of(cell)}: at most 3 ms (p50) and 25 ms (p99) more at the "
            "first byte",
            f"{middle:.1f} and {late:.1f} ms; the bare pass-through {bare} ms",
            middle <= MOST_P50 and late <= MOST_P99,
        )
    ]


def _memory_bars(found: Measured) -> list[Bar]:
    (first, few), (name, live), (_, short), (last, long) = found.memory
    if not few.resident:
        return []
    number = int(last.split()[1])
    steps = ((live, short), (short, long))
    each = [(after.resident - before.resident) / number for before, after in steps]
    more = live.descriptors - few.descriptors
    return [
        Bar(
            f"gateway, {name}: at most 300 MB",
            f"{live.resident / 1e6:.0f} MB",
            live.resident <= MOST_BYTES,
        ),
        Bar(
            "gateway: an idle conversation takes the same memory, however long it is",
            f"{each[0] / 1e3:.1f} kB of 2 kB, {each[1] / 1e3:.1f} kB of 20 kB",
            max(each) <= MOST_IDLE,
        ),
        Bar(
            f"gateway, {name}: at most {THREADS} threads, and {DESCRIPTORS} descriptors more than "
            f"with {first}",
            f"{live.threads} threads, {more} descriptors more",
            live.threads <= THREADS and more <= DESCRIPTORS,
        ),
    ]


def pair(middle: float, late: float) -> str:
    """Return p50 and p99 as one cell."""
    return f"{middle:.1f} / {late:.1f}"
