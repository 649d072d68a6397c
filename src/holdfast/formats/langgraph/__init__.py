"""LangGraph's SQLite checkpoints: the state of a graph after each of its steps.

Each checkpoint repeats the messages that the graph holds, so a conversation is everything that
ever stood in its channel, mostly `messages`, in the order of first appearance, and its window is
what the newest checkpoint holds. The graph's own summary stands before the messages. Other
channels are not conversation. Several children of one checkpoint are branches.

A graph inside a graph keeps checkpoints of its own; it is told as a sub-agent, and only with the
messages that no graph around it holds. A channel that stores only what each step adds is
put together from the table of writes, along the newest path to each checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.formats.events import About, Event, Problem
from holdfast.formats.json_access import count, is_array, mapping, milliseconds, sequence, string
from holdfast.formats.langgraph.branches import CheckpointBranches, GraphCheckpoint
from holdfast.formats.langgraph.messages import (
    REMOVAL,
    ROLES,
    PackedObject,
    UnreadableValue,
    built,
    decode,
    entry_of,
    members,
    message_of,
    unpacked,
)
from holdfast.formats.reader import SURE, DatabaseQuery, DatabaseReader, Format, Row, Sign, Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.langgraph.messages import ChannelMessage

_CUSTOM = "messages"
_PASSING = ("__start__", "__end__", "__input__", "__pregel", "__interrupt__", "branch:")
"""How channels are called that hold what a step is about to read, and nothing that lasts."""
_VIEWS = ("llm_input_messages", "summarized_messages")
"""Channels that repeat what the model was sent."""


@dataclass(frozen=True, slots=True)
class ReducedView:
    """What the model sees in the place of older messages."""

    summary: str = ""
    hidden: frozenset[int] = frozenset()
    """The places of the messages that the summary stands for, though the graph still holds them."""


def channel_of(values: JsonObject, versions: JsonObject) -> str:
    """Return the channel that is the conversation; empty when none is one yet."""
    if _CUSTOM in values or _CUSTOM in versions:
        return _CUSTOM
    sizes = {
        name: size
        for name, value in values.items()
        if not name.startswith(_PASSING) and name not in _VIEWS and (size := _size(value))
    }
    return min(sizes, key=lambda name: (-sizes[name], name), default="")


def messages_in(value: object) -> object:
    """Return the messages of a channel: its value, or what that holds under their name.

    Raises:
        Unreadable: when it is damaged.
    """
    found = unpacked(value)
    inner = mapping(found).get(_CUSTOM)
    return inner if is_array(inner) else found


def reduced_in(values: JsonObject, entries: Sequence[ChannelMessage]) -> ReducedView:
    """Return the summary that the model sees.

    Raises:
        Unreadable: when it is damaged.
    """
    if event := mapping(values.get("_summarization_event")):
        # The summary of a deep agent, which stands for the messages up to some place.
        entry = entry_of(event.get("summary_message"))
        if entry is None or entry.kind == REMOVAL:
            return ReducedView()
        message = message_of(entry)
        words = message.summary.text if message.summary is not None else message.text
        return ReducedView(words, frozenset(range(count(event.get("cutoff_index")))))
    kept = built(mapping(values.get("context")).get("running_summary"))
    if kept is not None and (text := string(kept.fields.get("summary"))):
        # The summary of LangMem, which names the messages that it stands for.
        names = set(map(string, members(kept.fields.get("summarized_message_ids"))))
        hidden = (place for place, entry in enumerate(entries) if entry.id and entry.id in names)
        return ReducedView(text, frozenset(hidden))
    return ReducedView(string(values.get("summary")))


def surroundings(blob: object) -> About:
    """Return where a step was taken, as far as the program around the graph noted it.

    The title is what the agent is called that took it.
    """
    try:
        noted = mapping(decode("", blob))
    except UnreadableValue:
        return About()
    name = string(noted.get("agent_name"))
    return About(
        title=string(noted.get("lc_agent_name")),
        cwd=string(noted.get("cwd")),
        git_branch=string(noted.get("git_branch")),
        version=string(noted.get("ls_integration_version")),
        more={"agent_name": name} if name else {},
    )


def _size(value: object) -> int:
    """Return of how many messages a value is made; none when anything in it is no message."""
    try:
        found = messages_in(value)
        several = sequence(found) if is_array(found) else (found,)
        entries = map(entry_of, several)
        are_messages = all(
            entry is not None and entry.kind != REMOVAL and "content" in entry.fields
            for entry in entries
        )
        return len(several) if are_messages else 0
    except UnreadableValue:
        return 0


_COLUMNS = (
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
)
_KEY = ("thread_id", "checkpoint_ns", "checkpoint_id")
_WRITE_ORDER = ("task_path", "task_id", "idx")
_OLDEST = {"thread_ts": "checkpoint_id", "parent_ts": "parent_checkpoint_id"}
"""How the columns were called before a graph could stand in another one."""
_KINDS = {"user": "human", "assistant": "ai"}
"""How LangChain calls those who speak, once it has made messages of their words."""
_OVERWRITE = "__overwrite__"
_EVERYTHING = "__remove_all__"


def recognize(tables: Tables) -> Sign | None:
    """Say why tables are those of LangGraph; None when they are not."""
    known = tables.get("checkpoints", frozenset())
    if known >= {*_KEY, "parent_checkpoint_id", "checkpoint"}:
        return Sign("the table `checkpoints` has the columns of LangGraph's saver", SURE)
    if known >= {"thread_id", *_OLDEST, "checkpoint"}:
        return Sign("the table `checkpoints` has the columns of LangGraph's first saver", SURE)
    return None


def read(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of LangGraph."""
    rows = query.rows("checkpoints", (*_COLUMNS, *_OLDEST), order=(*_KEY, "thread_ts"))
    if "thread_ts" in query.tables.get("checkpoints", ()):
        rows = ({_OLDEST.get(name, name): value for name, value in row.items()} for row in rows)
    for thread, several in groupby(enumerate(rows, 1), lambda row: string(row[1]["thread_id"])):
        yield from _ThreadReader(query, thread).tell(several)


