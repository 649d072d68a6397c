"""Where sessions are compacted for the benchmark: at real compactions, and at cuts in between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from bench.continuity.names import needed
from bench.report import shared
from bench.windows import openai, window_text
from holdfast.errors import HoldfastError
from holdfast.formats import read_all
from holdfast.transcript import Role, newest_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from holdfast.transcript import Transcript

FUTURE = 60
CUTS = (1 / 2, 2 / 3)
SHORTEST = 40_000
"""Characters before a cut: below that there is nothing to compact."""
SHARE = 6
"""A cut's budget is at most this part of what stands before it."""
FEWEST = 4
"""Needed names: with fewer, one name decides the score."""
TASK = 3
"""The newest user message must stay word for word. Where it takes more than this part of the
budget, the event would measure that message and is left out."""
FALLBACK = 11_000
FOLDERS = ("claude_code", "codex", "pi", "openhands", "mini_swe_agent", "swe_agent")


@dataclass(frozen=True, slots=True)
class Event:
    """A point in a session, what was known before it and what was needed after it."""

    session: str
    kind: str
    """`compaction` where the agent compacted, `cut` elsewhere."""
    folded: Transcript
    """Everything before the point, without system prompts, which stay whatever is compacted, and
    without the summaries of earlier compactions."""
    needed: frozenset[str]
    size: int
    """The budget in characters: that of the agent's own summary, if it can be read."""
    summary: str = ""
    """What the agent's own model wrote at that point."""


def sessions(paths: Sequence[Path] = ()) -> Iterator[tuple[str, Transcript]]:
    """Yield the sessions in the files, or in the folder of real sessions."""
    for path in paths or _found():
        try:
            documents = read_all(path.read_bytes())
        except HoldfastError:
            continue
        for number, document in enumerate(documents):
            name = f"{path.parent.name}/{path.name}" + (f"#{number}" if number else "")
            yield name, document.transcript


def events(found: Iterable[tuple[str, Transcript]]) -> tuple[Event, ...]:
    """Return every event of the sessions that needs enough names to be measured."""
    all_events = [
        event
        for name, transcript in found
        for event in _events(name, transcript)
        if len(event.needed) >= FEWEST
    ]
    sizes = [len(event.summary) for event in all_events if event.summary]
    usual = int(median(sizes)) if sizes else FALLBACK
    sized = (
        event if event.size else replace(event, size=min(usual, len(words(event.folded)) // SHARE))
        for event in all_events
    )
    return tuple(event for event in sized if _task(event) <= event.size // TASK)


def words(messages: Transcript) -> str:
    """Return the messages as the text that a model gets."""
    return window_text(openai(messages))


def _events(name: str, transcript: Transcript) -> Iterator[Event]:
    summaries = [place for place, message in enumerate(transcript) if message.summary]
    if summaries:
        for place in summaries:
            summary = transcript[place].summary
            text = summary.text if summary else ""
            event = _event(name, "compaction", transcript, place)
            yield replace(event, summary=text, size=len(text))
        return
    for part in CUTS:
        event = _event(name, "cut", transcript, _closed(transcript, int(len(transcript) * part)))
        if len(words(event.folded)) >= SHORTEST:
            yield event


def _closed(transcript: Transcript, place: int) -> int:
    """Return the first point from `place` on at which no tool is running: agents compact there."""
    while place < len(transcript) and (
        transcript[place - 1].calls or transcript[place].role is Role.TOOL
    ):
        place += 1
    return place


def _task(event: Event) -> int:
    """Return how many characters the newest words of a user have."""
    newest = newest_user(event.folded)
    return 0 if newest is None else len(words(event.folded[newest : newest + 1]))


def _event(name: str, kind: str, transcript: Transcript, place: int) -> Event:
    folded = tuple(
        message
        for message in transcript[:place]
        if not message.summary and message.role is not Role.SYSTEM
    )
    future = transcript[place : place + FUTURE]
    return Event(f"{name}@{place}", kind, folded, needed(folded, future), size=0)


def _found() -> list[Path]:
    folder = shared()
    if folder is None:
        return []
    roots = [folder / "data" / "sessions" / name for name in FOLDERS]
    return sorted(path for root in roots for path in root.glob("*") if path.is_file())
