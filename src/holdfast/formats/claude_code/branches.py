"""The branches, sub-agents and compactions of a Claude Code session.

Lines name their parents, but the conversation is the order of the file: walking from the newest
line to the root loses the results of parallel calls. Parents only tell where a user went back,
and which lines are a sub-agent's.

A boundary line starts a new window; the summary follows it. What stands between the two comes
first, then the summary, then the messages that the compaction kept word for word. A boundary
without a summary changes nothing: the log is whole, and a line that is still being written looks
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.claude_code.lines import MARK, SessionLine
from holdfast.formats.content import words
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import (
    JsonObject,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class LinePlace:
    """The strand that a line belongs to, and the message that it follows."""

    strand: str
    follows: str = ""
    """The message that it follows, if that is known."""
    begun: StrandStarted | None = None
    """The strand that begins with it."""


class _Tasks:
    """Remembers the calls that gave sub-agents their tasks, by the words of the task."""

    def __init__(self) -> None:
        """Start with no call."""
        self._waiting: dict[str, tuple[str, str, str]] = {}

    def offer(self, line: SessionLine, strand: str) -> None:
        """Record the tasks in a line of the model."""
        for block in mappings(line.content):
            fields = mapping(block.get("input"))
            if "description" in fields and (prompt := string(fields.get("prompt"))):
                title = string(fields.get("description"))
                self._waiting[prompt] = (strand, string(block.get("id")), title)

    def take(self, line: SessionLine) -> tuple[str, About]:
        """Return the strand that gave a sub-agent its task, and what is known of the task."""
        strand, call, title = self._waiting.pop(words(line.content), (MAIN, "", ""))
        call = string(line.marks.get("call")) or call
        more: dict[str, object] = {"call": call} if call else {}
        title = title or string(line.marks.get("title"))
        return strand, About(title=title, started=line.at, more=more)


class LineTree:
    """Follows the parents of the lines of a file."""

    def __init__(self) -> None:
        """Start with no line."""
        self._known: dict[str, tuple[str, str]] = {}
        """Each line with its strand and the key of the message at or before it."""
        self._followed: set[str] = set()
        """The lines that a message of their own strand follows."""
        self._missing: dict[str, int] = {}
        self._current = MAIN
        """Where a line belongs that does not say."""
        self._tasks = _Tasks()
        self._sides: set[str] = set()
        """The strands of sub-agents, in a file that is not one's own."""
        self._is_side: bool | None = None
        """Whether the whole file is a sub-agent's; None until somebody spoke."""

    def knows(self, uuid: str) -> bool:
        """Say whether a line came."""
        return uuid in self._known

    def place(self, line: SessionLine) -> LinePlace:
        """Return where a message belongs, before it is told."""
        is_side, parent = line.is_side, line.parent
        if self._is_side is None:
            self._is_side = is_side
        strand, follows = self._known.get(parent) or (self._current, "")
        is_guest = is_side and not self._is_side
        if is_guest and (not follows or strand not in self._sides):
            of, about = self._tasks.take(line)
            return self._fork(line, about, of, Fork.DELEGATION)
        if not is_guest and strand in self._sides:
            return LinePlace(self._current)
        if line.marks.get("branch") or (parent in self._followed and line.is_asked):
            return self._fork(line, About(), strand, Fork.BRANCH, follows)
        return LinePlace(strand, follows)

    def told(self, line: SessionLine, place: LinePlace, key: str) -> None:
        """Record a message that was told, by the key of its last part."""
        if line.parent:
            self._followed.add(line.parent)
        if place.begun is not None and line.is_side and not self._is_side:
            self._sides.add(place.strand)
        if place.strand not in self._sides:
            self._current = place.strand
        self._enter(line, place.strand, key)
        if line.kind == "assistant":
            self._tasks.offer(line, place.strand)

    def passed(self, line: SessionLine) -> str:
        """Record a line that is not a message, and return its strand."""
        before = line.parent or string(line.entry.get("logicalParentUuid"))
        strand, follows = self._known.get(before) or (self._current, "")
        if line.uuid and line.uuid not in self._known:
            self._enter(line, strand, follows)
        return strand

    def copied(self, line: SessionLine) -> tuple[str, str]:
        """Record a copy, and return its strand and the message it stands for."""
        strand, _ = self._known.get(line.parent) or (self._current, "")
        _, key = self._known[line.original]
        self._followed.add(line.parent)
        self._enter(line, strand, key)
        return strand, key

    def problems(self) -> Iterable[Problem]:
        """Report lines whose parents are not in the file; they are told where they stand."""
        missing = [line for uuid, line in self._missing.items() if uuid not in self._known]
        if missing:
            count = len(missing)
            subject = "a line follows a line" if count == 1 else f"{count:,} lines follow lines"
            reason = f"{subject} not in the file; read in the order of the file"
            yield Problem(missing[0], reason)

    def _enter(self, line: SessionLine, strand: str, key: str) -> None:
        # The first line may go on from a file that is not here, and what stands in the place of
        # a refused answer from a line that was never written.
        if line.parent and line.parent not in self._known and self._known and not line.replaces:
            self._missing.setdefault(line.parent, line.number)
        if line.uuid:
            self._known[line.uuid] = (strand, key)

    @staticmethod
    def _fork(line: SessionLine, about: About, of: str, fork: Fork, after: str = "") -> LinePlace:
        name = line.uuid or f"#{line.number}"
        begun = StrandStarted(
            strand=name, line=line.number, about=about, of=of, fork=fork, after=after
        )
        return LinePlace(name, after, begun)


