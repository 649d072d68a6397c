"""Follows what the model of a Hermes session sees, row by row.

When Hermes compacts in place, it sets every live row aside and writes the first messages, the
summary and the newest messages anew, all in one transaction. The repeated messages are known
again here and not told twice. A copy has the words of a message that the model saw and either
its very time, or a time that follows the row beside it by a millionth of a second, as rows do
that are written together. Words alone prove nothing: people say the same thing twice.

What is told never depends on which rows are live today, so a session that grew is told with the
same beginning.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Folded, Rewound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.chronicle import Event, Told

__all__ = ["Fate", "Written", "tell_rows"]

_TOGETHER = 5e-6
"""How many seconds apart rows of one transaction are, at most."""


class Fate(Enum):
    """What became of a row."""

    LIVE = auto()
    FOLDED = auto()
    """A compaction set it aside."""
    TAKEN_BACK = auto()


@dataclass(frozen=True, slots=True)
class Written:
    """A row: what it tells, and what became of it."""

    told: Told
    print: int
    at: float
    fate: Fate = Fate.LIVE


@dataclass(frozen=True, slots=True)
class _Shown:
    """A message in the window."""

    key: str
    print: int
    at: float
    """When its newest row was written: copies are made of copies."""

    def written_again(self, row: Written) -> _Shown:
        """Return the message as a row repeats it."""
        return replace(self, at=row.at)


class _Block:
    """What one compaction wrote, while it is read."""

    def __init__(self, summary: Written, before: Sequence[_Shown], place: int) -> None:
        self.summary = summary
        self.shows: list[_Shown] = []
        self._before = before
        """The window that was compacted."""
        self._place = place
        """Where in that window the next copy may come from."""
        self._newest = summary.at
        self._places: dict[int, list[int]] = {}
        for index, shown in enumerate(before):
            self._places.setdefault(shown.print, []).append(index)

    def holds(self, row: Written) -> bool:
        """Say whether the compaction wrote the row."""
        place = self._copied(row)
        is_copy = place is not None and self._before[place].at == row.at
        return is_copy or 0 < row.at - self._newest <= _TOGETHER

    def add(self, row: Written) -> bool:
        """Show a row, and say whether it is a new message and no copy."""
        self._newest = max(self._newest, row.at)
        place = self._copied(row)
        if place is None:
            self.shows.append(_shown(row))
            return True
        self._place = place + 1
        self.shows.append(self._before[place].written_again(row))
        return False

    def _copied(self, row: Written) -> int | None:
        """Return the place of the message that a row repeats, if it follows those before it.

        Of several with the same words it is the one of the same time, else the first.
        """
        places = self._places.get(row.print, [])
        onward = places[bisect_left(places, self._place) :]
        exact = (place for place in onward if self._before[place].at == row.at)
        return next(exact, onward[0] if onward else None)


def tell_rows(rows: Iterable[Written], system: Sequence[str]) -> Iterator[Event]:
    """Return the events of a session from its rows, in the order they were written.

    Args:
        rows: every row of the session.
        system: the keys that stand before every window.
    """
    desk = _Desk(tuple(system))
    for row in rows:
        yield from desk.take(row)
    yield from desk.end()


class _Desk:
    """Knows the window, and the rows that may belong to a compaction."""

    def __init__(self, system: tuple[str, ...]) -> None:
        self._system = system
        self._window: list[_Shown] = []
        self._heads: list[Written] = []
        """Rows that repeat the beginning of the window; a summary after them proves it."""
        self._block: _Block | None = None
        self._fates: dict[str, Fate] = {}
        """Of each message, as its newest row has it, in the order of those rows."""
        self._last: Written | None = None

    def take(self, row: Written) -> Iterator[Event]:
        """Tell one row, and what it shows about those before it."""
        block = self._block
        if block is not None and block.holds(row):
            if block.add(row):
                yield row.told
            self._settle(block.shows[-1].key, row)
            return
        yield from self._closed()
        if row.fate is not Fate.TAKEN_BACK:
            yield from self._rewound()
        if not (self._is_proved(row) and self._repeats(row)):
            # A summary may be written anew too, before the one that takes its place.
            if row.told.message.summary is not None:
                yield from self._opened(row)
                return
            yield from self._flushed()
        if self._repeats(row):
            self._heads.append(row)
        else:
            yield self._tell(row)

    def end(self) -> Iterator[Event]:
        """Tell what waits, and make the window the one that the rows say."""
        yield from self._closed()
        yield from self._rewound()
        yield from self._flushed()
        live = [key for key, fate in self._fates.items() if fate is Fate.LIVE]
        shown = [shown.key for shown in self._window]
        if self._last is None or live == shown:
            return
        told = self._last.told
        shows = (*self._system, *live)
        if any(self._fates[key] is Fate.FOLDED for key in shown):
            mark = f"{told.key}/fold"
            yield Folded(strand=told.strand, line=told.line, id=mark, shows=shows)
        else:
            yield Rewound(strand=told.strand, line=told.line, shows=shows)

    def _repeats(self, row: Written) -> bool:
        """Say whether a row has the words of the message after those repeated so far."""
        place = len(self._heads)
        return place < len(self._window) and self._window[place].print == row.print

    def _is_proved(self, following: Written) -> bool:
        """Say whether the newest of the repeated rows is a copy, from the row that follows it."""
        if not self._heads:
            return True
        head = self._heads[-1]
        if self._window[len(self._heads) - 1].at == head.at:
            return True
        return 0 < following.at - head.at <= _TOGETHER

    def _opened(self, row: Written) -> Iterator[Event]:
        """Begin the block of a summary."""
        if not self._is_proved(row):
            yield from self._flushed()
        heads, self._heads = self._heads, []
        repeated = {shown.key for shown in self._window[: len(heads)]}
        kept = [
            shown
            for shown in self._window
            if self._fates[shown.key] is Fate.LIVE and shown.key not in repeated
        ]
        block = self._block = _Block(row, tuple(self._window), len(heads))
        for head, shown in zip(heads, self._window, strict=False):
            self._settle(shown.key, head)
            block.shows.append(shown.written_again(head))
        block.shows[:0] = kept
        block.shows.append(_shown(row))
        self._settle(row.told.key, row)
        yield row.told

    def _closed(self) -> Iterator[Event]:
        block, self._block = self._block, None
        if block is None:
            return
        self._window = block.shows
        told = block.summary.told
        yield Folded(
            strand=told.strand,
            line=told.line,
            id=f"{told.key}/fold",
            shows=self._shows(),
            at=told.native.at,
        )

    def _rewound(self) -> Iterator[Event]:
        """Take messages back, once a row shows that it was done before it was written."""
        last = self._last
        waiting = self._heads[-1] if self._heads else last
        if waiting is None or waiting.fate is not Fate.TAKEN_BACK:
            return
        yield from self._flushed()
        kept = [each for each in self._window if self._fates[each.key] is not Fate.TAKEN_BACK]
        if len(kept) < len(self._window):
            self._window = kept
            told = waiting.told
            yield Rewound(strand=told.strand, line=told.line, shows=self._shows())

    def _flushed(self) -> Iterator[Event]:
        heads, self._heads = self._heads, []
        for head in heads:
            yield self._tell(head)

    def _tell(self, row: Written) -> Told:
        self._window.append(_shown(row))
        self._settle(row.told.key, row)
        return row.told

    def _settle(self, key: str, row: Written) -> None:
        self._fates.pop(key, None)
        self._fates[key] = row.fate
        self._last = row

    def _shows(self) -> tuple[str, ...]:
        return (*self._system, *(shown.key for shown in self._window))


def _shown(row: Written) -> _Shown:
    return _Shown(row.told.key, row.print, row.at)
