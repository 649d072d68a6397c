"""Small files that are told one after the other and written together.

Most agents write a file for each session, and a step of its own for each would cost more than what
is said in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.events import (
    CompactionEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.transfer.outbox import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.formats.events import Event
    from holdfast.transfer.identity import Origin
    from holdfast.transfer.run import Run

__all__ = ["Group", "Story", "story_of"]


@dataclass(frozen=True, slots=True)
class Story:
    """What a small file tells."""

    origin: Origin
    tell: Callable[[], Iterator[Event]]
    """Tells it from the beginning."""
    events: tuple[Event, ...]
    """All of it, or as much as shows that it is too long: a packed file may be anything."""

    @property
    def is_plain(self) -> bool:
        """Say whether nothing of it is written before its end."""
        return len(self.events) < BATCH and not any(
            isinstance(event, CompactionEvent | RewindEvent) for event in self.events
        )

    @property
    def names(self) -> frozenset[str]:
        """Return what its agent calls the conversations that it tells of, and their parents."""
        known = [
            event.about
            for event in self.events
            if isinstance(event, StrandStarted | MetadataUpdated)
        ]
        return frozenset(name for about in known for name in (about.id, about.parent) if name)


class Group:
    """Stories that were told, and whose messages wait to be written in one step."""

    def __init__(self) -> None:
        """Begin with none."""
        self.told: list[tuple[Story, Run]] = []
        self.promised: set[str] = set()
        """Ids of sessions that are going to be created."""
        self._names: set[str] = set()
        self._events = 0

    def admits(self, story: Story) -> bool:
        """Say whether a story may be told before the others are written.

        One that tells of the same conversations must find them in the store.
        """
        return self._events + len(story.events) <= BATCH and self._names.isdisjoint(story.names)

    def add(self, story: Story, run: Run) -> None:
        """Let a story wait that was told."""
        self.told.append((story, run))
        self._names |= story.names
        self._events += len(story.events)


def story_of(origin: Origin, tell: Callable[[], Iterator[Event]]) -> Story:
    """Return what a small file tells, up to where it is damaged or too long to wait for others.

    Args:
        origin: Where the events come from.
        tell: Returns them.
    """
    events: list[Event] = []
    try:
        for event in islice(tell(), BATCH):
            events.append(event)  # noqa: PERF402 - what came before an error is kept
    except DecodeError as error:
        events.append(Problem(0, str(error)))
    return Story(origin, tell, tuple(events))
