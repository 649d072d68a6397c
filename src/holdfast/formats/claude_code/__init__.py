"""Reads the sessions of Claude Code.

File order is the conversation: walking the tree of parents loses the results of parallel calls
and everything before a compaction. Each line of a user or of the model is told by itself; lines
that share a message id are one answer.

A file is known by the first session id in it: a session that is resumed may begin with the lines
of the one that it goes on from, and then both files are one conversation. What the model never
saw is not told: errors of the API, answers that the program made up, notes for the screen. Nor
is what the program adds to a request by itself, such as reminders and lists of skills; what a
user typed while the agent was busy is. A line with the id of one that was told is a copy of it.
What a model said before it refused to go on is taken back when another one answers in its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.claude_code.branches import LineTree, LineWindows
from holdfast.formats.claude_code.lines import (
    ABOUT,
    PROMPT,
    SPOKEN,
    SYSTEM,
    StreamConverter,
    is_streamed,
    line_of,
)
from holdfast.formats.claude_code.writer import write
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import JsonObject, mapping, sequence, string
from holdfast.formats.reader import LIKELY, Format, SessionReader, Sign
from holdfast.formats.replay import merged
from holdfast.session import Fork, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.claude_code.lines import SessionLine
    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord

_TITLES = {"custom-title": ("customTitle", 3), "ai-title": ("aiTitle", 2)}
_OLD_TITLE = 1
_SAID = ("cwd", "gitBranch", "version", *ABOUT)
_NOTHING = About()


class SessionHeader:
    """Gathers what is known of a session while its lines come."""

    def __init__(self, tree: LineTree) -> None:
        """Start with nothing known; the tree says which lines are in the file."""
        self._tree = tree
        self.session = ""
        """The first session id of the file."""
        self.has_begun = False
        self._known = _NOTHING
        self._said: dict[str, str] = {}
        """The fields of messages as they were last."""
        self._rank = 0
        """How good the title is: a user's is better than one that was made up."""
        self._titles: dict[str, str] = {}
        """Titles by the line that they are for; those of other files stand here as well."""

    def see(self, line: SessionLine) -> About | None:
        """Return what a line says that was not known; None until the session has begun."""
        if not self.session:
            self.session = string(line.entry.get("sessionId"))
        is_spoken = line.kind in SPOKEN
        found = self._found(line) if is_spoken else _NOTHING
        if (self._titles or not is_spoken) and (title := self._title(line)):
            found = replace(found, title=title)
        if found is _NOTHING or found == _NOTHING:
            return None
        self._known = merged(self._known, found)
        return found if self.has_begun else None

    def begin(self, line: SessionLine | None) -> About:
        """Return what is known when the first message is told, or when there is none."""
        self.has_begun = True
        if line is None:
            return replace(self._known, id=self.session)
        agent = string(line.entry.get("agentId")) if line.is_side else ""
        origin = string(mapping(line.entry.get("forkedFrom")).get("sessionId"))
        parent = self.session if agent else origin
        fork = Fork.DELEGATION if agent else Fork.BRANCH if parent else None
        return replace(
            self._known, id=agent or self.session, started=line.at, parent=parent, fork=fork
        )

    def _found(self, line: SessionLine) -> About:
        """Return what is new in the fields that every message has."""
        said = [*map(line.entry.get, _SAID)]
        fresh: dict[str, str] = {}
        # Most lines repeat what the one before them says.
        if said != [*map(self._said.get, _SAID)]:
            fresh = {
                key: value
                for key, value in zip(_SAID, said, strict=True)
                if isinstance(value, str) and value != self._said.get(key)
            }
        if line.kind == "assistant":
            model = string(line.message.get("model"))
            if model != self._said.get("model") and not (line.is_side or line.is_unseen):
                fresh["model"] = model
        if not fresh:
            return _NOTHING
        # Where the session was begun: commands change the directory and go back.
        cwd = "" if self._said.get("cwd") else fresh.get("cwd", "")
        self._said |= fresh
        return About(
            cwd=cwd,
            git_branch=fresh.get("gitBranch", ""),
            version=fresh.get("version", ""),
            model=fresh.get("model", ""),
            more={key: fresh[key] for key in ABOUT if fresh.get(key)},
        )

    def _title(self, line: SessionLine) -> str:
        title, rank = "", 0
        if line.kind in _TITLES:
            key, rank = _TITLES[line.kind]
            title = string(line.entry.get(key))
        elif line.kind == "summary":
            leaf, title = string(line.entry.get("leafUuid")), string(line.entry.get("summary"))
            rank = _OLD_TITLE
            if leaf and not self._tree.knows(leaf):
                self._titles[leaf] = title
                return ""
        elif line.uuid in self._titles:
            title, rank = self._titles.pop(line.uuid), _OLD_TITLE
        if not title or rank < self._rank or title == self._known.title:
            return ""
        self._rank = rank
        return title


