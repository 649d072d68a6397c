"""The sessions of Pi and of OpenClaw, which took over Pi's format.

Version 1 is a list; later versions are a tree of entries, where an entry whose parent is not the
newest of its strand begins a branch. A parent that is not in the file was on a damaged line, or
is the header or a tool call: then the entry before stands in for it, because files are written in
order. A compaction shows its summary, what it kept, and what follows. A leaf is where the user
went; a reset, which OpenClaw has, leaves what it names and nothing else.

Not told: commands that a user ran for himself, OpenClaw's copies of answers, what extensions keep
for themselves, and answers that broke off before their first word. Those that broke off later are
told, because their user saw them. Labels and the newest name of a session are noted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import is_array, is_object, kind_of, mapping, string, whole
from holdfast.formats.pi.content import (
    ORIGIN,
    SIDE,
    WINDOW,
    is_heard,
    is_known,
    spoken,
    time_of,
    usage_of,
)
from holdfast.formats.pi.writer import write_pi
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign
from holdfast.formats.window_tracking import BranchTree, TreeNode
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

LANES = frozenset(["header", "entry", "lane", "fact", "record"])
"""What a line of version 4 may be."""
_MAIN = "main"
_OURS = frozenset(["kind", "lane", "seq"])


def entry_of(line: JsonObject) -> JsonObject | None:
    """Return the entry that a line stands for; None for one that is no part of the conversation."""
    match line:
        case {"kind": "header"}:
            origin = line.get("parentSessionId") or line.get("legacyParentSessionPath")
            return {
                "type": "session",
                "version": line.get("version"),
                "id": line.get("id"),
                "timestamp": line.get("createdAt"),
                "cwd": line.get("cwd"),
                "parentSession": string(origin),
            }
        case {"kind": "entry"}:
            return {key: value for key, value in line.items() if key not in _OURS}
        case {"kind": "lane", "lane": lane} if lane == _MAIN:
            return {"type": "leaf", "targetId": line.get("leafId")}
        case {"kind": "fact", "fact": "name"}:
            # A name is the session's, whichever lane was written last.
            return {"type": "session_info", "parentId": None, "name": line.get("name")}
        case {"kind": "fact", "fact": "label"}:
            return {"type": "label", **mapping(line)}
        case _:
            return None


_HEADER = ("provider", "thinkingLevel", "parentSession", "branchedFrom")


def opened(header: JsonObject) -> About:
    """Return what the header says."""
    origin = string(header.get("parentSession")) or string(header.get("branchedFrom"))
    # The id in the name of a session file, which begins with the time.
    if origin.startswith("sqlite:"):
        parent = origin.split(":", 3)[2] if origin.count(":") > 1 else ""
    else:
        name = origin.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
        parent = name.partition("_")[2] or name
    return About(
        id=string(header.get("id")),
        model=string(header.get("modelId")),
        cwd=string(header.get("cwd")),
        started=time_of(header),
        parent=parent,
        fork=Fork.BRANCH if origin else None,
        more={key: found for key in _HEADER if (found := string(header.get(key)))},
    )


def noted(entry: JsonObject) -> About | None:
    """Return what an entry says of the session; None where it says something else."""
    match entry.get("type"):
        case "model_change":
            provider, model = string(entry.get("provider")), string(entry.get("modelId"))
            return About(model=model, more={"provider": provider} if provider else {})
        case "session_info":
            return About(title=string(entry.get("name")).strip())
        case "thinking_level_change":
            return About(more={"thinkingLevel": string(entry.get("thinkingLevel"))})
        case _:
            return None


_FILES = ("readFiles", "modifiedFiles")


def read_pi(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of a file."""
    desk = _Reader()
    for record in records:
        value = record.value
        if is_object(value):
            entry = entry_of(value) if string(value.get("kind")) in LANES else value
            if entry is not None:
                yield from desk.take(entry, record.line)
        else:
            reason = f"expected an entry, found {kind_of(record.value)}"
            yield Problem(record.line, reason, record.file)
    yield from desk.end()


