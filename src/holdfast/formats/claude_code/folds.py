"""Compactions in the sessions of Claude Code.

A boundary line starts a new window; the summary follows it. What stands between the two comes
first, then the summary, then the messages that the compaction kept word for word. A boundary
without a summary changes nothing: the log is whole, and a line that is still being written looks
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Folded, Rewound
from holdfast.formats.claude_code.lines import MARK
from holdfast.formats.loose import mapping, sequence, string
from holdfast.formats.moments import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.claude_code.lines import Line

__all__ = ["Folds"]


@dataclass(frozen=True, slots=True)
class _Boundary:
    """A compaction whose summary has not come yet."""

    id: str
    entry: Mapping[str, object]
    since: int
    """How many messages had been told."""

    @property
    def marks(self) -> Mapping[str, object]:
        """Return what our own writer added."""
        return mapping(self.entry.get(MARK))

    @property
    def at(self) -> int | None:
        """Return when it was written."""
        return moment(self.entry.get("timestamp"))


@dataclass(frozen=True, slots=True)
class _Change:
    """What the model saw of a strand after a compaction, or after something was taken back."""

    shows: tuple[str, ...]
    since: int
    """How many messages had been told."""


class Folds:
    """Knows in which order messages were told, and which compactions wait for their summary."""

    def __init__(self) -> None:
        """Know no message."""
        self._order: dict[str, int] = {}
        self._told: list[tuple[str, str]] = []
        """Every key with its strand."""
        self._pieces: dict[str, tuple[str, ...]] = {}
        """The keys of the lines that became several messages."""
        self._parents: dict[str, tuple[str, int]] = {}
        """The strand that each branch left, and the place of the last message they share."""
        self._open: dict[str, _Boundary] = {}
        self._changed: dict[str, _Change] = {}
        """The newest change of what the model sees of each strand."""

    def branch(self, strand: str, of: str, after: str) -> None:
        """Take note that a strand shares what another was told up to a message."""
        self._parents[strand] = (of, self._order.get(after, -1))

    def tell(self, uuid: str, keys: tuple[str, ...], strand: str) -> None:
        """Take note of the messages of a line."""
        told = self._told
        for key in keys:
            self._order[key] = len(told)
            told.append((key, strand))
        if keys != (uuid,):
            self._pieces[uuid] = keys

    def copied(self, uuid: str, original: str) -> None:
        """Take note of a line that stands for another."""
        self._pieces[uuid] = self._pieces.get(original, (original,))

    def begin(self, line: Line, strand: str) -> None:
        """Take note of a boundary."""
        self._open[strand] = _Boundary(line.uuid or f"#{line.number}", line.entry, len(self._told))

    def end(self, line: Line, strand: str, summary: str) -> Iterator[Folded | Rewound]:
        """Return the compaction that a summary belongs to.

        Args:
            line: The line of the summary.
            strand: Whose compaction it is.
            summary: The key of the summary; empty for one that was not told, because it only
                stands where the program wants one.
        """
        inline = mapping(line.marks.get("boundary"))
        boundary = self._open.pop(strand, None)
        if summary and (inline or boundary is None):
            boundary = _Boundary(f"{summary}/fold", inline, self._order[summary])
        if boundary is None:
            return
        about, marks = mapping(boundary.entry.get("compactMetadata")), boundary.marks
        between = [key for key, of in self._told[boundary.since :] if of == strand]
        found = self._known(sequence(marks.get("shows"))) or [*between, *self._kept(about, strand)]
        shows, at = tuple(dict.fromkeys(found)), boundary.at or line.at
        self._changed[strand] = _Change(shows, len(self._told))
        if marks.get("rewound") is True:
            yield Rewound(strand=strand, line=line.number, shows=shows, at=at)
            return
        before, after = about.get("preTokens"), about.get("postTokens")
        yield Folded(
            strand=strand,
            line=line.number,
            id=boundary.id,
            shows=shows,
            at=at,
            trigger=string(about.get("trigger")),
            tokens_before=before if isinstance(before, int) and before else None,
            tokens_after=after if isinstance(after, int) and after else None,
        )

    def retract(self, line: Line, strand: str) -> Iterator[Rewound]:
        """Return that the model sees no more what a line takes back, if it saw that."""
        gone = frozenset(self._known(line.replaces))
        seen = self._window(strand) if gone else []
        if gone.isdisjoint(seen):
            return
        left = tuple([key for key in seen if key not in gone])
        self._changed[strand] = _Change(left, len(self._told))
        yield Rewound(strand=strand, line=line.number, shows=left, at=line.at)

    def _window(self, strand: str) -> list[str]:
        """Return what the model sees of a strand."""
        shared = self._shared(strand)
        # What was changed after a branch had left does not concern that branch.
        found = (
            change
            for of, last in shared.items()
            if (change := self._changed.get(of)) is not None and change.since <= last + 1
        )
        change = next(found, _Change((), 0))
        told = enumerate(self._told[change.since :], change.since)
        return [*change.shows, *(key for place, (key, of) in told if place <= shared.get(of, -1))]

    def _kept(self, about: Mapping[str, object], strand: str) -> Iterable[str]:
        named = sequence(mapping(about.get("preservedMessages")).get("uuids"))
        if found := self._known(named):
            return found
        segment = mapping(about.get("preservedSegment"))
        first = self._order.get(string(segment.get("headUuid")))
        last = self._order.get(string(segment.get("tailUuid")))
        if first is None or last is None:
            return ()
        shared = self._shared(strand)
        told = enumerate(self._told[first : last + 1], first)
        return [key for place, (key, of) in told if place <= shared.get(of, -1)]

    def _known(self, uuids: Iterable[object]) -> list[str]:
        names = [uuid for uuid in uuids if isinstance(uuid, str)]
        found = (key for uuid in names for key in self._pieces.get(uuid, (uuid,)))
        return [key for key in found if key in self._order]

    def _shared(self, strand: str) -> dict[str, int]:
        """Return the strands that a strand goes on from, each with the last place it shares."""
        found, place = {strand: len(self._told)}, len(self._told)
        while (left := self._parents.get(strand)) is not None and left[0] not in found:
            strand, place = left[0], min(place, left[1])
            found[strand] = place
        return found
