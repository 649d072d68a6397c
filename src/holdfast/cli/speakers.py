"""Who really speaks in a message: agents write much of their own in the name of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.events import native_of
from holdfast.transcript import Role
from holdfast.transcript.blocks import is_command, is_observation, is_output

if TYPE_CHECKING:
    from holdfast.transcript import Message

__all__ = ["origin_of", "speaker_of"]

_META = "isMeta"
"""What Claude Code calls messages that it wrote for itself."""


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
    """Return whose summary a message is, such as `by claude-code`; nothing for another message."""
    summary = message.summary
    return f"by {summary.origin}" if summary is not None and summary.origin else ""
