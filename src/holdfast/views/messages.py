"""Who said what: the speaker of a message, all of its words, and its JSON."""

from __future__ import annotations

import json
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from holdfast.formats.events import native_of
from holdfast.summary.record import HEADINGS
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    one_line,
)
from holdfast.transcript.blocks import is_command, is_observation, is_output
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.ports import Store
    from holdfast.session import Entry
    from holdfast.summary import Checkpoint
    from holdfast.transcript import Message, Part

_SKETCH = 160
_META = "isMeta"
"""What Claude Code calls messages that it wrote for itself."""
NO_NAMES: Mapping[str, str] = MappingProxyType({})
_CALLS_BEFORE = 200
"""Messages before a result among which its call is looked for."""


class Visibility(StrEnum):
    """What the model still sees of a message."""

    SEEN = "in the window"
    SHORTENED = "in the window, shortened"
    GONE = "no longer in the window"


def speaker_of(message: Message) -> str:
    """Return who speaks, in one word.

    It is the role but for messages with the user's that no user wrote as such: a `summary`, a
    `note` of ours, a `command` to the agent's program, the `output` of one that the assistant wrote
    as text, and what was `injected` by the agent.
    """
    if message.summary is not None:
        return "summary"
    if message.synthetic is not None:
        return "note"
    text = message.text
    if message.role is not Role.USER or not text:
        return str(message.role)
    if is_output(text):
        return "output"
    if is_command(text):
        return "command"
    is_meta = native_of(message).more.get(_META) is True
    return "injected" if is_meta or is_observation(text) else str(message.role)


def origin_of(message: Message) -> str:
    """Return whose summary a message is, such as `by claude-code`; "" for another message."""
    summary = message.summary
    return f"by {summary.origin}" if summary is not None and summary.origin else ""


def full_text(message: Message, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return everything in the message as text; images and opaque items are named."""
    return "\n\n".join(words for part in message.parts for words in _words(part, names))


def sealed(item: Opaque) -> str:
    """Return what to say of a provider's item that has no words for anybody else."""
    return f"{item.value.get('type', 'item')} that only its provider can read"


def _words(part: Part, names: Mapping[str, str]) -> Iterator[str]:
    match part:
        case Text(text) | Summary(text):
            yield text
        case Recalled(text):
            yield f"[recalled from memory]\n{text}"
        case Thinking(text):
            yield f"[thinking]\n{text}"
        case ToolCall():
            try:
                laid_out = json.dumps(json.loads(part.arguments), ensure_ascii=False, indent=2)
            except (ValueError, RecursionError):
                laid_out = part.arguments
            yield f"-> {part.name} ({part.id})\n{laid_out}"
        case ToolResult():
            kind = "error" if part.is_error else "result"
            pieces = (words for piece in part.content for words in _words(piece, names))
            name = part.name or names.get(part.call_id) or "call"
            yield "\n".join((f"[{kind} of {name} {part.call_id}]", "\n\n".join(pieces)))
        case Media():
            where = "" if part.url.startswith("data:") else f" {part.url}"
            yield f"[{part.kind}{where}]"
        case Opaque():
            yield part.readable or f"[{sealed(part)}]"
        case _:
            assert_never(part)


def record_sections(checkpoint: Checkpoint) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each heading that has entries, with them, in the order of the page."""
    for name, entries in checkpoint.record.sections():
        if entries:
            yield HEADINGS[name], entries
    beside = (
        ("Evidence", checkpoint.evidence.split("\n")),
        ("Standing Words of the User", checkpoint.lasting),
        ("Said by the User", checkpoint.said),
        ("Live State", checkpoint.live.split("\n")),
    )
    for heading, lines in beside:
        kept = [line for line in lines if line.strip()]
        if kept:
            yield heading, kept


def entry_fields(entry: Entry, message: Message | None = None) -> dict[str, object]:
    """Return an entry of the log as plain JSON values, with the beginning of its words.

    Args:
        message: The message as it is to be shown, where that is not as the window has it.
    """
    summary = entry.message.summary
    return {
        "id": entry.id,
        "session": entry.session,
        "position": entry.position,
        "role": str(entry.message.role),
        "synthetic": entry.synthetic and str(entry.synthetic),
        "summary_by": None if summary is None else summary.origin,
        "at": iso_time(entry.at),
        "tokens": entry.tokens,
        "pinned": entry.message.pinned,
        "shortened": entry.shortened,
        "derived": bool(entry.kind),
        "beginning": one_line(message or entry.message, _SKETCH),
    }


def message_fields(entry: Entry, message: Message | None = None) -> dict[str, object]:
    """Return an entry as plain JSON values, with who really speaks."""
    return {**entry_fields(entry, message), "speaker": speaker_of(entry.message)}


def call_names(store: Store, entry: Entry) -> dict[str, str]:
    """Return the names of the calls before an entry by their ids; results need not repeat them."""
    before = store.said(entry.session, entry.position, before=_CALLS_BEFORE, after=0)
    return {call.id: call.name for each in before for call in each.message.calls}


def visibility_of(shown: Entry) -> dict[int, Visibility]:
    """Return what an entry of the window says about itself, and about what it stands for.

    Messages about which no entry says anything are gone from the window.
    """
    found = {shown.id: Visibility.SHORTENED if shown.shortened else Visibility.SEEN}
    if shown.stands_for is not None:
        found[shown.stands_for] = Visibility.SHORTENED
    return found
