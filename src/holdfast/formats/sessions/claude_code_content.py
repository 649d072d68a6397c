"""What Claude Code writes of a message: its lines, each with the content of the API.

Every block of an answer and every result of a tool is a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.chronicle import Folded
from holdfast.formats.sessions.claude_code_lines import KEPT, MARK, PROMPT, QUEUED
from holdfast.formats.sessions.derived import is_uuid
from holdfast.transcript import Message, Role, ToolCall, ToolResult
from holdfast.wire.anthropic import NAME, write_block, write_media, write_result
from holdfast.wire.common import Identities
from holdfast.wire.markers import write as marked
from holdfast.wire.message_text import as_string, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.formats.chronicle import Rewound, Told
    from holdfast.session import Usage
    from holdfast.transcript import Part, Summary

__all__ = ["Contents", "Piece", "compaction", "counts", "kept", "said", "summed"]

_CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary:\n\n"
)
"""How Claude Code begins a summary, and how its summaries are known."""
_LEFT_OUT = "Earlier messages were left out here."
"""What the program reads below a boundary that no summary belongs to."""

_Fields: TypeAlias = "dict[str, object]"


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


def _summary_text(summary: Summary) -> str:
    """Return a summary as Claude Code would write it, or with the name of who wrote it."""
    if summary.origin == "claude-code":
        return f"{_CONTINUED}{summary.text}"
    return marked(summary, closed=True)


def _user_content(message: Message, parts: tuple[Part, ...]) -> object:
    string = as_string(message, parts, NAME)
    if string is not None:
        return string
    return [write_media(part) for part in marked_texts(message, parts)]


def compaction(event: Folded | Rewound) -> _Fields:
    """Return what a boundary says about a compaction."""
    # Where nobody says, a person asked for it: that is how a file comes to be compacted here.
    about: _Fields = {"trigger": "manual", "preTokens": 0}
    if isinstance(event, Folded):
        known = {
            "trigger": event.trigger,
            "preTokens": event.tokens_before,
            "postTokens": event.tokens_after,
        }
        about |= {key: value for key, value in known.items() if value}
    return {"compactMetadata": about}


def summed(held: Told | None) -> _Fields:
    """Return what the line of a summary says; without one, that something is missing."""
    summary = None if held is None else held.message.summary
    line: _Fields = {
        "type": "user",
        "message": {
            "role": "user",
            "content": _LEFT_OUT if summary is None else _summary_text(summary),
        },
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
    }
    return line | {MARK: {"told": False}} if summary is None else line


def counts(usage: Usage) -> _Fields:
    """Return what an answer cost, as the API writes it."""
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    }


def kept(more: Mapping[str, object]) -> _Fields:
    """Return the small fields of a line; a session id only where it is one."""
    fields = {key: more[key] for key in KEPT if key in more}
    if not is_uuid(str(fields.get("sessionId"))):
        fields.pop("sessionId", None)
    return fields


def said(told: Told, content: object, reply: _Fields) -> _Fields:
    """Return what a line says, in the shape of its kind."""
    if told.message.role is Role.ASSISTANT:
        return {"type": "assistant", "message": {**reply, "content": content}}
    if told.message.role is Role.SYSTEM:
        text = told.message.text
        return {"type": "system", "subtype": PROMPT, "content": text, "level": "info"}
    mode = told.native.more.get(QUEUED)
    if mode is not None:
        queued = {"type": "queued_command", "prompt": content, "commandMode": mode}
        return {"type": "attachment", "attachment": queued}
    return {"type": "user", "message": {"role": "user", "content": content}}
