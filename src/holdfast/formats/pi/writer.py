"""Writes sessions that Pi and OpenClaw can go on with, in version 3 of Pi's format.

A file holds one conversation with its branches. Pi shows the summary of a compaction and one
stretch of entries before it; messages that a window shows besides are written again below the
compaction, as copies that our reader does not tell. What Pi has no word for stands in entries and
fields that it passes over, under names that begin with `holdfast`: a system prompt, turns that
were taken back, a window in another order than Pi's, who asked for a compaction.

Not written: sub-agents, the agent's version, the branch of the repository, the ids of branches,
and of media what is no picture in the file itself. Pieces of one answer become one entry; results
that stood in one message become entries of their own; arguments are written as JSON objects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from holdfast.formats.documents import dump
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import iso, mapping, string
from holdfast.formats.pi.content import ORIGIN, WINDOW
from holdfast.formats.pi.entries import (
    EntryContent,
    EntryIds,
    WrittenEntries,
    contents_of,
    copied,
    header,
    notes,
    summary_content,
    usage_of,
)
from holdfast.formats.reader import Style, folds, with_lone_summaries
from holdfast.formats.window_tracking import BranchTree, TreeNode
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer of the model, whole."""

    told: MessageEvent
    pieces: tuple[str, ...]
    """The keys of the messages that it was told in."""


@dataclass(frozen=True, slots=True)
class SummaryCompaction:
    """A summary with the compaction that it belongs to."""

    told: MessageEvent
    folded: CompactionEvent


Gathered: TypeAlias = (
    StrandStarted
    | MetadataUpdated
    | MessageEvent
    | CompactionEvent
    | RewindEvent
    | WholeAnswer
    | SummaryCompaction
)


def gathered(events: Iterable[Event]) -> Iterator[Gathered]:
    """Return the events of the first conversation, its branches among them, put together."""
    desk = _Gathering()
    # Sub-agents and other conversations have no place in one file of Pi's.
    strands: set[str] = set()
    for event in with_lone_summaries(events):
        if isinstance(event, Problem):
            continue
        if isinstance(event, StrandStarted):
            is_branch = event.fork is Fork.BRANCH and event.of in strands
            if is_branch or not strands:
                strands.add(event.strand)
        if event.strand in strands:
            yield from desk.take(event)
    yield from desk.flush()


class _Gathering:
    """Collects the pieces of an answer, or a summary until its compaction comes."""

    def __init__(self) -> None:
        self._summary: MessageEvent | None = None
        self._answer: WholeAnswer | None = None
        self._results: list[MessageEvent] = []

    def take(
        self, event: StrandStarted | MetadataUpdated | MessageEvent | CompactionEvent | RewindEvent
    ) -> Iterator[Gathered]:
        """Return what is complete now."""
        summary = self._summary
        if summary is not None and folds(event, summary):
            self._summary = None
            yield SummaryCompaction(summary, event)
            return
        match event:
            case MessageEvent() if self._goes_on(event):
                answer = self._answer
                if answer is None or event.message.role is Role.TOOL:
                    self._results.append(event)
                    return
                told = answer.told
                parts = (*told.message.parts, *event.message.parts)
                usages = [
                    each for each in (told.native.usage, event.native.usage) if each is not None
                ]
                usage = sum(usages[1:], usages[0]) if usages else None
                whole = structs.replace(
                    told,
                    message=structs.replace(told.message, parts=parts),
                    native=structs.replace(told.native, usage=usage),
                )
                self._answer = WholeAnswer(whole, (*answer.pieces, event.key))
            case MessageEvent():
                yield from self.flush()
                if event.message.summary is not None:
                    self._summary = event
                elif event.message.role is Role.ASSISTANT:
                    self._answer = WholeAnswer(event, (event.key,))
                else:
                    yield event
            case _:
                yield from self.flush()
                yield event

    def flush(self) -> Iterator[Gathered]:
        """Return what was held: nothing more of it will come."""
        held = (self._answer, *self._results, self._summary)
        self._summary, self._answer, self._results = None, None, []
        yield from (each for each in held if each is not None)

    def _goes_on(self, event: MessageEvent) -> bool:
        answer = self._answer
        if answer is None or answer.told.strand != event.strand:
            return False
        if event.message.role is Role.TOOL:
            return True
        reply = answer.told.native.reply
        is_piece = event.message.role is Role.ASSISTANT and reply == event.native.reply
        return is_piece and bool(reply)


_STYLE = Style(None, compact=True)
_MARK = EntryContent("custom", {"customType": "openclaw:holdfast", "data": {}})
"""The entry by which a file without any other mark is known as OpenClaw's."""
_LEFT_OUT = "Earlier messages were left out here."


