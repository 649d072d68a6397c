"""Writing a corpus to the store, as a host does: drafts that are ready, one call for each batch."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.store.corpus import content_bytes
from holdfast.session import Draft, Session
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.store.corpus import Sitting
    from bench.transcripts import Chat
    from holdfast.ports import Store

BATCH = 200
_SAMPLED = 211
"""One message of so many is kept, for queries about what was really said."""


@dataclass(slots=True)
class Filling:
    """What was written, and how long each call took."""

    messages: int = 0
    content: int = 0
    """Bytes of what was said."""
    seconds: list[float] = field(default_factory=list[float])
    processor: float = 0.0
    """Seconds of the processor, which other work on the machine disturbs little."""
    samples: list[str] = field(default_factory=list[str])

    @property
    def rate(self) -> float:
        """Return messages a second."""
        return self.messages / sum(self.seconds)

    def note(self, messages: list[Chat]) -> None:
        """Count messages and keep some of their texts."""
        first = -self.messages % _SAMPLED
        self.samples += [str(each["content"]) for each in messages[first::_SAMPLED]]
        self.messages += len(messages)
        self.content += content_bytes(messages)


def drafts_of(messages: list[Chat], started: int) -> list[Draft]:
    """Return messages as the store takes them, a second apart."""
    read = DIALECTS["openai"].decode(Body(messages))
    return [
        Draft(message=message, at=started + 1000 * number, tokens=len(str(chat["content"])) // 4)
        for number, (message, chat) in enumerate(zip(read, messages, strict=True))
    ]


def add_sitting(store: Store, sitting: Sitting, batch: int) -> tuple[list[float], float]:
    """Create a session and append to it; returns the seconds of each call, and the processor's."""
    store.create(Session(id=sitting.id, source=sitting.source, started=sitting.started))
    spent: list[float] = []
    processor = 0.0
    drafts = drafts_of(sitting.messages, sitting.started)
    for first in range(0, len(drafts), batch):
        some, busy, started = (
            drafts[first : first + batch],
            time.process_time(),
            time.perf_counter(),
        )
        store.append(sitting.id, some)
        spent.append(time.perf_counter() - started)
        processor += time.process_time() - busy
    return spent, processor


def fill(store: Store, sittings: Iterable[Sitting], batch: int = BATCH) -> Filling:
    """Append sessions one after another; generating and decoding them is not timed."""
    filling = Filling()
    for sitting in sittings:
        seconds, processor = add_sitting(store, sitting, batch)
        filling.seconds += seconds
        filling.processor += processor
        filling.note(sitting.messages)
    return filling
