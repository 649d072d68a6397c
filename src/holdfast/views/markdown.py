"""A session as Markdown, for people to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from holdfast.transcript import Message, Summary, Text, Thinking, ToolCall, ToolResult
from holdfast.views.messages import Visibility, full_text, speaker_of
from holdfast.views.sessions import title_of
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
)
from holdfast.views.words import clock_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.session import Session
    from holdfast.transcript import Part, Role, Transcript
    from holdfast.views.timeline import TimelineEvent

__all__ = ["as_markdown", "markdown_pieces"]

_TICKS = re.compile(r"`{3,}")


def markdown_pieces(session: Session, events: Iterable[TimelineEvent]) -> Iterator[str]:
    """Return the session piece by piece, with a heading for each message.

    What tools say stands in fences. A heading says so if the model no longer sees the message.
    """
    yield _head(session)
    for event in events:
        yield "".join(f"\n{block}\n" for block in _blocks(event))


def as_markdown(session: Session, transcript: Transcript) -> str:
    """Return messages alone, wherever they come from, in the same layout."""
    blocks = (block for message in transcript for block in _message(message))
    return _head(session) + "".join(f"\n{block}\n" for block in blocks)


def _head(session: Session) -> str:
    known = [f"session {session.id}", session.model, f"begun {clock_time(session.started)}"]
    goal = f"\nGoal: {session.goal}\n" if session.goal else ""
    title = " ".join(title_of(session).split())
    return f"# {title}\n\n{', '.join(filter(None, known))}\n{goal}"


def _blocks(event: TimelineEvent) -> Iterator[str]:
    match event:
        case TimelineMessage(_, message, visibility):
            yield from _message(
                message, "" if visibility is Visibility.SEEN else f" ({visibility})"
            )
        case TimelineCompaction(record, summaries, is_undone):
            yield f"*Compaction of {clock_time(record.at)}{_since(is_undone=is_undone)}.*"
            written = (entry.message.summary for entry in summaries)
            found = [summary for summary in written if summary is not None]
            if not found and record.summary:
                found = [Summary(record.summary)]
            yield from map(_summary, found)
        case TimelineRewind(at, is_undone):
            when = f"{clock_time(at)}{_since(is_undone=is_undone)}"
            yield f"*Rewind of {when}: the last turns were taken back.*"
        case TimelineFork(session):
            yield f"*Here begins session {session.id}.*"
        case _:
            assert_never(event)


def _message(message: Message, seen: str = "") -> Iterator[str]:
    yield f"## {speaker_of(message).capitalize()}{seen}"
    for part in message.parts:
        words = _part(part, message.role)
        if words:
            yield words


def _part(part: Part, role: Role) -> str:
    words = full_text(Message(role, (part,)))
    match part:
        case ToolCall() | ToolResult():
            title, _, content = words.partition("\n")
            # The text in a fence that is longer than any in the text.
            longest = max((len(ticks) for ticks in _TICKS.findall(content)), default=2)
            fence = "`" * (longest + 1)
            return f"{title}\n\n{fence}\n{content}\n{fence}"
        case Thinking(text):
            return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
        case Summary():
            return _summary(part)
        case Text(text):
            return text
        case _:
            return words


def _summary(summary: Summary) -> str:
    origin = f" by {summary.origin}" if summary.origin else ""
    return f"*Summary{origin} of what was folded:*\n\n{summary.text}"


def _since(*, is_undone: bool) -> str:
    return ", undone since" if is_undone else ""
