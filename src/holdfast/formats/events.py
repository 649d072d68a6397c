"""The events of a session file, which readers yield and writers take.

A reader turns records into events as they come; a writer turns events into lines. A file may hold
several strands: conversations of their own, branches of one, sub-agents of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec import Struct, structs

from holdfast.session import Fork, Usage
from holdfast.transcript import NO_EXTRAS, Message

if TYPE_CHECKING:
    from holdfast.formats.json_access import JsonObject

MAIN = ""
"""The strand of a file that holds one conversation."""
_KEY = "native"
"""Where a message keeps what its own agent wrote about it; no provider's codec reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a conversation besides what was said in it; empty is unknown."""

    id: str = ""
    """What its own agent calls it."""
    title: str = ""
    model: str = ""
    cwd: str = ""
    git_branch: str = ""
    version: str = ""
    """Of the agent."""
    started: int | None = None
    """In milliseconds since the epoch, as all times."""
    parent: str = ""
    """The id of a session in another file that this one came from."""
    fork: Fork | None = None
    """How it came from that session."""
    usage: Usage | None = None
    """What the whole conversation cost, where the file states a total."""
    more: JsonObject = field(default_factory=dict[str, object])
    """What only its own format has a word for and its writer puts back."""


class SourceMetadata(Struct, frozen=True, kw_only=True, gc=False):
    """What an agent wrote about one message; empty is unknown."""

    id: str = ""
    parent: str = ""
    """The id of the entry it follows, where that is not the one told before it."""
    reply: str = ""
    """What the messages of one answer of the model have in common."""
    model: str = ""
    usage: Usage | None = None
    """What the answer cost; an answer of several messages tells each part of it once."""
    at: int | None = None
    more: JsonObject = NO_EXTRAS
    """What only its own format has a word for and its writer puts back."""
    mark: str = ""
    """The prefix hash of the message and all told before it; set by an import, by no reader."""


_NO_NATIVE = SourceMetadata()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandStarted:
    """A strand begins; it comes before anything else of the strand."""

    strand: str
    line: int
    about: About
    of: str | None = None
    """The strand that it came from; None for a conversation of its own."""
    fork: Fork | None = None
    """How it came from that strand."""
    after: str = ""
    """For a branch: the key of the last message that it shares with that strand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataUpdated:
    """More is known of a strand than when it began: what is not empty holds from here on."""

    strand: str
    about: About


class MessageEvent(Struct, frozen=True, kw_only=True, gc=False):
    """One entry of the conversation, as its own agent divides it."""

    strand: str
    line: int
    key: str
    """Unique in the file: its native id, or its place when it has none."""
    message: Message
    native: SourceMetadata = _NO_NATIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """The agent compacted: from here on its model sees these messages and what follows."""

    strand: str
    line: int
    id: str
    """The native id of the compaction, or its place; unique in the file."""
    shows: tuple[str, ...]
    """The keys of messages told before, the summary's own among them, in the model's order."""
    at: int | None = None
    trigger: str = ""
    """`auto` or `manual`, where the agent says."""
    tokens_before: int | None = None
    tokens_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindEvent:
    """The user took something back: from here on the model sees these messages and what follows."""

    strand: str
    line: int
    shows: tuple[str, ...]
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a session file that could not be read and was left out."""

    line: int
    """The line, counted from 1; in a file that is one JSON array, the element."""
    reason: str
    file: str = ""
    """Which one, where a session is spread over several."""


Event: TypeAlias = (
    StrandStarted | MetadataUpdated | MessageEvent | CompactionEvent | RewindEvent | Problem
)


def with_native(message: Message, native: SourceMetadata, *, mark: str = "") -> Message:
    """Return the message with what its agent wrote about it, so that it can be written back.

    `mark` is the prefix hash that an import keeps with it.
    """
    # One by one, in place of a dictionary of all that is filtered: every message goes through here.
    fields: dict[str, object] = {}
    if native.id:
        fields["id"] = native.id
    if native.parent:
        fields["parent"] = native.parent
    if native.reply:
        fields["reply"] = native.reply
    if native.model:
        fields["model"] = native.model
    if native.usage is not None:
        usage = native.usage
        counts = (usage.input_tokens, usage.output_tokens)
        cached = (usage.cache_read_tokens, usage.cache_write_tokens)
        fields["usage"] = [usage.calls, *counts, *cached, usage.cost]
    if native.at is not None:
        fields["at"] = native.at
    if native.more:
        fields["more"] = native.more
    if mark or native.mark:
        fields["mark"] = mark or native.mark
    if not fields:
        return message
    return structs.replace(message, extras={**message.extras, _KEY: fields})


def native_of(message: Message) -> SourceMetadata:
    """Return what `with_native` put into a message; empty for one that was said here."""
    fields = cast("JsonObject | None", message.extras.get(_KEY))
    if not fields:
        return SourceMetadata()
    counts = cast("list[int] | None", fields.get("usage"))
    return SourceMetadata(
        id=str(fields.get("id", "")),
        parent=str(fields.get("parent", "")),
        reply=str(fields.get("reply", "")),
        model=str(fields.get("model", "")),
        usage=None if counts is None else Usage(*counts),
        at=cast("int | None", fields.get("at")),
        more=cast("JsonObject", fields.get("more", {})),
        mark=str(fields.get("mark", "")),
    )


def without_native(message: Message) -> Message:
    """Return the message alone."""
    if _KEY not in message.extras:
        return message
    rest = {key: value for key, value in message.extras.items() if key != _KEY}
    return structs.replace(message, extras=rest or NO_EXTRAS)


def prefixed(event: Event, own: str) -> Event:
    """Return an event of one file as it is called among those of others.

    `own` comes before all names of that file.
    """
    if isinstance(event, MessageEvent):
        # Made anew, which is quicker than replacing: most events are of this kind.
        return MessageEvent(
            strand=own + event.strand,
            line=event.line,
            key=own + event.key,
            message=event.message,
            native=event.native,
        )
    match event:
        case StrandStarted():
            of = None if event.of is None else own + event.of
            after = own + event.after if event.after else ""
            return replace(event, strand=own + event.strand, of=of, after=after)
        case CompactionEvent():
            shows = tuple(own + key for key in event.shows)
            return replace(event, strand=own + event.strand, id=own + event.id, shows=shows)
        case RewindEvent():
            shows = tuple(own + key for key in event.shows)
            return replace(event, strand=own + event.strand, shows=shows)
        case MetadataUpdated():
            return MetadataUpdated(strand=own + event.strand, about=event.about)
        case _:
            return event