@dataclass(frozen=True, slots=True)
class _Boundary:
    """A compaction whose summary has not come yet."""

    id: str
    entry: JsonObject
    since: int
    """How many messages had been told."""

    @property
    def marks(self) -> JsonObject:
        """Return what our own writer added."""
        return mapping(self.entry.get(MARK))

    @property
    def at(self) -> int | None:
        """Return when it was written."""
        return milliseconds(self.entry.get("timestamp"))


@dataclass(frozen=True, slots=True)
class _Change:
    """What the model saw of a strand after a compaction, or after something was taken back."""

    shows: tuple[str, ...]
    since: int
    """How many messages had been told."""


class LineWindows:
    """Tracks the window of each strand, and compactions that still lack their summary."""

    def __init__(self) -> None:
        """Start with no message."""
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
        """Record that a strand shares what another was told up to a message."""
        self._parents[strand] = (of, self._order.get(after, -1))

    def tell(self, uuid: str, keys: tuple[str, ...], strand: str) -> None:
        """Record the messages of a line."""
        told = self._told
        for key in keys:
            self._order[key] = len(told)
            told.append((key, strand))
        if keys != (uuid,):
            self._pieces[uuid] = keys

    def copied(self, uuid: str, original: str) -> None:
        """Record a line that stands for another."""
        self._pieces[uuid] = self._pieces.get(original, (original,))

    def begin(self, line: SessionLine, strand: str) -> None:
        """Record a boundary."""
        self._open[strand] = _Boundary(line.uuid or f"#{line.number}", line.entry, len(self._told))

    def end(
        self, line: SessionLine, strand: str, summary: str
    ) -> Iterator[CompactionEvent | RewindEvent]:
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
            yield RewindEvent(strand=strand, line=line.number, shows=shows, at=at)
            return
        before, after = about.get("preTokens"), about.get("postTokens")
        yield CompactionEvent(
            strand=strand,
            line=line.number,
            id=boundary.id,
            shows=shows,
            at=at,
            trigger=string(about.get("trigger")),
            tokens_before=before if isinstance(before, int) and before else None,
            tokens_after=after if isinstance(after, int) and after else None,
        )

    def retract(self, line: SessionLine, strand: str) -> Iterator[RewindEvent]:
        """Return that the model sees no more what a line takes back, if it saw that."""
        gone = frozenset(self._known(line.replaces))
        if not gone:
            return
        shared = self._shared(strand)
        # What was changed after a branch had left does not concern that branch.
        found = (
            change
            for of, last in shared.items()
            if (change := self._changed.get(of)) is not None and change.since <= last + 1
        )
        change = next(found, _Change((), 0))
        told = enumerate(self._told[change.since :], change.since)
        own = (key for place, (key, of) in told if place <= shared.get(of, -1))
        seen = [*change.shows, *own]
        if gone.isdisjoint(seen):
            return
        left = tuple([key for key in seen if key not in gone])
        self._changed[strand] = _Change(left, len(self._told))
        yield RewindEvent(strand=strand, line=line.number, shows=left, at=line.at)

    def _kept(self, about: JsonObject, strand: str) -> Iterable[str]:
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