_SIDE = frozenset(["file-history-snapshot", "queue-operation", "summary"])
_OF_A_CHAIN = frozenset(["uuid", "parentUuid", "sessionId", "isSidechain"])
"""What every line of a conversation has, also those that are not messages."""
_OF_A_STREAM = frozenset(["type", "subtype", "session_id", "cwd", "tools"])
"""What the first line has that Claude Code prints."""


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Claude Code; None when they are not."""
    weak: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        kind, message = string(entry.get("type")), mapping(entry.get("message"))
        if kind in SPOKEN and "content" in message:
            if "sessionId" in entry:
                return Sign(f"a line of type {kind} with a session id")
            if "session_id" in entry and "parent_tool_use_id" in entry:
                return Sign(f"a printed line of type {kind} with a session id")
        if entry.keys() >= _OF_A_STREAM and entry.get("subtype") == "init":
            weak = Sign("the first line of a printed session", LIKELY)
        elif entry.keys() >= _OF_A_CHAIN or (
            kind in _SIDE and not entry.keys().isdisjoint(("leafUuid", "snapshot", "operation"))
        ):
            weak = Sign(f"a line of type {kind}", LIKELY)
    return weak


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Claude Code."""
    desk, stream = _Reader(), StreamConverter()
    for record in records:
        if is_streamed(record.value):
            yield from stream.costs(record)
            record = stream.line(record)
        yield from desk.take(line_of(record))
    yield from desk.end()


class _Reader:
    """Yields the events of a session file, line by line."""

    def __init__(self) -> None:
        self._tree = LineTree()
        self._header = SessionHeader(self._tree)
        self._folds = LineWindows()
        self._answers = _AnswerTracker()
        self._told: set[str] = set()
        self._last: dict[str, str] = {}
        """The message of each strand that was told last."""

    def take(self, line: SessionLine) -> list[Event]:
        """Return what a line adds."""
        events: list[Event] = []
        if line.marks and line.original in self._told:
            # Let a line stand for the one that it repeats: what comes below it follows that.
            place, told_key = self._tree.copied(line)
            self._folds.copied(line.uuid, line.original)
            if line.uuid:
                self._told.add(line.uuid)
            self._last[place] = told_key
            return events
        if (about := self._header.see(line)) is not None:
            events.append(MetadataUpdated(strand=MAIN, about=about))
        if line.uuid in self._told:
            return events
        match line.kind:
            case "user" if line.is_summary and line.marks.get("told") is False:
                strand = self._tree.passed(line)
                events += self._folds.end(line, strand, "")
            case "user" | "assistant":
                if not line.has_content:
                    self._tree.passed(line)
                    reason = f"a line of type {line.kind} without content"
                    events.append(Problem(line.number, reason, line.file))
                elif line.is_unseen:
                    self._tree.passed(line)
                elif line.kind == "assistant":
                    self._tell(line, self._answers.added(line), events)
                else:
                    if line.is_asked:
                        self._answers.close()
                    self._tell(line, line.content, events)
            case "attachment" if line.is_queued and line.has_content:
                self._tell(line, line.content, events)
            case "system" if line.entry.get("subtype") == PROMPT:
                self._tell(line, line.content, events)
            case "system" if line.entry.get("subtype") == "compact_boundary":
                self._folds.begin(line, self._tree.passed(line))
            case "system" if "retractedMessageUuids" in line.entry:
                events += self._folds.retract(line, self._tree.passed(line))
            case _:
                self._tree.passed(line)
        return events

    def end(self) -> Iterator[Event]:
        """Yield what only the whole file shows."""
        if not self._header.has_begun:
            yield StrandStarted(strand=MAIN, line=1, about=self._header.begin(None))
        yield from self._tree.problems()

    def _tell(self, line: SessionLine, content: object, events: list[Event]) -> None:
        messages, problems = line.messages(content)
        events += problems
        if not messages:
            self._tree.passed(line)
            return
        if not self._header.has_begun:
            events.append(
                StrandStarted(strand=MAIN, line=line.number, about=self._header.begin(line))
            )
        place = self._tree.place(line)
        if place.begun is not None:
            events.append(place.begun)
            if place.begun.fork is Fork.BRANCH:
                self._folds.branch(place.strand, place.begun.of or MAIN, place.begun.after)
        if line.kind == "assistant" and "supersedesUuids" in line.entry:
            events += self._folds.retract(line, place.strand)
        name, strand = line.uuid or f"#{line.number}", place.strand
        keys = (name, *(f"{name}/{count}" for count in range(1, len(messages))))
        reply, model, usage = "", "", None
        if line.kind == "assistant":
            reply, model = string(line.message.get("id")), string(line.message.get("model"))
            usage = self._answers.spent(line)
        native = SourceMetadata(
            id=line.uuid,
            parent="" if place.follows == self._last.get(place.strand) else place.follows,
            reply=reply,
            model=model,
            usage=usage,
            at=line.at,
            more=line.more(self._header.session),
        )
        for key, message in zip(keys, messages, strict=True):
            events.append(
                MessageEvent(
                    strand=strand, line=line.number, key=key, message=message, native=native
                )
            )
        if line.uuid:
            self._told.add(line.uuid)
        self._tree.told(line, place, keys[-1])
        self._folds.tell(line.uuid, keys, strand)
        self._last[strand] = keys[-1]
        if line.is_summary:
            events += self._folds.end(line, strand, name)


