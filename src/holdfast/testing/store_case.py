"""What the parts of the store's suite share: a store to open, and things to put into it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.session import (
    Cause,
    Change,
    CompactionRecord,
    Draft,
    EndReason,
    Fork,
    Session,
    Spawn,
)
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from holdfast.ports import Store
    from holdfast.session import Entry, Piece, Window

__all__ = [
    "FIRST",
    "SECOND",
    "StoreCase",
    "drafts",
    "refused",
    "rotation",
    "said",
    "texts",
]

FIRST = "20261116_090000_00000a"
SECOND = "20261116_090000_00000b"


class StoreCase:
    """Opens the store under test."""

    def make(self, path: Path) -> Store:
        """Return the store under test at a place of its own: created there, or opened again."""
        raise NotImplementedError

    @contextmanager
    def opened(self, path: Path) -> Generator[Store]:
        """Lend a store with one empty session in it."""
        store = self.make(path / "store.db")
        try:
            store.create(Session(id=FIRST, source="cli", started=1_000))
            yield store
        finally:
            store.close()

    @contextmanager
    def reopened(self, path: Path) -> Generator[Store]:
        """Lend the store that was there before."""
        store = self.make(path / "store.db")
        try:
            yield store
        finally:
            store.close()

    def compact(self, store: Store, id_: str, pieces: Sequence[Piece]) -> None:
        """Show other pieces in a session, as a compaction would."""
        store.change(id_, self.change(store.window(id_), pieces))

    def change(self, window: Window, pieces: Sequence[Piece]) -> Change:
        """Return the change from a window to other pieces."""
        return Change(
            cause=Cause.COMPACTION,
            pieces=tuple(pieces),
            generation=window.head.generation,
            seen=window.head.size,
            at=9_000,
            compaction=CompactionRecord(at=9_000, trigger="manual", summary="what was said"),
        )


@contextmanager
def refused(kind: type[BaseException], naming: str = "") -> Generator[list[BaseException]]:
    """Expect an error of a kind whose sentence names something; the error is lent in a list."""
    raised: list[BaseException] = []
    try:
        yield raised
    except kind as error:
        raised.append(error)
    assert raised, f"{kind.__name__} was not raised"
    assert naming in str(raised[0]), f"{raised[0]} does not name {naming!r}"


def said(text: str, at: int = 2_000) -> Draft:
    """Return a user's words on their way into the log."""
    return Draft(message=Message(Role.USER, (Text(text),), form="string"), at=at, tokens=len(text))


def drafts(*words: str) -> list[Draft]:
    """Return several users' words, a second apart."""
    return [said(text, 2_000 + 1_000 * number) for number, text in enumerate(words)]


def texts(entries: Sequence[Entry]) -> list[str]:
    """Return the words of entries."""
    return [entry.message.text for entry in entries]


def rotation(window: Window, change: Change, child: str = SECOND) -> Spawn:
    """Return the step by which a child goes on with what a compaction left."""
    return Spawn(
        child=Session(
            id=child, source="cli", started=8_000, parent=FIRST, fork=Fork.COMPRESSION, title="Task"
        ),
        shows=window.entries,
        parent_end=EndReason.COMPRESSION,
        generation=window.head.generation,
        change=change,
    )
