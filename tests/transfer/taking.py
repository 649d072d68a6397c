"""SessionsByFile that were never written: events by hand, and stores to take them into."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.ports import Listing
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, user
from holdfast.tokens import MESSAGE_TOKENS
from holdfast.transfer import Importer, ImportOrigin, ImportTally

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transcript import Message

NOW = 1_800_000_000_000
START = 1_700_000_000_000
ORIGIN = ImportOrigin("claude-code", "/logs/one.jsonl")


@contextmanager
def opened() -> Generator[SqliteStore]:
    """Open an empty store that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteStore(Path(folder) / "holdfast.db")) as store,
    ):
        yield store


def importer(store: Store) -> Importer:
    return Importer(store, weight)


def weight(message: Message) -> int:
    return MESSAGE_TOKENS + len(message.text)


def take(store: Store, events: Sequence[Event], origin: ImportOrigin = ORIGIN) -> ImportTally:
    return importer(store).take(origin, lambda: iter(events))


def begun(id_: str = "native-1", **about: object) -> StrandStarted:
    fields = {"id": id_, "title": "The harbor", "started": START, **about}
    return StrandStarted(strand=MAIN, line=1, about=About(**fields))  # type: ignore[arg-type]


def told(key: str, message: Message | None = None, strand: str = MAIN) -> MessageEvent:
    """Tell a message; one whose key begins with `a` is the model's."""
    said = message or (assistant if key.startswith("a") else user)(f"words of {key}")
    at = START + 1_000 * sum(map(ord, key))
    return MessageEvent(
        strand=strand, line=1, key=key, message=said, native=SourceMetadata(id=key, at=at)
    )


def folded(summary: str, *kept: str) -> list[Event]:
    """Tell a compaction that leaves some messages after its summary."""
    message = summarized(f"the facts before {summary}", "claude-code")
    fold = CompactionEvent(strand=MAIN, line=1, id=f"fold-{summary}", shows=(summary, *kept))
    return [told(summary, message), fold]


def talk(*keys: str) -> list[Event]:
    return [begun(), *(told(key) for key in keys)]


def sessions(store: Store) -> tuple[Session, ...]:
    """Return every session, the oldest first."""
    found = store.sessions(Listing(limit=None))
    return tuple(sorted(found, key=lambda each: (each.parent is not None, each.started, each.id)))


def words(store: Store, id_: str) -> list[str]:
    """Return what the model sees of a session."""
    return [
        each.text or (each.summary.text if each.summary else "")
        for each in store.window(id_).transcript
    ]