class _AnswerTracker:
    """Follows the lines of one answer: what they repeat is told and counted once."""

    def __init__(self) -> None:
        self._spent: dict[str, Usage] = {}
        self._counted: tuple[str, JsonObject] = ("", {})
        """The answer that was counted last, and its figures, which its lines repeat."""
        self._reply = ""
        self._blocks: list[object] = []
        """What was told of the answer that is being written."""

    def added(self, line: SessionLine) -> object:
        """Return what a line adds to its answer: some programs repeat what they wrote before."""
        reply, blocks = string(line.message.get("id")), list(sequence(line.content))
        if not reply or not blocks:
            return line.content
        if reply != self._reply:
            self._reply, self._blocks = reply, []
        count = len(self._blocks)
        repeats = count > 0 and blocks[:count] == self._blocks
        rest = blocks[count:] if repeats else blocks
        self._blocks += rest
        return rest

    def close(self) -> None:
        """Record that a user spoke: what is said now is another answer, whatever its id."""
        self._reply, self._blocks = "", []

    def spent(self, line: SessionLine) -> Usage | None:
        """Return what the answer cost beyond what its earlier lines said.

        The first lines of an answer are written before it is counted to the end.
        """
        reply, counted = string(line.message.get("id")), line.counted
        if self._counted == (reply, counted):
            return None
        usage = line.usage
        if usage is None or not reply:
            return usage
        self._counted = (reply, counted)
        before = self._spent.get(reply)
        if before is None:
            self._spent[reply] = usage
            return usage
        self._spent[reply] = most = Usage(
            1,
            max(before.input_tokens, usage.input_tokens),
            max(before.output_tokens, usage.output_tokens),
            max(before.cache_read_tokens, usage.cache_read_tokens),
            max(before.cache_write_tokens, usage.cache_write_tokens),
        )
        more = Usage(
            0,
            most.input_tokens - before.input_tokens,
            most.output_tokens - before.output_tokens,
            most.cache_read_tokens - before.cache_read_tokens,
            most.cache_write_tokens - before.cache_write_tokens,
        )
        return None if more == Usage() else more


CLAUDE_CODE = SessionReader(
    format=Format(SYSTEM, "Claude Code session, JSONL", "anthropic", writable=True),
    recognize=recognize,
    read=read,
    write=write,
)
