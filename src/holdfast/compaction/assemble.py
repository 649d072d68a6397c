"""Put the window together: head, summary, what stays of the middle, tail. Phase four."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.compaction.repair import merged
from holdfast.transcript import Message, Role, Summary, Synthetic, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Transcript

__all__ = ["assemble", "with_note"]


def assemble(
    head: Sequence[Message], summary: str, kept: Sequence[Message], tail: Sequence[Message]
) -> Transcript:
    """Return the parts as one transcript in which roles alternate at the joints.

    Where there is no room for a summary there is none for the note in the system prompt either.
    """
    rest = _joined(kept, tail)
    if not summary:
        return (*head, *rest)
    opening = tuple(_noted(head))
    part = Summary(summary)
    before = opening[-1].role if opening else Role.SYSTEM
    after = rest[0] if rest else None
    if after and _takes_summary(before, after):
        return (*opening, replace(after, parts=(part, *after.parts)), *rest[1:])
    role = Role.USER
    if before is Role.USER and not (after and after.role is Role.ASSISTANT):
        role = Role.ASSISTANT
    return (*opening, Message(role, (part,), synthetic=Synthetic.SUMMARY), *rest)


def with_note(message: Message, note: str = SYSTEM_NOTE) -> Message:
    """Return the system message with the note at its end, once."""
    if any(isinstance(part, Text) and note in part.text for part in message.parts):
        return message
    last = message.parts[-1] if message.parts else None
    if isinstance(last, Text) and len(message.parts) == 1 and message.form in ("", "string"):
        noted = replace(last, text=f"{last.text}\n\n{note}")
        return replace(message, parts=(noted,))
    return replace(message, parts=(*message.parts, Text(note)))


def _takes_summary(before: Role, after: Message) -> bool:
    """Say whether the summary goes into the front of the message that follows it.

    A user message after the summary would make two neighbors of one role. After a user message
    in the head no role is left when an assistant follows; but thinking must stay first in its
    message, so such a message does not take it.
    """
    if after.role is Role.USER:
        return before is not Role.USER
    return (
        before is Role.USER
        and after.role is Role.ASSISTANT
        and not any(isinstance(piece, Thinking) for piece in after.parts)
    )


def _noted(head: Sequence[Message]) -> list[Message]:
    noted = list(head)
    system = [index for index, message in enumerate(noted) if message.role is Role.SYSTEM]
    if system:
        noted[system[-1]] = with_note(noted[system[-1]])
    return noted


def _joined(kept: Sequence[Message], tail: Sequence[Message]) -> Transcript:
    """Merge user messages that became neighbors because what stood between them was folded."""
    joined: list[Message] = []
    for message in (*kept, *tail[:1]):
        if joined and message.role is Role.USER and joined[-1].role is Role.USER:
            joined[-1] = merged(joined[-1], message)
        else:
            joined.append(message)
    return (*joined, *tail[1:])
