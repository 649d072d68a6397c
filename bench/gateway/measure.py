"""All cells of the benchmark of the gateway, in one run on one machine."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.gateway.cells import HOLDFAST, Cell, taken_in_turn
from bench.gateway.conversations import KINDS
from bench.gateway.processes import GatewayRunFailed, clients, holdfast, module
from bench.gateway.tables import gateway_bars, gateway_tables
from bench.gateway.upstream import LONG_MODEL
from bench.report import Result

if TYPE_CHECKING:
    from bench.gateway.cells import Figures
    from bench.gateway.processes import Clients, Footprint, Serving

RATE, RATE_OF_NEW = 50, 20
SMALL_WINDOW = 32_000
_TURNS = 10
"""After how many turns all conversations are compacted at the latest."""
_SHARES = (0.1, 0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is done; tests do less."""

    crowds: tuple[int, ...] = (50, 200)
    """How many clients there are at once, beside one alone."""
    conversations: int = 200
    """Known ones of 20 kB, which the clients go on with in turn."""
    requests: int = 200
    """Of one client, and of a crowd without time to think."""
    seconds: float = 1.6
    """How long a crowd with time to think is watched; three times as long where a bar is."""
    large: int = 40
    """Requests of the largest kind."""
    large_kind: str = "1 MB"
    streams: int = 24
    """Long streams."""
    live: int = 1_000
    idle: int = 200


