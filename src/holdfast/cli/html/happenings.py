"""What happened in a session, one article or mark for each, with an anchor to lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, cast

from holdfast.cli.html.escape import escaped, line_of
from holdfast.cli.html.parts import part_shown, summary_shown
from holdfast.cli.lines import counted
from holdfast.cli.session_fields import iso_time, title_of
from holdfast.cli.speakers import speaker_of
from holdfast.cli.story import Compacted, Rewound, Said, Standing, Started
from holdfast.cli.times import clock_time
from holdfast.formats.events import native_of
from holdfast.transcript import Summary
from holdfast.transfer import FOLD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.story import Happening
    from holdfast.session import CompactionRecord, Entry

__all__ = ["anchor", "happening_shown", "time_shown"]

_WIDEST = 120
_NOTHING = '<p class="aside">[nothing]</p>'


def anchor(message_id: int) -> str:
    """Return the name of the place where a message stands in the page."""
    return f"m{message_id}"


def happening_shown(happening: Happening) -> str:
    """Return what happened as markup."""
    match happening:
        case Said():
            return _said(happening)
        case Compacted():
            return _compacted(happening)
        case Rewound(at, is_undone):
            words = f"{time_shown(at)} The last turns were taken back{_since(is_undone=is_undone)}."
            return f'<section class="mark"><h3>Rewind</h3> <p>{words}</p></section>'
        case Started(session):
            words = (
                f"Here begins session <code>{escaped(session.id)}</code>, "
                f"{escaped(title_of(session))} ({escaped(str(session.fork or 'another'))})."
            )
            return f'<section class="mark"><h3>Session</h3> <p>{words}</p></section>'
        case _:
            assert_never(happening)


def time_shown(at: int) -> str:
    """Return a moment in words, and for programs."""
    return f'<time datetime="{iso_time(at) or ""}">{clock_time(at)}</time>'


def _said(said: Said) -> str:
    entry, message = said.entry, said.message
    role = "summary" if message.summary else str(message.role)
    speaker = speaker_of(message).capitalize()
    seen = "" if said.standing is Standing.GONE else " seen"
    parts = "".join(part_shown(part, message.role) for part in message.parts)
    name = anchor(entry.id)
    return (
        f'<article id="{name}" class="{role}{seen}"><header>'
        f'<h3><a href="#{name}">{speaker}</a></h3> {_marks(said)}'
        f"</header>{parts or _NOTHING}</article>"
    )


def _marks(said: Said) -> str:
    entry, message = said.entry, said.message
    marks = [
        time_shown(entry.at),
        line_of(native_of(message).model, _WIDEST),
        counted(entry.tokens, "token") if entry.tokens else "",
        "pinned" if message.pinned else "",
        "written by holdfast" if message.synthetic and not message.summary else "",
        "" if said.standing is Standing.SEEN else str(said.standing),
        f"#{entry.id}",
    ]
    return " ".join(f"<span>{mark}</span>" for mark in marks if mark)


def _compacted(compacted: Compacted) -> str:
    record = compacted.record
    figures = ", ".join(_figures(record))
    words = f"{time_shown(record.at)} {escaped(figures)}{_since(is_undone=compacted.is_undone)}"
    return (
        f'<section class="compaction mark"><h3>Compaction</h3> <p>{words}.</p>'
        f"{''.join(map(_record, compacted.summaries)) or _told_again(record)}</section>"
    )


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


def _record(entry: Entry) -> str:
    """Return what a compaction wrote; its other words stand in the conversation already."""
    summary = entry.message.summary
    shown = summary_shown(summary) if summary else ""
    return f'<div id="{anchor(entry.id)}">{shown}</div>'


def _told_again(record: CompactionRecord) -> str:
    return summary_shown(Summary(record.summary)) if record.summary else ""


def _since(*, is_undone: bool) -> str:
    return ", and undone since" if is_undone else ""
