"""Draws one session: what is known of it, its window to scale, its messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.context_map import Frame, conversation_strip, legend, window_bar
from holdfast.cli.lines import Line, Span, counted, crop, table
from holdfast.cli.session_fields import state_of, title_of
from holdfast.cli.speakers import origin_of, speaker_of
from holdfast.cli.times import clock_time
from holdfast.recall.sources import agent_of
from holdfast.session import places_of
from holdfast.transcript import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.cli.census import Census
    from holdfast.cli.screen import Screen
    from holdfast.session import CompactionRecord, Entry, Session
    from holdfast.transfer import StatedParent

__all__ = ["Shown", "belonging", "drawn", "entries_listed"]

_LABEL = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A session as it is shown."""

    session: Session
    path: tuple[Session, ...]
    window: tuple[Entry, ...]
    census: Census
    limits: tuple[int, int]
    """The model's window and the threshold, in tokens."""
    compactions: tuple[CompactionRecord, ...]
    is_undone: bool
    elder: StatedParent | None
    """What it came from, where its file alone says so."""
    warnings: tuple[str, ...] = ()
    """What is to be said of the compaction whose result the window shows."""


def drawn(shown: Shown, entries: Sequence[Entry], left_out: int, view: Screen) -> list[Line]:
    """Return the whole picture; `left_out` says how many older messages are not listed."""
    lines = [*_heading(shown, view.width), (), *_maps(shown, view)]
    if entries:
        lines += [(), (Span("messages", "bold"),)]
        if left_out:
            hint = f"  {counted(left_out, 'earlier message')} not listed; --limit 0 lists all"
            lines.append((Span(hint, "dim"),))
        lines += entries_listed(entries, view.width)
    return lines


def entries_listed(entries: Sequence[Entry], width: int) -> list[Line]:
    """Return one line for each entry, with its id and its marks."""
    rows = [("id", "speaker", "tokens", "marks", "beginning")]
    rows += [
        (
            str(entry.id),
            speaker_of(entry.message),
            f"{entry.tokens:,}",
            _marks(entry),
            one_line(entry.message, width),
        )
        for entry in entries
    ]
    return table(rows, width, right=frozenset({0, 2}))


def belonging(elder: StatedParent) -> str:
    """Return in words what a session came from that was imported before it."""
    if elder.session is None:
        return f"{elder.name}, which was not imported (by {elder.fork})"
    return f"{elder.session}, which was imported later (by {elder.fork})"


def _marks(entry: Entry) -> str:
    marks = {
        origin_of(entry.message): True,
        "pinned": entry.message.pinned,
        "cut": entry.shortened,
        "derived": bool(entry.kind) and entry.message.summary is None,
    }
    return " ".join(mark for mark, holds in marks.items() if mark and holds)


def _heading(shown: Shown, width: int) -> Iterator[Line]:
    session = shown.session
    yield (Span(crop(title_of(session), width - 2), "bold"),)
    for label, words in _known(shown):
        if words:
            # One line each: a long goal or path is cut, and --json has all of it.
            yield (Span(f"  {label:<{_LABEL - 2}}", "dim"), Span(crop(words, width - _LABEL)))


def _known(shown: Shown) -> Iterator[tuple[str, str]]:
    session, usage = shown.session, shown.session.usage
    yield "id", session.id
    yield "goal", session.goal
    yield "model", session.model
    places = places_of(shown.path)
    agent = agent_of(session.source)
    yield "source", session.source
    yield "agent", f"{agent} {places['version']}" if agent and "version" in places else ""
    for label in ("folder", "branch", "file"):
        yield label, places.get(label, "")
    ended = f" since {clock_time(session.ended)}" if session.ended is not None else ""
    yield "state", f"{state_of(session)}{ended}"
    yield "used", f"{clock_time(session.started)} to {clock_time(session.touched)}"
    if usage.calls:
        yield "usage", _usage(shown)
    if len(shown.path) > 1:
        yield "came from", " > ".join(each.id for each in shown.path[:-1]) + f" ({session.fork})"
    if shown.elder is not None:
        yield "part of", belonging(shown.elder)
    passes = len(shown.compactions)
    yield "compacted", counted(passes, "time") if passes else ""
    yield "undone", "sessions redo brings back what was undone" if shown.is_undone else ""
    for warning in shown.warnings:
        yield "warning", warning


def _usage(shown: Shown) -> str:
    usage = shown.session.usage
    words = [
        counted(usage.calls, "call"),
        f"{usage.input_tokens:,} tokens in",
        f"{usage.output_tokens:,} out",
    ]
    if usage.cache_read_tokens:
        words.append(f"{usage.cache_read_tokens:,} from caches")
    if usage.cost:
        words.append(f"${usage.cost:,.2f}")
    return ", ".join(words)


def _maps(shown: Shown, view: Screen) -> Iterator[Line]:
    window, threshold = shown.limits
    frame = Frame(window=window, threshold=threshold, width=view.width, colored=view.colored)
    census = shown.census
    share = f"{census.tokens / max(window, 1):.0%}"
    yield (
        Span("the window", "bold"),
        Span(f": {counted(len(shown.window), 'message')}, "),
        Span(f"{census.tokens:,} of {window:,} tokens, {share} used"),
    )
    yield from window_bar(census, frame)
    if census.tokens:
        yield (Span("the conversation", "bold"), Span(" from beginning to end"))
        yield conversation_strip(census, frame)
        yield ()
        yield from legend(census, frame)
