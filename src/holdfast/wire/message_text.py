"""Text between the wire and the parts: where summaries are marked, and where they are found.

Every dialect has a place for plain text, and all of them share these two directions. When a
summary was written in another way than ours, the message keeps a frame: the exact text around
it, so that encoding gives the same text back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.transcript import (
    NO_EXTRAS,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
)
from holdfast.wire.common import known_string, own
from holdfast.wire.markers import (
    BLANK,
    OPEN,
    OPENINGS,
    MarkedSummary,
    escape,
    parted,
    read,
    spelled_out,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.transcript import Extras, Form, Part

SIGNS = (*OPENINGS, OPEN)
"""How a text begins in which something was marked; any other text is somebody's words."""

_FRAME = "summary"
_USER = Role.USER
"""Looked up once: a member of an enumeration is found slowly."""
_SEALED = frozenset({Thinking, Opaque})


def compose(
    role: Role, parts: tuple[Part, ...], form: Form = "", extras: Extras = NO_EXTRAS
) -> Message:
    """Return a message of these parts, with the summaries and memories found in its texts.

    Agents hand a summary over in a user's name. What a model says is its own, however it begins.
    """
    message = Message(role, parts, form, None, False, extras)  # noqa: FBT003
    if role is not _USER or not any(
        [isinstance(part, Text) and part.text.startswith(SIGNS) for part in parts]
    ):
        return message
    message = _with_summary(message)
    found = parted(message.parts)
    return message if found is message.parts else replace(message, parts=found)


def _with_summary(message: Message) -> Message:
    for index, part in enumerate(message.parts):
        if isinstance(part, Text) and part.text.startswith(OPENINGS) and not part.extras:
            marked = read(part.text)
            if marked is not None:
                return divided(message, index, marked)
    return message


def as_string(message: Message, parts: Sequence[Part], dialect: str) -> str | None:
    """Return these parts of a message as one string, or None when they need a list.

    A list is needed for media, for several texts, and for texts with fields of this dialect.
    """
    if message.form == "parts" or len(parts) > 2:
        return None
    match parts:
        case []:
            return ""
        case [Text(text=text, extras=extras)]:
            return None if dialect in extras else text
        case [Summary() as summary]:
            return _marked(message, summary, followed=message.parts[-1] is not summary)
        case [Summary() as summary, Text(text=rest, extras=extras)] if dialect not in extras:
            return _joined(message, summary, rest)
        case _:
            return _pair(message, parts)


def marked_texts(message: Message, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts with each summary turned into the text that a model reads."""
    if not any(isinstance(part, Summary) for part in parts):
        return tuple(parts)
    written: list[Part] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        pair = _pair(message, parts[index : index + 2])
        index += 1 if pair is None else 2
        if pair is not None:
            written.append(Text(pair))
        elif isinstance(part, Summary):
            followed = message.parts[-1] is not part
            written.append(Text(_marked(message, part, followed=followed)))
        else:
            written.append(part)
    return tuple(written)


def as_words(message: Message) -> Message:
    """Return the message as somebody's words: what was found in its texts is text again."""
    if message.summary is None:
        return message
    parts = message.parts
    whole = as_string(message, parts, "") if message.form != "parts" else None
    words = marked_texts(message, parts) if whole is None else (Text(whole),)
    extras = {name: found for name, found in message.extras.items() if name != _FRAME}
    return replace(message, parts=words, synthetic=None, extras=extras or NO_EXTRAS)


def portable(message: Message, dialect: str) -> tuple[Part, ...]:
    """Return the parts of a message that this dialect may say.

    Reasoning belongs to the provider that signed it, so that of another is left out. So is
    another provider's own item, unless it says something that anyone may read. What memory says
    is text from here on.
    """
    parts = message.parts
    if any([type(part) is Recalled for part in parts]):
        parts = spelled_out(parts)
    if not any([type(part) in _SEALED for part in parts]):
        return parts
    kept: list[Part] = []
    for part in parts:
        match part:
            case Thinking(extras=extras) if dialect not in extras:
                continue
            case Opaque(dialect=other, readable=readable) if other != dialect:
                if readable:
                    kept.append(Text(readable))
            case _:
                kept.append(part)
    return tuple(kept)


def divided(message: Message, index: int, marked: MarkedSummary) -> Message:
    """Return the message with the text at a place taken apart into what was found in it."""
    parts, role = message.parts, message.role
    found: list[Part] = [marked.summary]
    if marked.prior is not None:
        found.insert(0, Text(marked.prior))
    if marked.rest is not None:
        found.append(Text(marked.rest))
    whole = (*parts[:index], *found, *parts[index + 1 :])
    synthetic = Synthetic.SUMMARY if whole == (marked.summary,) else None
    result = Message(role, whole, message.form, synthetic, extras=message.extras)
    original = parts[index]
    if isinstance(original, Text) and _plainly(result, marked) == original.text:
        joined = marked.rest is not None and message.form == "parts"
        if not joined:
            return result
    frame: dict[str, object] = {
        "origin": marked.summary.origin,
        "head": marked.head,
        "tail": marked.tail,
        "opening": marked.opening,
        "ours": marked.is_ours,
        "joined": marked.rest is not None,
    }
    return Message(role, whole, message.form, synthetic, extras={**message.extras, _FRAME: frame})


def _plainly(message: Message, marked: MarkedSummary) -> str | None:
    """Return how we would write a summary without knowing how it was written."""
    if marked.prior is not None:
        return None
    if marked.rest is not None:
        return _joined(message, marked.summary, marked.rest)
    return _marked(message, marked.summary, followed=message.parts[-1] is not marked.summary)


def _pair(message: Message, parts: Sequence[Part]) -> str | None:
    """Return a summary and the words that shared its text, if the frame says that they did."""
    match parts:
        case [Summary() as summary, Text(text=rest)] if _frame(message, summary).get("joined"):
            return _joined(message, summary, rest)
        case [Text(text=prior), Summary() as summary]:
            frame = _frame(message, summary)
            opening = known_string(frame, "opening")
            return f"{opening}{prior}{_framed(frame, summary)}" if opening else None
        case _:
            return None


def _frame(message: Message, summary: Summary) -> Mapping[str, object]:
    frame = own(message.extras, _FRAME)
    # A frame is about the summary it came with, not about one that took its place.
    return frame if frame.get("origin") == summary.origin else {}


def _framed(frame: Mapping[str, object], summary: Summary) -> str:
    text = escape(summary.text) if frame.get("ours") else summary.text
    return f"{frame['head']}{text}{frame['tail']}"


def _marked(message: Message, summary: Summary, *, followed: bool) -> str:
    frame = _frame(message, summary)
    if frame:
        return _framed(frame, summary)
    return write(summary, closed=followed or message.role is not Role.ASSISTANT)


def _joined(message: Message, summary: Summary, rest: str) -> str:
    frame = _frame(message, summary)
    if frame:
        return f"{_framed(frame, summary)}{rest}"
    return f"{write(summary, closed=True)}{BLANK}{rest}"