def write_pi(events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of a session of Pi."""
    return _write(events, ())


def write_openclaw(events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of a session of OpenClaw."""
    return _write(events, (_MARK,))


def _write(events: Iterable[Event], marks: Sequence[EntryContent]) -> Iterator[str]:
    scribe = _Writer(marks)
    for each in gathered(events):
        for entry in scribe.take(each):
            yield dump(entry, _STYLE)
    for entry in scribe.end():
        yield dump(entry, _STYLE)


class _Tip:
    """The newest entry of a strand while it is written."""

    def __init__(self, node: TreeNode | None, id: str | None, strand: str | None = None) -> None:  # noqa: A002
        self.node = node
        self.id = id
        """The entry that the next one follows."""
        self.strand = strand
        """What a reader will call the strand; None before its first message."""


class _Writer:
    """Writes entries one after the other, and follows the tree that a reader will see in them."""

    def __init__(self, marks: Sequence[EntryContent]) -> None:
        self._marks = marks
        self._ids = EntryIds(About())
        self._tree = BranchTree()
        self._tips: dict[str, _Tip] = {}
        self._written = WrittenEntries()
        self._calls: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def take(self, each: Gathered) -> Iterator[dict[str, object]]:
        """Return the entries that say this."""
        match each:
            case StrandStarted(of=None):
                self._ids = EntryIds(each.about)
                tip = self._tips[each.strand] = _Tip(None, None, MAIN)
                yield header(each.about, self._ids)
                for mark in self._marks:
                    yield self._aside(tip, mark)
                yield from self._note(tip, each.about)
            case StrandStarted():
                place = self._written.newest((None, *self._written.names((each.after,)))[-1])
                self._tips[each.strand] = _Tip(self._tree.find(place), place)
            case MetadataUpdated():
                yield from self._note(self._tips[each.strand], each.about)
            case WholeAnswer(told=told, pieces=pieces):
                yield from self._tell(told, pieces)
            case MessageEvent():
                yield from self._tell(each, (each.key,))
            case SummaryCompaction(told=told, folded=folded):
                yield from self._fold(folded, told)
            case CompactionEvent():
                yield from self._fold(each, None)
            case RewindEvent():
                # Write what the user went back to, so that Pi goes on from there
                # as well.
                tip, shows = self._tips[each.strand], self._written.names(each.shows)
                if tip.strand is None:
                    yield from self._open(tip, shows)
                    return
                # The entry at which Pi shows these messages, or at least the last
                # of them.
                if not shows:
                    tip.id = None
                else:
                    newest = self._written.newest(shows[-1])
                    seen = self._tree.window_at(self._tree.find(newest))
                    tip.id = newest if seen == shows else shows[-1]
                tip.node = self._tree.find(tip.id)
                content = EntryContent(
                    "custom",
                    {"customType": WINDOW, "data": {"shows": list(shows), "strand": tip.strand}},
                )
                name = self._ids.id_for("", f"{tip.id}\nrewound")
                node = self._tree.child_node(tip.node, tip.strand)
                last = self._tree.end_of(tip.strand)
                tip.node = self._tree.add(name, replace(node, last=last, window=shows, forks=False))
                yield self._entry(tip, content, name, each.at)

    def end(self) -> Iterator[dict[str, object]]:
        """Return the user's labels, now that everything they may stand at is written.

        They follow the newest entry of the file, because that is where Pi goes on.
        """
        newest = self._tree.newest
        tip = next((each for each in self._tips.values() if each.node is newest), None)
        for target, label in self._labels.items():
            if tip is not None and self._ids.has(target):
                yield self._aside(tip, EntryContent("label", {"targetId": target, "label": label}))

    def _note(self, tip: _Tip, about: About) -> Iterator[dict[str, object]]:
        labels = mapping(about.more.get("labels"))
        self._labels |= {target: string(label) for target, label in labels.items()}
        for content in notes(about):
            yield self._aside(tip, content)

    def _tell(self, told: MessageEvent, pieces: Sequence[str]) -> Iterator[dict[str, object]]:
        tip = self._tips[told.strand]
        yield from self._open(tip, None)
        at = self._ids.time(told.native.at)
        names: list[str] = []
        for content in contents_of(told, self._calls, at):
            wanted = "" if names else told.native.id
            name = self._ids.id_for(wanted, f"{told.key}\n{len(names)}")
            tip.strand = name if tip.strand is None else tip.strand
            tip.node = self._tree.add(name, self._tree.child_node(tip.node, tip.strand, name))
            self._written.contents[name] = content
            yield self._entry(tip, content, name, at)
            names.append(name)
        self._written.enter(pieces, names)

    def _fold(
        self, folded: CompactionEvent, told: MessageEvent | None
    ) -> Iterator[dict[str, object]]:
        """Write a compaction; one without a summary shows Pi that something is missing."""
        tip = self._tips[folded.strand]
        yield from self._open(tip, None)
        name = self._ids.id_for("" if told is None else told.native.id, folded.id)
        if told is not None:
            self._written.enter((told.key,), (name,))
        at = self._ids.time(folded.at if told is None else told.native.at)
        shows = self._written.names(folded.shows)
        first = self._tree.first_kept(tip.node, frozenset(shows))
        kept = self._tree.kept(tip.node, first)
        summary = None if told is None else told.message.summary
        origin = "" if summary is None or summary.origin == ORIGIN else summary.origin
        found: dict[str, object] = {
            "told": False if told is None else None,
            "origin": origin or None,
            "at": folded.at if folded.at != at else None,
            "trigger": folded.trigger or None,
            "tokensAfter": folded.tokens_after,
        }
        own = {key: value for key, value in found.items() if value is not None}
        # Whether a window shows what Pi would not; a system prompt is Pi's own matter.
        expected = (name, *kept)
        missing = set(shows) - set(expected)
        again = any(self._written.contents[name].kind != "custom" for name in missing)
        if again or shows != (kept if told is None else (name, *kept)):
            own["shows"] = list(shows)
        if again:
            own["again"] = True
            first = None
        details: dict[str, object] = {"readFiles": [], "modifiedFiles": []}
        if told is not None:
            details |= {key: told.native.more.get(key) or found for key, found in details.items()}
        fields: dict[str, object] = {
            "summary": _LEFT_OUT if told is None else _summary_of(told),
            "firstKeptEntryId": name if first is None else first.key,
            "tokensBefore": folded.tokens_before or 0,
            "details": {**details, "holdfast": own} if own else details,
        }
        if told is not None and told.native.usage is not None:
            fields["usage"] = usage_of(told.native.usage)
        tip.strand = name if tip.strand is None else tip.strand
        node = self._tree.child_node(tip.node, tip.strand, "" if told is None else name)
        tip.node = self._tree.add(name, replace(node, window=shows, forks=False, again=again))
        yield self._entry(tip, EntryContent("compaction", fields), name, at)
        self._written.contents[name] = summary_content(_summary_of(told))
        if again:
            yield from self._copies(tip, [each for each in shows if each != name], at)

    def _copies(self, tip: _Tip, originals: Sequence[str], at: int) -> Iterator[dict[str, object]]:
        hidden = self._written.hidden_calls(originals)
        for original in originals:
            name = self._ids.id_for("", f"{original}\nagain")
            tip.node = self._tree.add(
                name, self._tree.copy_node(tip.node, _strand_at(tip), original)
            )
            self._written.copies[original] = name
            content = copied(self._written.contents[original], hidden)
            yield self._entry(tip, content, name, at) | {"holdfast": {"copy": original}}

    def _open(self, tip: _Tip, seen: tuple[str, ...] | None) -> Iterator[dict[str, object]]:
        """Mark where a branch begins, if the tree alone does not say that or what it sees."""
        if tip.strand is not None or (tip.node is not None and tip.node.forks):
            return
        is_plain = self._tree.strand_below(tip.node) is None
        if is_plain and seen is None and self._tree.window_override(tip.node) is None:
            return
        shows = self._tree.default_window(tip.node) if seen is None else seen
        if is_plain and shows == self._tree.window_at(tip.node):
            return
        seen_there = {"shows": list(shows), "branch": True}
        content = EntryContent("custom", {"customType": WINDOW, "data": seen_there})
        name = self._ids.id_for("", f"{tip.id}\nbranch")
        node = self._tree.child_node(tip.node, _strand_at(tip))
        tip.node = self._tree.add(name, replace(node, window=shows, forks=True))
        yield self._entry(tip, content, name, None)

    def _entry(
        self, tip: _Tip, content: EntryContent, name: str, at: int | None
    ) -> dict[str, object]:
        above, tip.id = tip.id, name
        place = {"id": name, "parentId": above, "timestamp": iso(self._ids.time(at))}
        return {"type": content.kind, **place, **content.fields}

    def _aside(self, tip: _Tip, content: EntryContent) -> dict[str, object]:
        """Return an entry that tells no message."""
        name = self._ids.id_for("", f"{tip.id}\n{content.kind}")
        tip.node = self._tree.add(name, self._tree.child_node(tip.node, _strand_at(tip)))
        return self._entry(tip, content, name, None)


def _strand_at(tip: _Tip) -> str:
    if tip.strand is not None:
        return tip.strand
    return MAIN if tip.node is None else tip.node.strand


def _summary_of(told: MessageEvent | None) -> str:
    summary = None if told is None else told.message.summary
    return "" if summary is None else summary.text
