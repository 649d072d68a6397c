"""What happened in a session, one article or mark for each, with an anchor to lead to."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.formats.events import native_of
from holdfast.transcript import Summary
from holdfast.transfer import FOLD
from holdfast.views.html.parts import escaped, line_of, part_shown, summary_shown
from holdfast.views.messages import Visibility, speaker_of
from holdfast.views.sessions import title_of
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
)
from holdfast.views.words import clock_time, counted, iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.session import CompactionRecord
    from holdfast.views.timeline import TimelineEvent

__all__ = ["Jumps", "anchor", "event_shown", "time_shown"]

_WIDEST = 120
_FOLDED = frozenset({"system", "injected", "output"})
"""Whose words are folded: nobody typed them into the conversation."""
_NOTHING = '<p class="aside">[nothing]</p>'


def anchor(message_id: int) -> str:
    """Return the name of the place where a message stands in the page."""
    return f"m{message_id}"


class Jumps:
    """Leads from each message of the user to the one before and the one after."""

    def __init__(self, asked: Sequence[int]) -> None:
        """Take the ids of the user's messages in order."""
        self._after = dict(pairwise(asked))
        self._before = {after: before for before, after in pairwise(asked)}

    def shown(self, message_id: int) -> str:
        """Return the links of a message; none for one of somebody else."""
        ways = (("\u2191", "previous", self._before), ("\u2193", "next", self._after))
        return "".join(
            f' <a class="jump" href="#{anchor(found)}" aria-label="{way} message of the user">'
            f"{arrow}</a>"
            for arrow, way, others in ways
            if (found := others.get(message_id)) is not None
        )


def event_shown(event: TimelineEvent, jumps: Jumps | None = None) -> str:
    """Return what happened as markup."""
    match event:
        case TimelineMessage():
            entry, message = event.entry, event.message
            role = "summary" if message.summary else str(message.role)
            speaker = speaker_of(message)
            seen = "" if event.visibility is Visibility.GONE else " seen"
            folds = speaker in _FOLDED
            parts = "".join(part_shown(part, folds=folds) for part in message.parts)
            name = anchor(entry.id)
            return (
                f'<article id="{name}" class="{role}{seen}"><header>'
                f'<h3><a href="#{name}">{speaker.capitalize()}</a></h3> {_marks(event)}'
                f"{jumps.shown(entry.id) if jumps else ''}</header>{parts or _NOTHING}</article>"
            )
        case TimelineCompaction():
            record = event.record
            figures = ", ".join(_figures(record))
            # What a compaction wrote; its other words stand in the conversation already.
            written = "".join(
                f'<div id="{anchor(entry.id)}">'
                f"{summary_shown(entry.message.summary) if entry.message.summary else ''}</div>"
                for entry in event.summaries
            )
            if not written and record.summary:
                written = summary_shown(Summary(record.summary))
            words = f"{time_shown(record.at)} {escaped(figures)}{_since(is_undone=event.is_undone)}"
            return (
                f'<section class="compaction mark"><h3>Compaction</h3> <p>{words}.</p>'
                f"{written}</section>"
            )
        case TimelineRewind(at, is_undone):
            words = f"{time_shown(at)} The last turns were taken back{_since(is_undone=is_undone)}."
            return f'<section class="mark"><h3>Rewind</h3> <p>{words}</p></section>'
        case TimelineFork(session):
            words = (
                f"Here begins session <code>{escaped(session.id)}</code>, "
                f"{escaped(title_of(session))} ({escaped(str(session.fork or 'another'))})."
            )
            return f'<section class="mark"><h3>Session</h3> <p>{words}</p></section>'
        case _:
            assert_never(event)


def time_shown(at: int) -> str:
    """Return a moment in words, and for programs."""
    return f'<time datetime="{iso_time(at) or ""}">{clock_time(at)}</time>'


def _marks(said: TimelineMessage) -> str:
    entry, message = said.entry, said.message
    marks = [
        time_shown(entry.at),
        line_of(native_of(message).model, _WIDEST),
        counted(entry.tokens, "token") if entry.tokens else "",
        "pinned" if message.pinned else "",
        "written by holdfast" if message.synthetic and not message.summary else "",
        "" if said.visibility is Visibility.SEEN else str(said.visibility),
        f"#{entry.id}",
    ]
    return " ".join(f"<span>{mark}</span>" for mark in marks if mark)


def _figures(record: CompactionRecord) -> Iterator[str]:
    said = record.report.get(FOLD)
    agent = cast("dict[str, object]", said if isinstance(said, dict) else {})
    report = {**agent, **record.report}
    cause = agent.get("trigger") or record.trigger
    yield "by its agent" if cause == FOLD else str(cause or "without a known cause")
    for name in ("messages", "tokens"):
        before, after = report.get(f"{name}_before"), report.get(f"{name}_after")
        if isinstance(before, int) and isinstance(after, int):
            yield f"{before:,} to {after:,} {name}"
        elif isinstance(before, int):
            yield f"{before:,} {name} before"
    if record.focus:
        yield f"with a focus on {record.focus}"


def _since(*, is_undone: bool) -> str:
    return ", and undone since" if is_undone else ""
