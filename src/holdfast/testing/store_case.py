"""What the parts of the store's suite share: a store to open, and things to put into it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from unittest import SkipTest
from weakref import WeakKeyDictionary

from holdfast.session import Cause, Change, CompactionRecord, Draft, EndReason, Fork, Session, Spawn
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from holdfast.ports import Capability, Store
    from holdfast.session import Entry, Piece, Window

_T = TypeVar("_T")
_CLAIMED: WeakKeyDictionary[type[StoreCase], frozenset[Capability]] = WeakKeyDictionary()
"""What the stores of each suite claim, asked once."""
_Test: TypeAlias = Callable[[Any, Path], None]

FIRST = "20261116_090000_00000a"
SECOND = "20261116_090000_00000b"


class StoreCase:
    """Opens the store under test."""

    def make(self, path: Path) -> Store:
        """Return the store under test at a place of its own: created there, or opened again.

        Args:
            path: Names the place, and nothing is there; the same path is the same store. A store
                that is no file makes a name of its own from it.
        """
        raise NotImplementedError

    def require(self, capability: Capability, path: Path) -> None:
        """Skip a case for a store that does not claim to be able to do what it tests."""
        known = _CLAIMED.get(type(self))
        if known is None:
            store = self.make(path / "claimed.db")
            known = _CLAIMED[type(self)] = store.capabilities
            store.close()
        if capability not in known:
            raise SkipTest(f"the store does not claim {capability}")

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


def cases_of(capability: Capability) -> Callable[[type[_T]], type[_T]]:
    """Let a class of cases run only for stores that have a capability."""

    def named(cases: type[_T]) -> type[_T]:
        for name, test in list(vars(cases).items()):
            if name.startswith("test_"):
                setattr(cases, name, _case(capability, cast("_Test", test)))
        return cases

    return named


def capability_of(test: object) -> Capability | None:
    """Return the capability that a case of the suite is about."""
    return cast("Capability | None", getattr(test, "capability", None))


def _case(capability: Capability, test: _Test) -> _Test:
    @wraps(test)
    def run(self: StoreCase, tmp_path: Path) -> None:
        self.require(capability, tmp_path)
        test(self, tmp_path)

    setattr(run, "capability", capability)  # noqa: B010 - functions have no such attribute of their own
    return run


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
