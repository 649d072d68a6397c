"""Follows what the model of a Hermes session sees, row by row.

Messages that a compaction wrote anew are known again here and not told twice.

Newer releases set the messages that a compaction carries over aside as if they were taken back,
and so they do with a whole session that the user rewrites from some message on: what stays is
written anew, with its times. So what was taken back is known only from the rows that follow.

What is told never depends on which rows are live today, so a session that grew is told with the
same beginning.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import takewhile
from typing import TYPE_CHECKING

from holdfast.formats.events import CompactionEvent, Event, MessageEvent, RewindEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


TOGETHER = 5e-6
"""How many seconds apart rows of one transaction are, at most."""


class RowFate(Enum):
    """Whether a row is live, was compacted away or was taken back."""

    LIVE = auto()
    FOLDED = auto()
    """A compaction set it aside."""
    TAKEN_BACK = auto()


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A row of the message table: its event, fingerprint, time and fate."""

    told: MessageEvent
    print: int
    at: float
    fate: RowFate = RowFate.LIVE


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A message in the window."""

    key: str
    print: int
    at: float
    """When its newest row was written: copies are made of copies."""

    def written_again(self, row: MessageRow) -> WindowRow:
        """Return the message as a row repeats it."""
        return replace(self, at=row.at)


@dataclass(frozen=True, slots=True)
class RepeatedRow:
    """A row that repeats a message, and the place of that message in the window."""

    row: MessageRow
    place: int


class CompactionBlock:
    """What one compaction wrote, while it is read."""

    def __init__(self, summary: MessageRow, before: Sequence[WindowRow], place: int) -> None:
        self.summary = summary
        self.shows: list[WindowRow] = []
        self._before = before
        """The window that was compacted."""
        self._place = place
        """Where in that window the next copy may come from."""
        self._newest = summary.at
        self._places: dict[int, list[int]] = {}
        for index, shown in enumerate(before):
            self._places.setdefault(shown.print, []).append(index)

    def holds(self, row: MessageRow) -> bool:
        """Say whether the compaction wrote the row."""
        place = self._copied(row)
        is_copy = place is not None and self._before[place].at == row.at
        return is_copy or 0 < row.at - self._newest <= TOGETHER

    def add(self, row: MessageRow) -> bool:
        """Show a row, and say whether it is a new message and no copy."""
        self._newest = max(self._newest, row.at)
        place = self._copied(row)
        if place is None:
            self.shows.append(shown_of(row))
            return True
        self._place = place + 1
        self.shows.append(self._before[place].written_again(row))
        return False

    def _copied(self, row: MessageRow) -> int | None:
        """Return the place of the message that a row repeats, if it follows those before it.

        Of several with the same words it is the one of the same time, else the first.
        """
        places = self._places.get(row.print, [])
        onward = places[bisect_left(places, self._place) :]
        exact = (place for place in onward if self._before[place].at == row.at)
        return next(exact, onward[0] if onward else None)


def shown_of(row: MessageRow) -> WindowRow:
    """Return a row as a message in the window."""
    return WindowRow(row.told.key, row.print, row.at)


def row_events(rows: Iterable[MessageRow], system: Sequence[str]) -> Iterator[Event]:
    """Return the events of a session from its rows, in the order they were written.

    The keys of the system stand before every window.
    """
    desk = _RowReader(tuple(system))
    for row in rows:
        yield from desk.take(row)
    yield from desk.end()


class _RowReader:
    """Tracks the window of a session, and rows that may belong to a compaction."""

    def __init__(self, system: tuple[str, ...]) -> None:
        self._system = system
        self._window: list[WindowRow] = []
        self._heads: list[RepeatedRow] = []
        """Rows that repeat the beginning of the window; a summary after them proves it."""
        self._block: CompactionBlock | None = None
        self._fates: dict[str, RowFate] = {}
        """Of each message, as its newest row has it, in the order of those rows."""
        self._last: MessageRow | None = None
        self._seen: set[tuple[int, float]] = set()
        """The words and the time of every row so far."""

    def take(self, row: MessageRow) -> Iterator[Event]:
        """Yield the events of one row, and what it shows about those before it."""
        block = self._block
        if block is not None and block.holds(row):
            if block.add(row):
                yield row.told
            self._settle(block.shows[-1].key, row)
            return
        yield from self._closed()
        if not self._goes_on(row):
            yield from self._rewritten()
        if not self._goes_on(row):
            # A summary may be written anew too, before the one that takes its place.
            if row.told.message.summary is not None:
                if not self._is_proved(row):
                    yield from self._flushed()
                heads, self._heads = self._heads, []
                repeated = {self._window[head.place].key for head in heads}
                kept = [
                    shown
                    for shown in self._window
                    if self._fates[shown.key] is RowFate.LIVE and shown.key not in repeated
                ]
                following = heads[-1].place + 1 if heads else 0
                block = self._block = CompactionBlock(row, tuple(self._window), following)
                for head in heads:
                    shown = self._window[head.place]
                    self._settle(shown.key, head.row)
                    block.shows.append(shown.written_again(head.row))
                block.shows[:0] = kept
                block.shows.append(shown_of(row))
                self._settle(row.told.key, row)
                yield row.told
                return
            yield from self._flushed()
            if row.fate is not RowFate.TAKEN_BACK and self._repeated(row) is None:
                yield from self._rewound()
        place = self._repeated(row)
        if place is not None:
            self._heads.append(RepeatedRow(row, place))
        else:
            yield self._tell(row)

    def end(self) -> Iterator[Event]:
        """Yield what waits, and make the window the one that the rows say."""
        yield from self._closed()
        yield from self._flushed()
        yield from self._rewound()
        live = [key for key, fate in self._fates.items() if fate is RowFate.LIVE]
        shown = [shown.key for shown in self._window]
        if self._last is None or live == shown:
            return
        told = self._last.told
        shows = (*self._system, *live)
        if any(self._fates[key] is RowFate.FOLDED for key in shown):
            mark = f"{told.key}/fold"
            yield CompactionEvent(strand=told.strand, line=told.line, id=mark, shows=shows)
        else:
            yield RewindEvent(strand=told.strand, line=told.line, shows=shows)

    def _goes_on(self, row: MessageRow) -> bool:
        """Say whether a row repeats the window further, and shows that those before it do."""
        return self._is_proved(row) and self._repeated(row) is not None

    def _repeated(self, row: MessageRow) -> int | None:
        """Return the place of the message that a row may repeat, after those repeated so far.

        It is the first one with its words and its time, or else the next one if it has its words
        and the row is younger than those before it.
        """
        following = self._heads[-1].place + 1 if self._heads else 0
        # Most rows are no copies, and need not be compared with each one before them.
        is_copy = (row.print, row.at) in self._seen
        onward = range(following, len(self._window)) if is_copy else ()
        for place in onward:
            shown = self._window[place]
            if shown.print == row.print and shown.at == row.at:
                return place
        if following >= len(self._window) or self._window[following].print != row.print:
            return None
        return following if not self._heads or row.at > self._heads[-1].row.at else None

    def _is_proved(self, following: MessageRow) -> bool:
        """Say whether the newest of the repeated rows is a copy, from the row that follows it."""
        if not self._heads:
            return True
        head = self._heads[-1]
        if self._window[head.place].at == head.row.at:
            return True
        return 0 < following.at - head.row.at <= TOGETHER

    def _closed(self) -> Iterator[Event]:
        block, self._block = self._block, None
        if block is None:
            return
        self._window = block.shows
        told = block.summary.told
        yield CompactionEvent(
            strand=told.strand,
            line=told.line,
            id=f"{told.key}/fold",
            shows=self._shows(),
            at=told.native.at,
        )

    def _rewound(self) -> Iterator[Event]:
        """Take messages back, once a row shows that it was done before it was written."""
        last = self._last
        if last is None or last.fate is not RowFate.TAKEN_BACK:
            return
        kept = [each for each in self._window if self._fates[each.key] is not RowFate.TAKEN_BACK]
        if len(kept) < len(self._window):
            self._window = kept
            told = last.told
            yield RewindEvent(strand=told.strand, line=told.line, shows=self._shows())

    def _flushed(self) -> Iterator[Event]:
        """Yield the repeated rows: no summary came after them."""
        yield from self._rewritten()
        heads, self._heads = self._heads, []
        for head in heads:
            yield from self._told_after_all(head.row)

    def _rewritten(self) -> Iterator[Event]:
        """Show the repeated rows that were written in the place of a window set aside for them."""
        heads, before = self._heads, self._window
        anew = takewhile(self._is_written_anew, heads)
        copies = [before[head.place] for head in anew]
        if not copies:
            return
        self._heads, self._window = [], copies
        for shown, head in zip(copies, heads, strict=False):
            self._settle(shown.key, head.row)
        if len(before) > len(copies):
            told = heads[len(copies) - 1].row.told
            yield RewindEvent(strand=told.strand, line=told.line, shows=self._shows())
        for head in heads[len(copies) :]:
            place = self._repeated(head.row)
            if place is not None:
                self._heads.append(RepeatedRow(head.row, place))
            else:
                yield from self._told_after_all(head.row)

    def _is_written_anew(self, head: RepeatedRow) -> bool:
        shown = self._window[head.place]
        return shown.at == head.row.at and self._fates[shown.key] is RowFate.TAKEN_BACK

    def _told_after_all(self, row: MessageRow) -> Iterator[Event]:
        if row.fate is not RowFate.TAKEN_BACK:
            yield from self._rewound()
        yield self._tell(row)

    def _tell(self, row: MessageRow) -> MessageEvent:
        self._window.append(shown_of(row))
        self._settle(row.told.key, row)
        return row.told

    def _settle(self, key: str, row: MessageRow) -> None:
        self._fates.pop(key, None)
        self._fates[key] = row.fate
        self._last = row
        self._seen.add((row.print, row.at))

    def _shows(self) -> tuple[str, ...]:
        return (*self._system, *(shown.key for shown in self._window))
