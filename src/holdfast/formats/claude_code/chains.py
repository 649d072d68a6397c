"""The chains of lines that a Claude Code file is written as, and the ids and times of lines.

Ids and times that a session does not say are derived from it, so that writing it twice gives the
same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.claude_code.lines import QUEUED
from holdfast.formats.events import About, MessageEvent, StrandStarted
from holdfast.formats.json_access import JsonObject, iso
from holdfast.formats.reader import derived_uuid, digest, is_uuid
from holdfast.session import Fork, Usage
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.claude_code.writer import LineContent

_EPOCH = 946_684_800_000
"""The year 2000: a session that knows no time has to have one."""


class LineStamps:
    """Hands out ids that are used once, and times that do not run backward."""

    def __init__(self, about: About | None = None) -> None:
        """Begin with what is known of the session."""
        known = about or About()
        is_guest = bool(known.parent) and known.fork is Fork.DELEGATION
        own = known.parent if is_guest else known.id
        self.session = own if is_uuid(own) else derived_uuid(f"session {own}")
        self.agent = known.id if is_guest else ""
        """The name of the sub-agent whose file it is."""
        self._used: set[str] = set()
        self._clock = _EPOCH if known.started is None else known.started

    def uuid(self, wanted: str, key: str) -> str:
        """Return the id of a line: its own, or one that follows from its key."""
        found, count = wanted, 0
        while not is_uuid(found) or found in self._used:
            found = derived_uuid(f"{self.session} {key} {count}")
            count += 1
        self._used.add(found)
        return found

    def reply(self, key: str) -> str:
        """Return a message id for an answer that has none."""
        return f"msg_{digest(f'{self.session} {key}')[:24]}"

    def time(self, at: int | None) -> str:
        """Return a time; one that is not known comes right after the one before it."""
        self._clock = self._clock + 1 if at is None else at
        return iso(self._clock)


_ADDED = frozenset(["isMeta", QUEUED])
"""Says on a message that no user began something with it."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A line of a message."""

    uuid: str
    piece: LineContent
    fields: JsonObject
    """What it says, without its place in the file."""


class WrittenLines:
    """The lines that were written, for all strands of a file."""

    def __init__(self) -> None:
        """Start with no line."""
        self._lines: dict[str, list[WrittenLine]] = {}
        """The lines of each message; of those that were written again, the newest."""
        self._calls: dict[tuple[str, bool], str] = {}
        """The line of each call, for the main chain and for the side chains."""
        self._parents: dict[str, str] = {}
        self._followed: set[str] = set()

    def enter(self, key: str, line: WrittenLine, parent: str) -> None:
        """Record a line."""
        self._lines.setdefault(key, []).append(line)
        self._parents[line.uuid] = parent
        if parent:
            self._followed.add(parent)

    def clear(self, key: str) -> Sequence[WrittenLine]:
        """Return the lines of a message, which is about to be written again."""
        return self._lines.pop(key, ())

    def call(self, call: str, uuid: str, *, is_side: bool) -> None:
        """Record the line of a call."""
        self._calls[call, is_side] = uuid

    def lines(self, key: str) -> Sequence[WrittenLine]:
        """Return the lines of a message; empty when it could not be written."""
        return self._lines.get(key, ())

    def last(self, key: str) -> str:
        """Return the last line of a message."""
        lines = self.lines(key)
        return lines[-1].uuid if lines else ""

    def chain(self, uuid: str) -> tuple[str, list[str]]:
        """Return the lines of messages that lead to one, and what the first of them follows."""
        found: list[str] = []
        while uuid in self._parents:
            found.append(uuid)
            uuid = self._parents[uuid]
        return uuid, found[::-1]

    def caller(self, call: str, *, is_side: bool) -> str:
        """Return the line of the call that a result answers; "" when there is none."""
        return self._calls.get((call, is_side), "")

    def is_followed(self, uuid: str) -> bool:
        """Say whether something was written below a line: what comes now is a branch."""
        return uuid in self._followed


