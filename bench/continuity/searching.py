"""What one search call brings back: the second score of continuity.

Everything before the point is in a store. For each needed name one search is made, with the name as
its only words; the name counts as brought back when one of the messages found holds it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.continuity.names import heard, present
from bench.report import Bar, Table
from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.continuity.events import Event

SESSION = "20260101_000000_0000aa"
LIMIT = 5
PROMISED = 0.99


@dataclass(frozen=True, slots=True)
class Recalled:
    """How many of an event's needed names one search each brought back."""

    session: str
    kind: str
    needed: int
    found: int
    milliseconds: tuple[float, ...]


def measure(events: Sequence[Event]) -> tuple[Recalled, ...]:
    """Search for every needed name of every event."""
    return tuple(map(_recalled, events))


def table(scores: Sequence[Recalled], groups: Mapping[str, Callable[[Recalled], bool]]) -> Table:
    """Return the share of names brought back in each group of events."""
    rows: list[tuple[str | int, ...]] = []
    for name, wanted in groups.items():
        own = [score for score in scores if wanted(score)]
        if own:
            spent = [each for score in own for each in score.milliseconds]
            rows.append((name, len(own), len(spent), f"{_share(own):.3f}", f"{median(spent):.1f}"))
    note = f"One search for each needed name, the first {LIMIT} messages looked at."
    columns = ("events", "count", "names", "brought back", "median ms")
    return Table("continuity-search", columns, tuple(rows), note)


def bars(scores: Sequence[Recalled]) -> tuple[Bar, ...]:
    """Return the promise about search."""
    if not scores:
        return ()
    share = _share(scores)
    text = f"one search call brings back at least {PROMISED:.0%} of needed names"
    return (Bar(text, f"{share:.1%}", share >= PROMISED),)


def _share(scores: Sequence[Recalled]) -> float:
    return sum(score.found for score in scores) / sum(score.needed for score in scores)


def _recalled(event: Event) -> Recalled:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "events.db")
        store.create(Session(id=SESSION, source="bench", started=0))
        entries = store.append(SESSION, [Draft(message=each, at=0) for each in event.folded])
        texts = {entry.id: "\n".join(heard((entry.message,))) for entry in entries}
        found, spent = 0, list[float]()
        for name in sorted(event.needed):
            started = time.perf_counter()
            hits = store.search(name, Filters(), limit=LIMIT, now=0)
            spent.append((time.perf_counter() - started) * 1000)
            found += any(present(name, texts[hit.message_id]) for hit in hits)
        store.close()
    return Recalled(event.session, event.kind, len(event.needed), found, tuple(spent))
