"""The system prompt of a conversation as it is now, and its goal.

Both may change while the log stays, so they are put in place when a window is shown. They are no
part of what undo takes back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction.fold import with_note
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.compaction.truncation import LEFT_OUT
from holdfast.transcript import Message, Role, Synthetic, Text

if TYPE_CHECKING:
    from holdfast.session import Session
    from holdfast.transcript import Transcript

PROMPT_KEY = "system_prompt"
"""Where a session's metadata keep a prompt that has taken the place of the first one."""
_NOTES = (SYSTEM_NOTE, LEFT_OUT)
"""What a pass may have added to a system prompt."""
_GOAL = "The goal of this conversation, as its user set it:"


@dataclass(frozen=True, slots=True)
class Heading:
    """What is shown above the log."""

    prompt: str = ""
    """The system prompt that takes the place of the log's; empty where that still holds."""
    goal: str = ""


def heading_of(session: Session) -> Heading:
    """Return what stands above a session."""
    prompt = session.metadata.get(PROMPT_KEY)
    return Heading(prompt if isinstance(prompt, str) else "", session.goal)


def bare_prompt(transcript: Transcript) -> str:
    """Return the system prompt that a transcript begins with, without our note."""
    if not transcript or transcript[0].role is not Role.SYSTEM:
        return ""
    text = transcript[0].text
    for note in (*_NOTES, *_NOTES):
        # Each may stand before the other, when the engine was changed between two passes.
        text = text.removesuffix(note).rstrip()
    return text


def with_prompt(transcript: Transcript, prompt: str) -> Transcript:
    """Return the transcript with another system prompt, and with our note if it had it."""
    if not prompt or bare_prompt(transcript) == prompt:
        return transcript
    system = Message(Role.SYSTEM, (Text(prompt),))
    if not transcript or transcript[0].role is not Role.SYSTEM:
        return (system, *transcript)
    for note in _NOTES:
        if note in transcript[0].text:
            system = with_note(system, note)
    return (system, *transcript[1:])


def with_goal(transcript: Transcript, goal: str) -> Transcript:
    """Return the transcript with the goal at the end of its system prompt."""
    if not goal:
        return transcript
    note = f"{_GOAL}\n{goal}"
    if transcript and transcript[0].role is Role.SYSTEM:
        system = transcript[0]
        joined = replace(system, parts=(*system.parts, Text(f"\n\n{note}")))
        if len(system.parts) == 1 and isinstance(system.parts[0], Text):
            words = replace(system.parts[0], text=f"{system.parts[0].text}\n\n{note}")
            joined = replace(system, parts=(words,))
        return (joined, *transcript[1:])
    return (Message(Role.SYSTEM, (Text(note),), synthetic=Synthetic.NOTE), *transcript)
