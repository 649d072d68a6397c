"""Replays the events of a session file, up to what its model saw at the end.

A file divides an answer of the model as its agent likes; here the pieces of one answer become one
message again. Agents log results when they arrive: after other lines, in another order than the
calls, twice, or without the call. Here each result goes directly after the message that holds its
call, as every provider demands.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
    native_of,
    with_native,
    without_native,
)
from holdfast.session import Fork
from holdfast.transcript import Message, Part, Role, Text, ToolCall, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.formats.events import Event


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message and the line it was read from."""

    line: int
    message: Message


@dataclass(frozen=True, slots=True)
class PairedTranscript:
    """A transcript whose results stand with their calls, and what was left out."""

    transcript: Transcript
    problems: tuple[Problem, ...] = ()


def pair_results(
    said: Iterable[SourceMessage], problems: Sequence[Problem] = ()
) -> PairedTranscript:
    """Return a transcript that is valid but for calls that nobody answered.

    Call ids become unique, because some agents count from one again and providers refuse a
    repeated id. A result without a call is left out and reported; so is a second result.
    """
    desk = _Pairing()
    for each in said:
        desk.take(each)
    found = sorted((*problems, *desk.problems), key=lambda problem: problem.line)
    return PairedTranscript(desk.transcript(), tuple(found))


class _Pairing:
    """Collects messages and files each result with the call that still waits for it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._messages: list[Message] = []
        self._waiting: dict[str, list[str]] = {}
        """The call ids as written, with the unique ids that still wait for a result."""
        self._results: dict[str, ToolResult] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}
        """Which number an id had last: some models give every call the same one."""

    def take(self, said: SourceMessage) -> None:
        """Add one message; what is left of it without its results and empty texts."""
        kept: list[Part] = []
        for part in said.message.parts:
            match part:
                case ToolResult():
                    waiting = self._waiting.get(part.call_id)
                    if waiting:
                        # The newest: an older call with the same id was interrupted and got no
                        # answer.
                        unique = waiting.pop()
                        self._results[unique] = replace(part, call_id=unique, form="")
                    else:
                        known = waiting is not None
                        reason = "was answered before" if known else "is not in the file"
                        self.problems.append(
                            Problem(
                                said.line, f"a result answers call {part.call_id!r}, which {reason}"
                            )
                        )
                case ToolCall():
                    wanted = part.id or "call"
                    unique, count = wanted, self._counts.get(wanted, 1)
                    while unique in self._used:
                        count += 1
                        unique = f"{wanted}-{count}"
                    self._counts[wanted] = count
                    self._used.add(unique)
                    self._waiting.setdefault(part.id, []).append(unique)
                    kept.append(part if unique == part.id else replace(part, id=unique))
                case Text(text=text) if not text.strip():
                    continue
                case _:
                    kept.append(part)
        if kept:
            # How the file spelled it matters to no other container.
            self._messages.append(replace(said.message, parts=tuple(kept), form=""))

    def transcript(self) -> Transcript:
        """Return every message, each followed by the results of its calls, in their order."""
        ordered: list[Message] = []
        for message in self._messages:
            ordered.append(message)
            for call in message.calls:
                result = self._results.get(call.id)
                if result is not None:
                    named = replace(result, name=result.name or call.name)
                    ordered.append(Message(Role.TOOL, (named,)))
        return tuple(ordered)


@dataclass(frozen=True, slots=True)
class ReplayedConversation:
    """One conversation of a file."""

    about: About
    transcript: Transcript
    """Everything in order; a summary stands before the messages that it left as they were."""
    window: Transcript
    """What the model saw at the end."""
    problems: tuple[Problem, ...] = ()


def replay(events: Iterable[Event]) -> tuple[ReplayedConversation, ...]:
    """Return the conversations of a file in order, without branches and sub-agents.

    Where a user went back and on from there, the newest branch is the conversation. Problems of
    the file as a whole go with its first conversation.
    """
    desk = _Replay()
    for event in events:
        desk.take(event)
    return desk.replayed()


def merged(known: About, more: About) -> About:
    """Return what is known, with what is not empty of the other in its place."""
    fields = {
        name: value
        for name in About.__dataclass_fields__
        if name != "more" and (value := getattr(more, name)) not in ("", None)
    }
    return dataclasses.replace(known, **fields, more={**known.more, **more.more})


class _Path:
    """Messages in order, of which a branch holds only those that it does not share."""

    def __init__(
        self, told: Iterable[MessageEvent] = (), shared: tuple[_Path, int] | None = None
    ) -> None:
        self.shared = shared
        """The path that this one left, and after how many of that one's own messages."""
        self.own: list[MessageEvent] = []
        self.places: dict[str, int] = {}
        for each in told:
            self.append(each)

    def append(self, told: MessageEvent) -> None:
        """Go on by one message."""
        self.places.setdefault(told.key, len(self.own))
        self.own.append(told)

    def fork(self, after: str) -> _Path | None:
        """Return a path that shares this one up to a message; None when that is not on it."""
        path, count = self, len(self.own)
        while (place := path.places.get(after, count)) >= count:
            if path.shared is None:
                return None
            path, count = path.shared
        return _Path(shared=(path, place + 1))

    def whole(self) -> list[MessageEvent]:
        """Return all of it."""
        stretches = [self.own]
        shared = self.shared
        while shared is not None:
            path, count = shared
            stretches.append(path.own[:count])
            shared = path.shared
        return [*chain.from_iterable(reversed(stretches))]


