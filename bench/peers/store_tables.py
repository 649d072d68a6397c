"""The two stores' figures as tables and promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bench.report import Bar, Table
from bench.store.corpus import CHAT, MIXED
from bench.store.filling import BATCH
from bench.store.searching import Answer, all_of, is_spaced, rows_by_kind
from bench.store.spread import milliseconds, spread

if TYPE_CHECKING:
    from bench.report import Cell

Pair: TypeAlias = tuple[float, float]
"""Ours, and the peer's."""
TRANSCRIPT = "one long transcript"
"""The transcript on which compaction is measured: long results of tools."""
_FASTER = {1: 2.0, BATCH: 5.0}
_COMPACTION = 10.0


@dataclass(frozen=True, slots=True)
class Calls:
    """What the appends to one store took, in seconds."""

    processor: float
    longest: float
    """The wall time of the slowest call."""


@dataclass(frozen=True, slots=True)
class Appends:
    """The same messages appended to both stores."""

    ours: Calls
    theirs: Calls
    messages: int

    @property
    def factor(self) -> float:
        """Return how many times less of the processor ours takes."""
        return self.theirs.processor / self.ours.processor


@dataclass(slots=True)
class Beside:
    """What was measured; pairs are ours and the peer's, lists are seconds of calls."""

    requirement: str
    appends: dict[tuple[str, int], Appends] = field(default_factory=dict[tuple[str, int], Appends])
    """By kind of messages and messages a transaction."""
    disk: dict[str, Pair] = field(default_factory=dict[str, Pair])
    stored: int = 0
    answers: tuple[list[Answer], list[Answer]] = field(
        default_factory=lambda: (list[Answer](), list[Answer]())
    )
    discoveries: tuple[list[float], list[float]] = field(
        default_factory=lambda: (list[float](), list[float]())
    )
    compactions: dict[int, Pair] = field(default_factory=dict[int, Pair])
    reads: dict[int, Pair] = field(default_factory=dict[int, Pair])
    """Seconds from the file to messages in memory."""
    loads: dict[int, Pair] = field(default_factory=dict[int, Pair])
    """The same until ours has weighed them, which theirs does not do."""


def store_tables(beside: Beside) -> tuple[Table, ...]:
    """Return the tables of the page."""
    return _work_table(beside), _search_table(beside)


def store_bars(beside: Beside) -> tuple[Bar, ...]:
    """Return the promises that name the peer."""
    found: list[Bar] = []
    for name in (TRANSCRIPT, MIXED.name, CHAT.name):
        for batch, least in _FASTER.items():
            factor = beside.appends[name, batch].factor
            how = "one commit a message" if batch == 1 else f"{batch} a transaction"
            promise = f"append beside Hermes, {name}, {how}: at least {least:.0f}x as fast"
            found.append(Bar(promise, f"{factor:.1f}x", factor >= least))
    for size, (ours, theirs) in beside.compactions.items():
        factor = theirs / ours
        promise = f"whole compaction beside Hermes, {size:,} messages: at least 10x as fast"
        found.append(Bar(promise, f"{factor:.1f}x", factor >= _COMPACTION))
    return tuple(found)


def _work_table(beside: Beside) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (name, batch), done in beside.appends.items():
        work = f"append, {name}, {batch} a transaction"
        both = (done.ours, done.theirs)
        rates = [f"{done.messages / each.processor:,.0f}/s" for each in both]
        rows.append((work, *rates, f"{done.factor:.1f}x"))
        rows.append(_times(f"{work}: longest call", done.ours.longest, done.theirs.longest))
    for name, (ours, theirs) in beside.disk.items():
        work = f"bytes on disk for a byte, {name}"
        rows.append((work, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}x"))
    for size, pair in beside.reads.items():
        rows.append(_times(f"read of {size:,} messages", *pair))
    for size, pair in beside.loads.items():
        rows.append(_times(f"load of {size:,} messages, ours weighed", *pair))
    for size, pair in beside.compactions.items():
        rows.append(_times(f"whole compaction of {size:,} messages", *pair))
    note = (
        f"{beside.requirement}, on a memory disk, in turn. Factors above 1 are in our favor. "
        "Rates and compactions are by CPU time, longest calls, reads and loads by wall time. Of "
        "three rounds of appends the fastest counts, and the longest call of all. "
        "Hermes has no public call for several messages in one transaction; the one that its own "
        "compaction uses is called. *Whole compaction*: from messages in memory to the new window "
        "in the store, same session, the model a fixed text; Hermes' agent around it left out."
    )
    return Table("store-peers", ("work", "holdfast", "Hermes", "factor"), tuple(rows), note)


def _search_table(beside: Beside) -> Table:
    ours, theirs = beside.answers
    rows = rows_by_kind({"ours": ours, "theirs": theirs})
    mine, peers = map(spread, beside.discoveries)
    tool: tuple[Cell, ...] = ("discovery tool, all", "", *_ranks(mine.p50, mine.p95))
    tool = (*tool, "", *_ranks(peers.p50, peers.p95))
    rest = [all_of([each for each in given if is_spaced(each)]).p95 for given in (ours, theirs)]
    every = [all_of(given).p95 for given in (ours, theirs)]
    columns = ("question", "found", "p50 ms", "p95 ms", "Hermes found", "p50 ms", "p95 ms")
    note = (
        f"{beside.stored:,} tool-heavy messages. Over all questions, Hermes' p95 is "
        f"{every[1] / every[0]:.1f} times ours. Without Chinese, Japanese and Korean it is "
        f"{rest[1] / rest[0]:.1f} times ours: for short questions in these it reads every "
        "message, and they are more frequent here than in most stores. To find nothing is quick. "
        "Hermes' search also reads a message before and after each result and cuts snippets; of "
        "ours, only the discovery tool does. The tools return what they return by default."
    )
    return Table("store-peers-search", columns, (*rows, tool), note)


def _times(work: str, ours: float, theirs: float) -> tuple[Cell, ...]:
    cells = [f"{milliseconds(each)} ms" for each in (ours, theirs)]
    return work, *cells, f"{theirs / ours:.1f}x"


def _ranks(p50: float, p95: float) -> tuple[str, str]:
    return milliseconds(p50), milliseconds(p95)