class LineChain:
    """The chain of lines of one strand: what comes next follows its last line."""

    def __init__(self, book: WrittenLines, begun: StrandStarted | None, *, is_side: bool) -> None:
        """Begin a strand; one that is a branch goes on from a line of another."""
        self.is_side = is_side
        self.last = ""
        self.root = ""
        """What the first line of the chain follows: a boundary, or nothing."""
        self.shown: list[str] | None = []
        """What the model sees; None in a branch, of which only the own part is known."""
        self._book = book
        self._begun = begun
        """How the strand came about, until its first line says it."""
        self._spent = ("", Usage())
        if begun is not None and begun.fork is Fork.BRANCH:
            self.last = book.last(begun.after)
            self.root = book.chain(self.last)[0]
            self.shown = None

    def parent_for(self, told: MessageEvent) -> str:
        """Return the line that a line of a message follows.

        The results of calls that were made together follow each other: to resume, the program
        walks from the newest line to the root, and what hangs beside that way may be lost.
        """
        if not self._book.lines(told.key) and (known := self._book.last(told.native.parent)):
            return known
        return self.last

    def caller(self, piece: LineContent) -> str:
        """Return the line of the call that a line answers; "" when there is none."""
        return self._book.caller(piece.answers, is_side=self.is_side)

    def wrote(self, key: str, line: WrittenLine, parent: str) -> None:
        """Record a line of a message."""
        self._book.enter(key, line, parent)
        if line.piece.call:
            self._book.call(line.piece.call, line.uuid, is_side=self.is_side)
        self.last = line.uuid

    def begin_chain(self, root: str) -> None:
        """Record that what comes next follows a boundary."""
        self.last = self.root = root

    def goes_back(self, keys: Sequence[str]) -> bool:
        """Go on from where the chain showed these messages and no others; says whether it did."""
        shown = [line.uuid for key in keys for line in self._book.lines(key)]
        if not shown or self._book.chain(shown[-1]) != (self.root, shown):
            return False
        self.last = shown[-1]
        return True

    def told(self, key: str) -> None:
        """Record a message that is written to the end."""
        if self.shown is not None:
            self.shown.append(key)

    def show(self, keys: Sequence[str]) -> None:
        """Record another window."""
        self.shown = list(keys)

    def marks(self, told: MessageEvent, parent: str) -> dict[str, object]:
        """Return what the first line of a strand says that its place in the file does not."""
        begun, self._begun = self._begun, None
        if begun is None:
            return {}
        if begun.fork is Fork.BRANCH:
            is_plain = told.message.role is Role.USER and _ADDED.isdisjoint(told.native.more)
            return {} if is_plain and self._book.is_followed(parent) else {"branch": True}
        known = {"call": begun.about.more.get("call"), "title": begun.about.title}
        return {key: value for key, value in known.items() if value}

    def spend(self, reply: str, usage: Usage | None) -> Usage:
        """Return what an answer cost up to now."""
        before = self._spent[1] if self._spent[0] == reply else Usage()
        self._spent = (reply, before + (usage or Usage()))
        return self._spent[1]


class LineChains:
    """The strands of one conversation; those of others are not written."""

    def __init__(self) -> None:
        """Start with no strand."""
        self.book = WrittenLines()
        self._threads: dict[str, LineChain] = {}
        self._main: str | None = None

    def begin(self, begun: StrandStarted) -> bool:
        """Begin a strand, and say whether it is the main one."""
        if begun.of is None:
            if self._main is not None:
                return False
            self._main = begun.strand
            self._threads[begun.strand] = LineChain(self.book, None, is_side=False)
            return True
        if (parent := self._threads.get(begun.of)) is not None:
            is_side = parent.is_side or begun.fork is not Fork.BRANCH
            self._threads[begun.strand] = LineChain(self.book, begun, is_side=is_side)
        return False

    def is_main(self, strand: str) -> bool:
        """Say whether a strand is the main one."""
        return strand == self._main

    def of(self, strand: str) -> LineChain | None:
        """Return a strand; None for one that is not written."""
        return self._threads.get(strand)