class _Reader:
    """Yields the events of one session file, entry by entry."""

    def __init__(self) -> None:
        self._tree = BranchTree()
        self._is_reset = False
        """Whether the conversation was begun anew."""
        self._order: list[TreeNode | None] = []
        """Every entry by its place, because version 1 counts them."""
        self._keys = KeyAllocator()
        self._labels: dict[str, str] = {}
        self._line = 0
        self._about: About | None = None
        """What the header says, once the session began."""
        self._replies: set[str] = set()

    def take(self, entry: JsonObject, line: int) -> Iterator[Event]:
        """Yield the events of one entry."""
        self._line = line
        if entry.get("type") == "session":
            if self._about in (None, About()):
                about = opened(entry)
                known, begun = self._about, self._begin(about)
                yield begun if known is None else MetadataUpdated(strand=MAIN, about=about)
            self._order.append(None)
            return
        if self._about is None:
            yield self._begin(About())
        # A parent that is not in the file, and what is below a reset, goes on from the newest.
        is_root = "parentId" in entry and entry["parentId"] is None and not self._is_reset
        found = self._tree.find(entry.get("parentId"))
        left = above = None if is_root else found or self._tree.newest
        is_beside = entry.get("appendMode") == SIDE
        if is_beside and left is not None:
            above = replace(left, forks=True)
        if entry.get("type") == "message" and "holdfast" not in entry:
            yield from self._say(entry, above)
        else:
            yield from self._tell(entry, above)
        if is_beside:
            # What comes next goes on from where this one left, even where it names this one.
            self._tree.move(string(entry.get("id")), left)
        self._order.append(self._tree.newest)

    def _tell(self, entry: JsonObject, above: TreeNode | None) -> Iterator[Event]:
        original = mapping(entry.get("holdfast")).get("copy")
        if isinstance(original, str) and self._tells(original):
            copy = self._tree.copy_node(above, _strand_of(above), original)
            self._tree.add(string(entry.get("id")), copy)
            return
        match entry.get("type"):
            case "compaction":
                yield from self._compaction(entry, above)
            case "leaf":
                target = entry.get("targetId")
                # Where the user went; where that is not in the file, nowhere.
                to = None if target is None else self._tree.find(target) or above
                self._tree.move(string(entry.get("id")), to)
            case "reset":
                yield from self._reset(entry, above)
            case "custom" if entry.get("customType") == WINDOW:
                # Follow an entry of our own: the user took something back, or a
                # branch sees less.
                own = mapping(entry.get("data"))
                shows = self._shown(own) or ()
                name, strand = string(entry.get("id")), _strand_of(above)
                if own.get("branch") is True:
                    node = replace(self._tree.child_node(above, strand), window=shows, forks=True)
                    self._tree.add(name, node)
                    return
                wanted = string(own.get("strand"))
                strand = wanted if self._tree.has_strand(wanted) else strand
                yield RewindEvent(strand=strand, line=self._line, shows=shows, at=time_of(entry))
                node = replace(
                    self._tree.child_node(above, strand),
                    last=self._tree.end_of(strand),
                    window=shows,
                    forks=False,
                )
                self._tree.add(name, node)
            case "model_change" | "session_info" | "thinking_level_change" | "label":
                strand = self._pass(entry, above).strand
                if (about := noted(entry)) is not None:
                    yield MetadataUpdated(strand=strand, about=about)
                    return
                target, label = string(entry.get("targetId")), string(entry.get("label"))
                self._labels.pop(target, None)
                if label:
                    self._labels[target] = label
            case _:
                yield from self._say(entry, above)

    def end(self) -> Iterator[Event]:
        """Yield what is known only when the file ends: the marks that the user left in it."""
        if self._labels:
            yield MetadataUpdated(strand=MAIN, about=About(more={"labels": self._labels}))

    def _begin(self, about: About) -> StrandStarted:
        self._about = about
        return StrandStarted(strand=MAIN, line=self._line, about=about)

    def _say(self, entry: JsonObject, above: TreeNode | None) -> Iterator[Event]:
        found = spoken(entry)
        if found is None or not found.message.parts:
            if not is_known(entry):
                role = string(mapping(entry.get("message")).get("role"))
                yield Problem(self._line, f"a message of the role {role!r}, which is not known")
            self._pass(entry, above)
            return
        key = self._key(entry)
        strand = yield from self._follow(above, key)
        native = SourceMetadata(
            id=string(entry.get("id")),
            parent=string(entry.get("parentId")) if strand == key else "",
            reply="" if found.reply in self._replies else found.reply,
            model=found.model,
            usage=found.usage,
            at=time_of(entry),
            more=found.more,
        )
        # Servers that use an id twice do not make two answers one.
        self._replies.add(found.reply)
        yield MessageEvent(
            strand=strand, line=self._line, key=key, message=found.message, native=native
        )
        node = self._tree.child_node(above, strand, key)
        if found.message.role is Role.SYSTEM:
            node = replace(node, prompt=key)
        self._tree.add(string(entry.get("id")), node)

    def _reset(self, entry: JsonObject, above: TreeNode | None) -> Iterator[Event]:
        """Follow a conversation that its user began anew, with what was kept of it."""
        strand = _strand_of(above)
        shows = self._tree.kept(above, self._first_kept(entry))
        if above is not None and self._tree.strand_below(above) is not None:
            yield RewindEvent(strand=strand, line=self._line, shows=shows, at=time_of(entry))
        node = replace(self._tree.child_node(above, strand), window=shows, forks=False)
        self._tree.add(string(entry.get("id")), node)
        self._is_reset = True

    def _compaction(self, entry: JsonObject, above: TreeNode | None) -> Iterator[Event]:
        details = mapping(entry.get("details"))
        own = mapping(details.get("holdfast"))
        key, at = self._key(entry), time_of(entry)
        strand = yield from self._follow(above, key)
        told = "" if own.get("told") is False else key
        prompts = self._tree.prompts(above)
        prompt = yield from self._prompt(entry, prompts, strand)
        if told:
            more = {name: details[name] for name in _FILES if name in details}
            native = SourceMetadata(
                id=string(entry.get("id")), usage=usage_of(entry), at=at, more=more
            )
            origin = string(own.get("origin")) or ORIGIN
            message = summarized(string(entry.get("summary")), origin)
            yield MessageEvent(
                strand=strand, line=self._line, key=key, message=message, native=native
            )
        shows = self._shown(own, told)
        if shows is None:
            tail = entry.get("retainedTail")
            if is_array(tail):
                kept = self._tree.newest_of(above, sum(map(is_heard, tail)))
            else:
                kept = self._tree.kept(above, self._first_kept(entry))
            rest = [each for each in kept if not prompt or each not in prompts]
            shows = tuple(filter(None, (prompt, told, *rest)))
        yield CompactionEvent(
            strand=strand,
            line=self._line,
            id=f"{key}/fold",
            shows=shows,
            at=whole(own.get("at")) or at,
            trigger=string(own.get("trigger")),
            tokens_before=whole(entry.get("tokensBefore")) or None,
            tokens_after=whole(own.get("tokensAfter", entry.get("tokensAfter"))),
        )
        node = self._tree.child_node(above, strand, told)
        again = own.get("again") is True
        node = replace(node, prompt=prompt, window=shows, forks=False, again=again)
        self._tree.add(string(entry.get("id")), node)

    def _prompt(
        self, entry: JsonObject, known: tuple[str, ...], strand: str
    ) -> Generator[Event, None, str]:
        """Return the system prompt that a compaction keeps; one put together of several is told."""
        prompt = entry.get("systemMessage")
        if mapping(prompt).get("role") != "system":
            return ""
        found = spoken({"type": "message", "message": prompt})
        if found is None or not found.message.parts or len(known) == 1:
            return known[0] if known else ""
        key = self._keys.take(f"{string(entry.get('id'))}/system", self._line)
        native = SourceMetadata(at=time_of(entry))
        yield MessageEvent(
            strand=strand, line=self._line, key=key, message=found.message, native=native
        )
        return key

    def _follow(self, above: TreeNode | None, key: str) -> Generator[Event, None, str]:
        """Return the strand of an entry that tells something, and begin it where it is new."""
        strand = self._tree.strand_below(above)
        if strand is not None:
            return strand
        yield StrandStarted(
            strand=key,
            line=self._line,
            about=About(),
            of=_strand_of(above),
            fork=Fork.BRANCH,
            after="" if above is None else above.last,
        )
        seen = self._tree.window_override(above)
        if seen is not None:
            yield RewindEvent(strand=key, line=self._line, shows=seen)
        return key

    def _pass(self, entry: JsonObject, above: TreeNode | None) -> TreeNode:
        node = self._tree.child_node(above, _strand_of(above))
        return self._tree.add(string(entry.get("id")), node)

    def _key(self, entry: JsonObject) -> str:
        return self._keys.take(string(entry.get("id")), self._line)

    def _first_kept(self, entry: JsonObject) -> TreeNode | None:
        index = entry.get("firstKeptEntryIndex")
        if isinstance(index, int) and 0 <= index < len(self._order):
            return self._order[index]
        return self._tree.find(entry.get("firstKeptEntryId"))

    def _shown(self, own: JsonObject, key: str = "") -> tuple[str, ...] | None:
        """Return the messages that an entry of our own says are seen; None if it says nothing."""
        shows = own.get("shows")
        if not is_array(shows):
            return None
        names = (each for each in shows if isinstance(each, str))
        return tuple(name for name in names if name == key or self._tells(name))

    def _tells(self, name: str) -> bool:
        node = self._tree.find(name)
        return node is not None and node.key == name


def _strand_of(node: TreeNode | None) -> str:
    return MAIN if node is None else node.strand


_ROLES = frozenset(["toolResult", "bashExecution", "compactionSummary", "branchSummary"])


def recognize_pi(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Pi; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if "cwd" in entry and (entry.get("type") == "session" or entry.get("kind") == "header"):
            return Sign("a session header with a working directory")
    for record in records:
        entry = mapping(record.value)
        role = string(mapping(entry.get("message")).get("role"))
        if entry.get("type") == "message" and role in _ROLES:
            return Sign(f"an entry with a message of the role {role}", LIKELY)
    return None


PI = SessionReader(
    format=Format("pi", "Pi session, JSONL", "anthropic", writable=True),
    recognize=recognize_pi,
    read=read_pi,
    write=write_pi,
)