class _ReplayedStrand:
    """The replay of one strand, as its events arrive."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.path = _Path()
        """Everything told, branches with what they share, each summary where it belongs."""
        self.window = _Path()

    def fork(self, about: About, after: str) -> _ReplayedStrand:
        """Return a strand that shares what was told up to a message."""
        child = _ReplayedStrand(merged(self.about, about))
        if (path := self.path.fork(after)) is not None:
            child.path = path
        child.window = self.window.fork(after) or self.path.fork(after) or child.window
        return child

    def tell(self, told: MessageEvent) -> None:
        """Add a message."""
        self.path.append(told)
        self.window.append(told)

    def show(self, keys: Sequence[str]) -> None:
        """Change the window, and move a summary before what it left as it was."""
        path = self.path.whole()
        known = {each.key: each for each in path}
        window = [known[key] for key in keys if key in known]
        # One that nothing follows stays where it is, and so does everything else.
        leading = [place for place, each in enumerate(window[:-1]) if each.message.summary]
        for place in leading:
            # A path on which a summary stands before the first of those that follow
            # it.
            summary = window[place]
            followers = {later.key for later in window[place + 1 :]}
            own = next(place for place, each in enumerate(path) if each is summary)
            rest = path[:own] + path[own + 1 :]
            first = next((place for place, each in enumerate(rest) if each.key in followers), own)
            path: list[MessageEvent] = [*rest[:first], summary, *rest[first:]]
        if leading:
            # Another, so that branches that left before share what was told until then.
            self.path = _Path(path)
        self.window = _Path(window)


class _Replay:
    """The replay of a file: its strands, and which conversation each belongs to."""

    def __init__(self) -> None:
        self._strands: dict[str, _ReplayedStrand] = {}
        self._main: dict[str, str] = {}
        """The conversations, each with the strand that it goes on in."""
        self._home: dict[str, str] = {}
        """Which conversation a branch belongs to."""
        self._problems: list[Problem] = []

    def take(self, event: Event) -> None:
        """Follow one event."""
        match event:
            case StrandStarted():
                self._begin(event)
            case MetadataUpdated(strand=strand, about=about):
                self._strand(strand).about = merged(self._strand(strand).about, about)
            case MessageEvent():
                self._strand(event.strand).tell(event)
                if (home := self._home.get(event.strand)) is not None:
                    self._main[home] = event.strand
            case CompactionEvent() | RewindEvent():
                self._strand(event.strand).show(event.shows)
            case Problem():
                self._problems.append(event)

    def replayed(self) -> tuple[ReplayedConversation, ...]:
        """Return the conversations."""
        found: list[ReplayedConversation] = []
        for name in self._main.values():
            strand = self._strands[name]
            whole = pair_results(_joined(strand.path.whole()))
            window = pair_results(_joined(strand.window.whole())).transcript
            found.append(
                ReplayedConversation(strand.about, whole.transcript, window, whole.problems)
            )
        if found and self._problems:
            problems = (*self._problems, *found[0].problems)
            ordered = tuple(sorted(problems, key=lambda problem: problem.line))
            found[0] = dataclasses.replace(found[0], problems=ordered)
        return tuple(found)

    def _begin(self, begun: StrandStarted) -> None:
        parent = None if begun.of is None else self._strands.get(begun.of)
        if parent is not None and begun.fork is Fork.BRANCH:
            self._strands[begun.strand] = parent.fork(begun.about, begun.after)
            if (home := self._home.get(begun.of or "")) is not None:
                self._home[begun.strand] = home
            return
        self._strands[begun.strand] = _ReplayedStrand(begun.about)
        if begun.of is None:
            self._home[begun.strand] = begun.strand
            self._main[begun.strand] = begun.strand

    def _strand(self, name: str) -> _ReplayedStrand:
        if name not in self._strands:
            self._begin(StrandStarted(strand=name, line=1, about=About()))
        return self._strands[name]


def _joined(path: Iterable[MessageEvent]) -> list[SourceMessage]:
    """Put the messages of one answer together, whatever results stand between them."""
    said: list[SourceMessage] = []
    open_at: dict[str, int] = {}
    for told in path:
        message, reply = told.message, told.native.reply
        if message.role is Role.ASSISTANT and reply in open_at:
            place = open_at[reply]
            # Add a piece of the same answer: what the first piece says of itself
            # holds for all.
            whole = said[place].message
            native, more = native_of(whole), told.native
            native = replace(
                native, usage=native.usage or more.usage, more={**more.more, **native.more}
            )
            joined = replace(
                without_native(whole),
                parts=(*whole.parts, *told.message.parts),
                extras={**told.message.extras, **without_native(whole).extras},
            )
            said[place] = SourceMessage(said[place].line, with_native(joined, native))
            continue
        if message.role is not Role.TOOL:
            open_at = {reply: len(said)} if message.role is Role.ASSISTANT and reply else {}
        said.append(SourceMessage(told.line, with_native(message, told.native)))
    return said
