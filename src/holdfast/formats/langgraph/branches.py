"""Follows checkpoints along their parents, and yields what changed from one to the next.

Messages that left the channel were folded, or taken back: taken back where only the newest are
gone or one was replaced by another version of itself, folded in any other case and wherever the
graph wrote a summary.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.langgraph.messages import ORIGIN, REMOVAL, is_summary, message_of, native_of
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.langgraph.messages import ChannelMessage

Identity: TypeAlias = "tuple[str, bytes]"
"""A message is the same one as long as neither its id nor its words change."""
NAMELESS = "~"
"""How the identity of a message without an id begins; the count of its words follows."""


class CheckpointBranch:
    """One path through the checkpoints: the conversation, or a branch of it."""

    def __init__(self, base: CheckpointBranch | None = None) -> None:
        self.strand = ""
        """Empty until there is something to tell."""
        self.base = base
        self.path: list[tuple[str, ChannelMessage | None]] = []
        """The keys of everything told, with what they were told of; a summary is of no entry."""
        self.keys: dict[Identity, str] = {}
        self.shown: list[str] = []
        self.held: Sequence[ChannelMessage] = ()
        """What its newest checkpoint holds."""
        self.summary: tuple[str, str] = ("", "")
        """The words of the summary, and its key."""

    def branch(self, length: int) -> CheckpointBranch:
        """Return a branch that shares the messages up to some checkpoint."""
        branch = CheckpointBranch(self if self.strand else self.base)
        branch.path = self.path[:length]
        shared = {key for key, _ in branch.path}
        branch.keys = {identity: key for identity, key in self.keys.items() if key in shared}
        branch.held = [entry for _, entry in branch.path if entry is not None]
        branch.summary = self.summary if self.summary[1] in shared else ("", "")
        return branch


def match_messages_without_id(
    branch: CheckpointBranch, entries: Mapping[Identity, ChannelMessage]
) -> None:
    """Give messages that have an id now the keys that they got when they had none."""
    taken: set[str] | None = None
    for identity in entries:
        name, words = identity
        if identity in branch.keys or name.startswith(NAMELESS):
            continue
        count = 1
        while (key := branch.keys.get((f"{NAMELESS}{count}", words))) is not None:
            if taken is None:
                taken = {branch.keys[each] for each in entries if each in branch.keys}
            if key not in taken:
                branch.keys[identity] = key
                taken.add(key)
                break
            count += 1


def is_folded(
    was: Sequence[str], shows: Sequence[str], branch: CheckpointBranch, fresh: Sequence[Identity]
) -> bool:
    """Say whether what is gone from a window was folded, and not taken back."""
    added = {branch.keys[identity] for identity in fresh}
    if any(is_summary(entry) for key, entry in branch.path if key in added and entry is not None):
        return True
    kept = [key for key in shows if key not in added]
    if kept == list(was[: len(kept)]):
        return False
    names = {key: name for (name, _), key in branch.keys.items()}
    held = {names.get(key) for key in shows}
    return any(names.get(key) not in held for key in set(was).difference(shows))


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCheckpoint:
    """The state of a graph after one step."""

    id: str
    parent: str
    line: int
    at: int | None
    entries: Sequence[ChannelMessage]
    summary: str = ""
    hidden: frozenset[int] = frozenset()
    """The places of the entries that the summary stands for, though the graph holds them."""
    title: str = ""
    about: About = field(default_factory=About)
    """Where the step was taken."""


class CheckpointBranches:
    """All branches of one graph, the conversation itself included."""

    def __init__(self, about: About, around: Sequence[CheckpointBranches]) -> None:
        """Begin without any.

        Args:
            about: What is known of the conversation.
            around: The branches of the graphs around this one, the outermost first.
        """
        self._about = about
        self._around = around
        self._homes: dict[str, tuple[CheckpointBranch, int]] = {}
        """The branch of each checkpoint, and how many messages it had then."""
        self._tips: dict[int, str] = {}
        """The newest checkpoint of each branch."""
        self._newest = CheckpointBranch()
        self._names: set[str] = set()
        self._known: set[Identity] = set()

    @property
    def strand(self) -> str:
        """Return where the conversation is told; empty as long as it is not."""
        return self._about.id if self._about.id in self._names else ""

    def has_message(self, identity: Identity) -> bool:
        """Say whether a message with this id and these words was yielded here."""
        return identity in self._known

    def has_id(self, name: str) -> bool:
        """Say whether a message with this id was yielded here, in whichever words."""
        return f"{self._about.id}/{name}" in self._names

    def held(self, checkpoint: str) -> Sequence[ChannelMessage]:
        """Return the messages that the graph held at a checkpoint, as far as it is known."""
        home = self._homes.get(checkpoint)
        if home is None:
            return ()
        branch, length = home
        if self._tips[id(branch)] == checkpoint:
            return branch.held
        return [entry for _, entry in branch.path[:length] if entry is not None]

    def skip(self, checkpoint: str, parent: str) -> None:
        """Follow a checkpoint whose content is not known."""
        self._settle(checkpoint, self._branch_after(parent))

    def take(self, checkpoint: GraphCheckpoint) -> Iterator[Event]:
        """Yield what a checkpoint has that its parent had not."""
        # Note what a conversation is called; a graph inside another one is called by its
        # node.
        title = checkpoint.title
        if title and not self._around and title != self._about.title:
            self._about = replace(self._about, title=title)
            if self.strand:
                yield MetadataUpdated(strand=self.strand, about=About(title=title))
        branch = self._branch_after(checkpoint.parent)
        own = list(self._own(checkpoint.entries))
        entries = {identity: entry for _, identity, entry in own}
        match_messages_without_id(branch, entries)
        fresh = [identity for identity in entries if identity not in branch.keys]
        is_summarized = bool(checkpoint.summary) and checkpoint.summary != branch.summary[0]
        if branch.strand or fresh or is_summarized:
            if not branch.strand:
                yield self._begun(branch, checkpoint, entries)
            # Where a branch begins decides what it shares.
            fresh = [identity for identity in entries if identity not in branch.keys]
            for identity in fresh:
                yield self._told(branch, checkpoint, identity, entries[identity])
            if is_summarized:
                key = self._key(f"{checkpoint.id}/summary")
                branch.summary = checkpoint.summary, key
                branch.path.append((key, None))
                branch.shown.append(key)
                summed_up = MessageEvent(
                    strand=branch.strand,
                    line=checkpoint.line,
                    key=key,
                    message=summarized(checkpoint.summary, ORIGIN),
                    native=SourceMetadata(at=checkpoint.at),
                )
                yield summed_up
            hidden = {identity for place, identity, _ in own if place in checkpoint.hidden}
            shown = [identity for identity in entries if identity not in hidden]
            before = [branch.summary[1]] if checkpoint.summary else []
            shows = [*before, *(branch.keys[identity] for identity in shown)]
            was, branch.shown = branch.shown, shows
            if shows != was or is_summarized:
                place, strand, at = checkpoint.line, branch.strand, checkpoint.at
                if is_summarized or is_folded(was, shows, branch, fresh):
                    mark = f"{strand}/{checkpoint.id}"
                    yield CompactionEvent(
                        strand=strand, line=place, id=mark, shows=tuple(shows), at=at
                    )
                else:
                    yield RewindEvent(strand=strand, line=place, shows=tuple(shows), at=at)
        branch.held = checkpoint.entries
        self._settle(checkpoint.id, branch)

    def _own(
        self, entries: Sequence[ChannelMessage]
    ) -> Iterator[tuple[int, Identity, ChannelMessage]]:
        """Return the messages that are told here, each with its place and its identity."""
        counts: dict[bytes, int] = {}
        for place, entry in enumerate(entries):
            if entry.kind == REMOVAL:
                continue
            count = counts[entry.print] = counts.get(entry.print, 0) + 1
            identity = (entry.id or f"{NAMELESS}{count}", entry.print)
            if not any(other.has_message(identity) for other in self._around):
                yield place, identity, entry

    def _branch_after(self, parent: str) -> CheckpointBranch:
        home = self._homes.get(parent)
        if home is None:
            # Older checkpoints may have been deleted; what is left goes on.
            return self._newest
        branch, length = home
        return branch if self._tips[id(branch)] == parent else branch.branch(length)

    def _settle(self, checkpoint: str, branch: CheckpointBranch) -> None:
        self._homes[checkpoint] = branch, len(branch.path)
        self._tips[id(branch)] = checkpoint
        self._newest = branch

    def _begun(
        self,
        branch: CheckpointBranch,
        checkpoint: GraphCheckpoint,
        entries: Mapping[Identity, ChannelMessage],
    ) -> StrandStarted:
        name = self._about.id
        branch.strand = name if name not in self._names else f"{name}/{checkpoint.id}"
        self._names.add(branch.strand)
        if branch.base is not None:
            base = branch.base
            kept = {branch.keys[identity] for identity in entries if identity in branch.keys}
            shared = [place for place, (key, _) in enumerate(branch.path, 1) if key in kept]
            branch.path = branch.path[: max(shared, default=0)]
            after = branch.path[-1][0] if branch.path else ""
            told = [key for key, _ in branch.path]
            branch.keys = {each: key for each, key in branch.keys.items() if key in set(told)}
            # What a branch sees at first is what its base shows up to there, or everything.
            shown = base.shown
            branch.shown = shown[: shown.index(after) + 1] if after in shown else told
            return StrandStarted(
                strand=branch.strand,
                line=checkpoint.line,
                about=replace(checkpoint.about, title="", started=checkpoint.at),
                of=base.strand,
                fork=Fork.BRANCH,
                after=after,
            )
        strands = [each.strand for each in self._around if each.strand]
        of = strands[-1] if strands else ""
        return StrandStarted(
            strand=branch.strand,
            line=checkpoint.line,
            about=replace(
                checkpoint.about,
                id=self._about.id,
                # A node of a graph is known by the agent that it is, where that has a name.
                title=(checkpoint.about.title if self._around else "") or self._about.title,
                started=checkpoint.at,
            ),
            of=of or None,
            fork=Fork.DELEGATION if of else None,
        )

    def _told(
        self,
        branch: CheckpointBranch,
        checkpoint: GraphCheckpoint,
        identity: Identity,
        entry: ChannelMessage,
    ) -> MessageEvent:
        native = native_of(entry, checkpoint.at)
        if entry.id and any(other.has_id(entry.id) for other in (self, *self._around)):
            # An answer that was edited, or is held by two graphs, was given once.
            native = structs.replace(native, usage=None)
        key = self._key(entry.id or entry.print.hex())
        branch.keys[identity] = key
        branch.path.append((key, entry))
        branch.shown.append(key)
        self._known.add(identity)
        return MessageEvent(
            strand=branch.strand,
            line=checkpoint.line,
            key=key,
            message=message_of(entry),
            native=native,
        )

    def _key(self, name: str) -> str:
        key, count = f"{self._about.id}/{name}", 1
        while key in self._names:
            count += 1
            key = f"{self._about.id}/{name}~{count}"
        self._names.add(key)
        return key
