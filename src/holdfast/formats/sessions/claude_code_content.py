"""What Claude Code writes of a message: its lines, each with the content of the API.

Every block of an answer and every result of a tool is a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.transcript import Message, Role, ToolCall, ToolResult
from holdfast.wire.anthropic_blocks import NAME, write_block, write_media, write_result
from holdfast.wire.identity import Identities
from holdfast.wire.markers import write as marked
from holdfast.wire.words import as_string, marked_texts, portable

if TYPE_CHECKING:
    from holdfast.transcript import Part, Summary

__all__ = ["Contents", "Piece", "summary_text"]

_CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary:\n\n"
)
"""How Claude Code begins a summary, and how its summaries are known."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The content of one line."""

    content: object
    call: str = ""
    """The id of the call in it, as the session has it."""
    answers: str = ""
    """The id of the call that it answers."""


class Contents:
    """Writes content; call ids become what the API accepts, the same for a call and its result."""

    def __init__(self) -> None:
        """Know no call."""
        self._identities = Identities()

    def of(self, message: Message) -> list[Piece]:
        """Return the lines of a message; nothing when none of it can be said.

        Reasoning that another provider signed is left out, as everywhere on this wire.
        """
        parts = portable(message, NAME)
        if message.role is Role.ASSISTANT:
            return [self._block(part) for part in marked_texts(message, parts)]
        pieces = [self._result(part) for part in parts if isinstance(part, ToolResult)]
        rest = tuple(part for part in parts if not isinstance(part, ToolResult))
        return [*pieces, Piece(_user_content(message, rest))] if rest else pieces

    def _block(self, part: Part) -> Piece:
        call = part.id if isinstance(part, ToolCall) else ""
        return Piece([write_block(part, self._identities)], call=call)

    def _result(self, result: ToolResult) -> Piece:
        carrier = Message(Role.TOOL, result.content)
        block = write_result(result, portable(carrier, NAME), self._identities)
        return Piece([block], answers=result.call_id)


def summary_text(summary: Summary) -> str:
    """Return a summary as Claude Code would write it, or with the name of who wrote it."""
    if summary.origin == "claude-code":
        return f"{_CONTINUED}{summary.text}"
    return marked(summary, closed=True)


def _user_content(message: Message, parts: tuple[Part, ...]) -> object:
    string = as_string(message, parts, NAME)
    if string is not None:
        return string
    return [write_media(part) for part in marked_texts(message, parts)]
