"""Which conversation a line of Claude Code belongs to: the main one, a branch, a sub-agent.

Lines name their parents, but the conversation is the order of the file: walking from the newest
line to the root loses the results of parallel calls. Parents only tell where a user went back,
and which lines are a sub-agent's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun
from holdfast.formats.document import Problem
from holdfast.formats.loose import mapping, mappings, string
from holdfast.formats.session_reader import words
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.claude_code.lines import Line

__all__ = ["Place", "Tree"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line belongs."""

    strand: str
    follows: str = ""
    """The message that it follows, if that is known."""
    begun: Begun | None = None
    """The strand that begins with it."""


class _Tasks:
    """Remembers the calls that gave sub-agents their tasks, by the words of the task."""

    def __init__(self) -> None:
        """Know no call."""
        self._waiting: dict[str, tuple[str, str, str]] = {}

    def offer(self, line: Line, strand: str) -> None:
        """Take note of the tasks in a line of the model."""
        for block in mappings(line.content):
            fields = mapping(block.get("input"))
            if "description" in fields and (prompt := string(fields.get("prompt"))):
                title = string(fields.get("description"))
                self._waiting[prompt] = (strand, string(block.get("id")), title)

    def take(self, line: Line) -> tuple[str, About]:
        """Return the strand that gave a sub-agent its task, and what is known of the task."""
        strand, call, title = self._waiting.pop(words(line.content), (MAIN, "", ""))
        call = string(line.marks.get("call")) or call
        more: dict[str, object] = {"call": call} if call else {}
        title = title or string(line.marks.get("title"))
        return strand, About(title=title, started=line.at, more=more)


class Tree:
    """Follows the parents of the lines of a file."""

    def __init__(self) -> None:
        """Know no line."""
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

    def place(self, line: Line) -> Place:
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
            return Place(self._current)
        if line.marks.get("branch") or (parent in self._followed and line.is_asked):
            return self._fork(line, About(), strand, Fork.BRANCH, follows)
        return Place(strand, follows)

    def told(self, line: Line, place: Place, key: str) -> None:
        """Take note of a message that was told, by the key of its last part."""
        if line.parent:
            self._followed.add(line.parent)
        if place.begun is not None and line.is_side and not self._is_side:
            self._sides.add(place.strand)
        if place.strand not in self._sides:
            self._current = place.strand
        self._enter(line, place.strand, key)
        if line.kind == "assistant":
            self._tasks.offer(line, place.strand)

    def passed(self, line: Line) -> str:
        """Take note of a line that is not a message, and return its strand."""
        before = line.parent or string(line.entry.get("logicalParentUuid"))
        strand, follows = self._known.get(before) or (self._current, "")
        if line.uuid and line.uuid not in self._known:
            self._enter(line, strand, follows)
        return strand

    def copied(self, line: Line) -> tuple[str, str]:
        """Take note of a copy, and return its strand and the message it stands for."""
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

    def _enter(self, line: Line, strand: str, key: str) -> None:
        # The first line may go on from a file that is not here, and what stands in the place of
        # a refused answer from a line that was never written.
        if line.parent and line.parent not in self._known and self._known and not line.replaces:
            self._missing.setdefault(line.parent, line.number)
        if line.uuid:
            self._known[line.uuid] = (strand, key)

    @staticmethod
    def _fork(line: Line, about: About, of: str, fork: Fork, after: str = "") -> Place:
        name = line.uuid or f"#{line.number}"
        begun = Begun(strand=name, line=line.number, about=about, of=of, fork=fork, after=after)
        return Place(name, after, begun)