@dataclass(frozen=True, slots=True)
class _Write:
    """What one step of a graph wrote into the channel."""

    entries: tuple[ChannelMessage, ...]
    replaces: bool = False
    """Whether everything before it is gone."""


class _ThreadReader:
    """One conversation with a graph, and the graphs inside it."""

    def __init__(self, query: DatabaseQuery, thread: str) -> None:
        self._query = query
        self._thread = thread
        self._entries: dict[PackedObject, ChannelMessage | None] = {}
        """Each message is packed again in each checkpoint, mostly byte for byte the same."""
        self._complaints: set[str] = set()
        self._spaces: dict[str, CheckpointBranches] = {}
        self._channels: dict[str, str] = {}
        """Which channel is the conversation of a graph: the first that is one."""

    def tell(self, rows: Iterator[tuple[int, Row]]) -> Iterator[Event]:
        """Yield the checkpoints of the graph, then those of the graphs inside it."""
        for space, several in groupby(rows, lambda row: string(row[1].get("checkpoint_ns"))):
            names = space.split("|")
            outer = ["|".join(names[:length]) for length in range(len(names))] if space else []
            around = [self._spaces[each] for each in outer if each in self._spaces]
            about = About(id=self._thread)
            if space:
                # A graph that one step calls several times is counted after its name.
                named = [each for each in names if not each.isdigit()]
                title = named[-1].partition(":")[0] if named else ""
                about = About(id=f"{self._thread}/{space}", title=title)
            branches = self._spaces[space] = CheckpointBranches(about, around)
            for line, row in several:
                yield from self._checkpoint(branches, line, row)

    def _checkpoint(self, branches: CheckpointBranches, line: int, row: Row) -> Iterator[Event]:
        id_ = string(row.get("checkpoint_id"))
        parent = string(row.get("parent_checkpoint_id"))
        try:
            state = mapping(decode(string(row.get("type")), row.get("checkpoint")))
            values = mapping(state.get("channel_values"))
            entries = self._held(branches, row, state)
            reduced = reduced_in(values, entries)
        except UnreadableValue as error:
            # Report each kind of damage once a thread: an encrypted one has it in
            # every row.
            reason = f"checkpoint {id_} cannot be read: {error}"
            kind = reason.rpartition(":")[2]
            if kind not in self._complaints:
                self._complaints.add(kind)
                yield Problem(line, f"thread {self._thread!r}: {reason}")
            branches.skip(id_, parent)
            return
        checkpoint = GraphCheckpoint(
            id=id_,
            parent=parent,
            line=line,
            at=milliseconds(state.get("ts")),
            entries=entries,
            summary=reduced.summary,
            hidden=reduced.hidden,
            title=string(values.get("title")),
            about=surroundings(row.get("metadata")),
        )
        yield from branches.take(checkpoint)

    def _held(
        self, branches: CheckpointBranches, row: Row, state: object
    ) -> Sequence[ChannelMessage]:
        """Return the messages that the graph holds at a checkpoint."""
        fields = mapping(state)
        values = mapping(fields.get("channel_values"))
        versions = mapping(fields.get("channel_versions"))
        space = string(row.get("checkpoint_ns"))
        channel = self._channels.get(space) or channel_of(values, versions)
        self._channels[space] = channel
        if channel in values:
            return self._messages(messages_in(values[channel]))
        parent = string(row.get("parent_checkpoint_id"))
        held = branches.held(parent)
        if channel not in versions:
            return held
        for write in self._writes(row, parent, channel):
            # The messages after a write, as LangGraph's own reducer adds them.
            kept = (
                {}
                if write.replaces
                else {entry.id or str(place): entry for place, entry in enumerate(held)}
            )
            for entry in write.entries:
                if entry.kind != REMOVAL:
                    kept[entry.id or f"+{len(kept)}"] = entry
                elif entry.id == _EVERYTHING:
                    kept = {}
                else:
                    kept.pop(entry.id, None)
            held = tuple(kept.values())
        return held

    def _writes(self, row: Row, checkpoint: str, channel: str) -> Iterator[_Write]:
        where = {
            "thread_id": row.get("thread_id"),
            "checkpoint_ns": row.get("checkpoint_ns"),
            "checkpoint_id": checkpoint,
            "channel": channel,
        }
        for each in self._query.rows(
            "writes", ("type", "value", *_WRITE_ORDER), where=where, order=_WRITE_ORDER
        ):
            value = decode(string(each.get("type")), each.get("value"))
            # A written value, and whether it takes the place of everything before it.
            found = built(value)
            if found is not None and found.name == "Overwrite":
                replaces, value = True, found.fields.get("value")
            else:
                fields = mapping(value)
                if _OVERWRITE in fields:
                    replaces, value = True, fields[_OVERWRITE]
                else:
                    if fields.get("type") == _OVERWRITE:
                        replaces, value = True, fields.get("value")
                    else:
                        replaces, value = False, value
            yield _Write(self._messages(_passed_in(value)), replaces)

    def _messages(self, value: object) -> tuple[ChannelMessage, ...]:
        several = sequence(value) if is_array(value) and not _is_pair(value) else (value,)
        found = (self._entry(each) for each in several)
        return tuple(entry for entry in found if entry is not None)

    def _entry(self, value: object) -> ChannelMessage | None:
        if not isinstance(value, PackedObject):
            if _is_pair(value):
                role, content = sequence(value)
                value = {"type": _KINDS.get(string(role), role), "content": content}
            return entry_of(value)
        if value not in self._entries:
            self._entries[value] = entry_of(value)
        return self._entries[value]


def _passed_in(value: object) -> object:
    """Return what a caller passed in, which is written as it came: words alone are a user's."""
    if isinstance(value, str):
        return {"type": "human", "content": value}
    if is_array(value) and not _is_pair(value):
        return [_passed_in(each) if isinstance(each, str) else each for each in value]
    return value


def _is_pair(value: object) -> bool:
    """Say whether a value is a message as a role and words."""
    match value:
        case [str() as role, str()]:
            return role in ROLES
        case _:
            return False


LANGGRAPH = DatabaseReader(
    format=Format("langgraph", "LangGraph checkpoints, SQLite", "openai", writable=False),
    recognize=recognize,
    read=read,
)
