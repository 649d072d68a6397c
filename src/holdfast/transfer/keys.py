"""What stored messages are called when they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from holdfast.session import Entry, Span

__all__ = ["Keys"]


class Keys:
    """Names of messages, each given once and found by its place in the store."""

    def __init__(self, marks: Collection[str] = ()) -> None:
        """Begin without names.

        Args:
            marks: Marks of messages that somebody will ask for.
        """
        self._by_place: dict[tuple[str, int], str] = {}
        self._by_id: dict[int, str] = {}
        self._used: set[str] = set()
        self._marks = marks
        self._by_mark: dict[str, str | None] = {}
        """Names by those marks; None where it was told twice."""

    def name(self, entry: Entry, wanted: str, mark: str = "") -> str:
        """Return a name for a message: the one that its agent gave, unless another has it.

        Args:
            entry: The message.
            wanted: What its agent calls it.
            mark: Its mark, where it has one.
        """
        key = wanted if wanted and wanted not in self._used else f"#{entry.id}"
        self._used.add(key)
        self._call(entry, key)
        if mark in self._marks:
            self._by_mark[mark] = None if mark in self._by_mark else key
        return key

    def of_mark(self, mark: str) -> str | None:
        """Return the name of the message with a mark, where that is known for certain."""
        return self._by_mark.get(mark)

    def share(self, entry: Entry, other: Entry) -> bool:
        """Let an entry be called like another; says whether that has a name."""
        key = self._by_id.get(other.id)
        if key is None:
            return False
        self._call(entry, key)
        return True

    def alias(self, entry: Entry) -> bool:
        """Let an entry be called like the one it stands for; says whether that has a name."""
        key = None if entry.stands_for is None else self._by_id.get(entry.stands_for)
        if key is None:
            return False
        self._call(entry, key)
        return True

    def of_spans(self, spans: Iterable[Span]) -> tuple[str, ...]:
        """Return the names of what spans show."""
        places = (
            (span.session, position)
            for span in spans
            for position in range(span.first, span.last + 1)
        )
        return self._of(places)

    def of_entries(self, entries: Iterable[Entry]) -> tuple[str, ...]:
        """Return the names of entries."""
        return self._of((entry.session, entry.position) for entry in entries)

    def _call(self, entry: Entry, key: str) -> None:
        self._by_id[entry.id] = key
        self._by_place[entry.session, entry.position] = key

    def _of(self, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
        found = (self._by_place[place] for place in places if place in self._by_place)
        return tuple(dict.fromkeys(found))
