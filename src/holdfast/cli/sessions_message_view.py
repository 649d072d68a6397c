"""One message in full, every part of it in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.lines import Span
from holdfast.views.messages import NO_NAMES, full_text, origin_of, speaker_of
from holdfast.views.words import clock_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.cli.lines import Line
    from holdfast.session import Entry
    from holdfast.transcript import Message

__all__ = ["message_drawn"]


def message_drawn(
    entry: Entry, message: Message, names: Mapping[str, str] = NO_NAMES
) -> list[Line]:
    """Return a heading with what is known of the message, then all of it.

    Args:
        entry: The message as the log has it.
        message: The message as it is to be shown.
        names: The names of calls by their ids, where results do not carry them.
    """
    speaker = " ".join(filter(None, (speaker_of(message), origin_of(message))))
    marks = [f"message {entry.id} of session {entry.session}", clock_time(entry.at)]
    marks += ["pinned"] if message.pinned else []
    marks += ["made by a compaction"] if entry.kind else []
    marks += [f"role {message.role}"] if speaker != message.role else []
    lines: list[Line] = [(Span(speaker, "bold"), Span(f": {', '.join(marks)}", "dim"))]
    if entry.shortened and message == entry.message:
        lines.append((Span("shown in part; --whole shows all of it", "yellow"),))
    return [*lines, (), *((Span(line),) for line in full_text(message, names).splitlines())]
