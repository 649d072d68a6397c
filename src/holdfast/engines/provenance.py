"""Only users speak for users: what a plug-in writes in a user's name is known, and is marked.

A plug-in's notes have the role `user`, as the format has no other. Here they are told from the
user's own messages, for the store and for the model that reads them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.transcript import (
    Media,
    Message,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    ToolResult,
    is_user_word,
    newest_user,
)
from holdfast.wire.words import as_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Part, Transcript

__all__ = ["attributed", "borrowed", "labelled"]

_MARKS = ("[", "<", "#", "*", "-", "=")
"""How a text begins that says of itself what it is: `[Summary]`, `<summary>`, `## Summary`."""


def attributed(before: Transcript, after: Transcript) -> Transcript:
    """Return what a plug-in handed back, with its own words as notes.

    A summary is what the plug-in wrote itself: what stood in the input as words of somebody, or in
    what a tool printed, stays words. Where the user's newest message is not there as it was, but
    its words are lines of their own in one that the plug-in wrote, that one is parted: into a
    note, and the message of the user.
    """
    at = newest_user(before)
    own = None if at is None or any(each is before[at] for each in after) else before[at]
    carrier = None if own is None else _carrier(before, after, own)
    ours = {id(message) for message in before}
    found: list[Message] = []
    for index, message in enumerate(after):
        if message.summary is not None and id(message) not in ours:
            message = _unless_quoted(message, before)
        if id(message) in ours or not is_user_word(message):
            found.append(message)
        elif own is not None and index == carrier:
            found += _parted(message, own)
        else:
            found.append(replace(message, synthetic=Synthetic.NOTE))
    return tuple(found)


def _unless_quoted(message: Message, before: Transcript) -> Message:
    """Return a message with a summary, as words where it stood in the input as such."""
    words = as_words(message)
    parts = (part for each in before for part in each.parts)
    is_quoted = any(
        isinstance(part, Text | ToolResult) and words.text in part.text for part in parts
    )
    return words if is_quoted else message


def labelled(before: Transcript, after: Transcript, writer: str) -> Transcript:
    """Return the transcript with a line in every new note that could be read as the user's."""
    label = f"[Written by the engine {writer}, not by the user.]\n"
    places = set(_borrowed(before, after))
    return tuple(
        _with_label(message, label) if at in places else message for at, message in enumerate(after)
    )


def borrowed(before: Transcript, after: Transcript) -> Iterator[str]:
    """Yield the texts that a plug-in wrote as if the user had."""
    yield from (after[at].text for at in _borrowed(before, after))


def _borrowed(before: Transcript, after: Transcript) -> Iterator[int]:
    """Yield where a message speaks as a user, and is none of the messages before."""
    ours = {id(message) for message in before}
    said = {message.text.strip() for message in before if message.role is Role.USER}
    for at, message in enumerate(after):
        if message.role is Role.USER and id(message) not in ours:
            text = message.text.strip()
            if text and text not in said and not text.startswith(_MARKS):
                yield at


def _carrier(before: Transcript, after: Transcript, own: Message) -> int | None:
    ours = {id(message) for message in before}
    return next(
        (
            at
            for at in range(len(after) - 1, -1, -1)
            if id(after[at]) not in ours
            and after[at].role is Role.USER
            and _around(after[at].text, own.text) is not None
        ),
        None,
    )


def _around(text: str, words: str) -> tuple[str, str] | None:
    """Return what stands before and after words that are lines of their own in a text."""
    if not words.strip():
        return None
    at = text.rfind(words)
    while at >= 0:
        before, after = text[:at], text[at + len(words) :]
        if before[-1:] in ("", "\n") and after[:1] in ("", "\n"):
            return before, after
        at = text.rfind(words, 0, at + len(words) - 1)
    return None


def _parted(message: Message, own: Message) -> Iterator[Message]:
    around = _around(message.text, own.text) or ("", "")
    texts: list[Part] = [Text(each.strip()) for each in around if each.strip()]
    shown = {(each.data, each.url) for each in own.parts if isinstance(each, Media)}
    others: list[Part] = [
        each
        for each in message.parts
        if not isinstance(each, Text | Recalled)
        and not (isinstance(each, Media) and (each.data, each.url) in shown)
    ]
    note = (*others, *texts)
    if note:
        only_record = all(isinstance(each, Summary) for each in note)
        why = Synthetic.SUMMARY if only_record else Synthetic.NOTE
        yield Message(Role.USER, note, synthetic=why)
    yield own


def _with_label(message: Message, label: str) -> Message:
    first, *rest = message.parts
    opening = (replace(first, text=label + first.text),) if isinstance(first, Text) else None
    return replace(message, parts=(*(opening or (Text(label.strip()), first)), *rest))
