"""A transcript as Markdown, for people to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.session_fields import title_of
from holdfast.cli.sessions_message_view import full_text
from holdfast.cli.times import clock_time
from holdfast.transcript import Message, Role, Summary, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.session import Session
    from holdfast.transcript import Part, Transcript

__all__ = ["as_markdown"]

_TICKS = re.compile(r"`{3,}")
_NAMES = {Role.SYSTEM: "System", Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"}


def as_markdown(session: Session, transcript: Transcript) -> str:
    """Return the transcript with a heading for each message; what tools say stands in fences."""
    known = [f"session {session.id}", session.model, f"begun {clock_time(session.started)}"]
    head = [f"# {' '.join(title_of(session).split())}", ", ".join(filter(None, known))]
    if session.goal:
        head.append(f"Goal: {session.goal}")
    body = [block for message in transcript for block in _blocks(message)]
    return "\n\n".join([*head, *body]) + "\n"


def _blocks(message: Message) -> Iterator[str]:
    yield f"## {_NAMES[message.role]}"
    for part in message.parts:
        words = _part(part, message.role)
        if words:
            yield words


def _part(part: Part, role: Role) -> str:
    words = full_text(Message(role, (part,)))
    match part:
        case ToolCall() | ToolResult():
            title, _, content = words.partition("\n")
            return f"{title}\n\n{_fenced(content)}"
        case Thinking(text):
            return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
        case Summary(text):
            return f"*Summary of what was folded:*\n\n{text}"
        case Text(text):
            return text
        case _:
            return words


def _fenced(text: str) -> str:
    """Return the text in a fence that is longer than any in the text."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