FULL = Sizes()


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that a run found."""

    latency: tuple[tuple[Cell, dict[str, Figures]], ...]
    streams: tuple[tuple[Cell, dict[str, Figures]], ...]
    memory: tuple[tuple[str, Footprint], ...]
    """What `holdfast serve` has of the machine, as conversations come."""
    load: float
    """The load of the machine before the run, as the system averages it over a minute."""


def _known(sizes: Sizes) -> list[Cell]:
    """Return how conversations begin, one after the other, and go on with one client."""
    new = Cell(work="new conversation, 20 kB", is_new=True, requests=sizes.conversations, rounds=2)
    one = Cell(work="20 kB, goes on", requests=sizes.requests, rounds=4)
    return [new, one, replace(one, is_streamed=False)]


def _with_think_time(sizes: Sizes) -> list[Cell]:
    """Return clients that think between requests: the rate is the same, however many they are."""
    crowd = Cell(work="20 kB, goes on", rate=RATE, seconds=sizes.seconds)
    first, *others = sizes.crowds
    barred = replace(crowd, clients=first, seconds=3 * sizes.seconds, rounds=3)
    cells = [barred, replace(crowd, clients=first, is_streamed=False)]
    for clients_ in others:
        cells += [replace(crowd, clients=clients_, is_streamed=each) for each in (True, False)]
    new = replace(cells[1], work="new conversation, 20 kB", is_new=True, is_streamed=True)
    return [*cells, replace(new, rate=RATE_OF_NEW)]


def _without_pause(sizes: Sizes) -> list[Cell]:
    """Return clients that ask again at once, so that most requests stand in line."""
    cell = Cell(work="20 kB, goes on", requests=2 * sizes.requests)
    return [
        replace(cell, clients=crowd, is_streamed=each)
        for crowd in sizes.crowds
        for each in (True, False)
    ]


def _dialects(sizes: Sizes) -> list[Cell]:
    cells: list[Cell] = []
    for dialect in ("responses", "anthropic", "gemini"):
        cell = Cell(
            work=f"20 kB, goes on, {dialect}", dialect=dialect, requests=sizes.requests // 3
        )
        begun = replace(cell, work="", is_new=True, requests=max(sizes.requests // 12, 1))
        cells += [begun, cell]
    return cells


def _large(sizes: Sizes) -> list[Cell]:
    """Return one client with a long conversation, all known but the newest message."""
    kind, messages = sizes.large_kind, KINDS[sizes.large_kind][0]
    work = f"{kind}, {messages:,} known, one new"
    cell = Cell(work=work, kind=kind, requests=sizes.large, rounds=2)
    new = replace(cell, work=f"new conversation, {kind}", is_new=True, requests=2)
    return [new, cell, replace(cell, is_streamed=False)]


def _streams(sizes: Sizes) -> list[Cell]:
    cell = Cell(work="", kind="2 kB", model=LONG_MODEL, is_new=True, rounds=3)
    crowd = replace(cell, clients=8, requests=sizes.streams)
    return [replace(cell, requests=max(sizes.streams // 2, 3)), crowd]


def measured(sizes: Sizes = FULL) -> Result:
    """Measure everything and return the tables and whether the bars of the specification hold."""
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        upstream = stack.enter_context(module("upstream"))
        bare = stack.enter_context(module("passthrough", upstream.url))
        driven = stack.enter_context(clients())
        with holdfast(upstream.url) as ours:
            servers = (upstream, bare, ours)
            cells = [*_known(sizes), *_with_think_time(sizes), *_without_pause(sizes)]
            cells += [*_dialects(sizes), *_large(sizes)]
            latency = [(cell, dict(taken_in_turn(cell, servers, driven))) for cell in cells]
            streams = [
                (cell, dict(taken_in_turn(cell, servers, driven))) for cell in _streams(sizes)
            ]
        with holdfast(upstream.url, SMALL_WINDOW) as ours:
            latency.append(_folded(sizes, (upstream, bare, ours), driven))
        with holdfast(upstream.url) as ours:
            memory = _memory(sizes, ours, driven)
    shown = tuple((cell, found) for cell, found in latency if cell.work)
    found = Measured(shown, tuple(streams), tuple(memory), load)
    return Result("gateway", gateway_tables(found), gateway_bars(found), _raw(found))


def _folded(
    sizes: Sizes, servers: tuple[Serving, ...], driven: Clients
) -> tuple[Cell, dict[str, Figures]]:
    """Go on with conversations that have outgrown a small window and have been compacted."""
    cell = Cell(work="100 kB, folded before", kind="100 kB", requests=sizes.requests // 4)
    number = max(sizes.requests // 20, 1)
    taken_in_turn(replace(cell, is_new=True, requests=number), servers, driven)
    for _ in range(_TURNS):
        turn = taken_in_turn(replace(cell, requests=number), servers, driven)
        if turn[HOLDFAST].taken.folded == number:
            break
        # Compactions run in the background.
        time.sleep(0.5)
    found = dict(taken_in_turn(cell, servers, driven))
    taken = found[HOLDFAST].taken
    if taken.folded != len(taken.total):
        raise GatewayRunFailed(f"{taken.folded} of {len(taken.total)} conversations were folded")
    return cell, found


def _memory(sizes: Sizes, ours: Serving, driven: Clients) -> list[tuple[str, Footprint]]:
    """Let many conversations live in one process, then begin others that ask for nothing more."""
    cell = Cell(work="", clients=8, requests=8, is_new=True)
    taken_in_turn(cell, (ours,), driven)
    found = [("8 of 20 kB", ours.footprint())]
    taken_in_turn(replace(cell, requests=sizes.live - 8), (ours,), driven)
    taken_in_turn(replace(cell, is_new=False, requests=2 * sizes.live), (ours,), driven)
    found.append((f"{sizes.live:,} of 20 kB, three turns each", ours.footprint()))
    for kind in ("2 kB", "20 kB"):
        idle = replace(cell, kind=kind, model="idle", requests=sizes.idle)
        taken_in_turn(idle, (ours,), driven)
        found.append((f"and {sizes.idle} more of {kind}, one turn each", ours.footprint()))
    return found


def _raw(found: Measured) -> dict[str, object]:
    """Return more shares of the times than the tables have."""
    return {
        f"{cell.work}; {cell.clients} clients; {'stream' if cell.is_streamed else 'whole'}; "
        f"{cell.rate or 'no'} rate": {
            name: {
                **{f"first, {share:.0%}": round(figures.first(share), 2) for share in _SHARES},
                "processor": round(figures.processor, 2),
            }
            for name, figures in figures_of.items()
        }
        for cell, figures_of in found.latency
    }
