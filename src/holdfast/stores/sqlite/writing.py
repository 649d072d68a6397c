"""One transaction that writes, from its begin to its end, whatever happens inside.

It is a class, because a generator that holds another one takes longer than inserting a message.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from holdfast.stores.sqlite.failures import EXPLAINED, in_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Turns", "Writing"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Turns(Generic[_T]):
    """Who may write to a file."""

    path: Path
    begin: Callable[[], tuple[_T, sqlite3.Connection]]
    """Waits for the turn and begins; what comes with the connection is given back at the end."""
    end: Callable[[_T], None]


class Writing(Generic[_T]):
    """Lends the connection that writes: all of what is done with it happens, or nothing."""

    __slots__ = ("_connection", "_on_rollback", "_turn", "_turns")

    def __init__(self, turns: Turns[_T], on_rollback: Callable[[], None] | None) -> None:
        self._turns = turns
        self._on_rollback = on_rollback

    def __enter__(self) -> sqlite3.Connection:
        """Begin, once it is our turn."""
        try:
            self._turn, self._connection = self._turns.begin()
        except EXPLAINED as error:
            raise in_words(error, self._turns.path) from error
        return self._connection

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Commit, or take everything back and raise what SQLite said as a sentence."""
        try:
            if error is None:
                self._connection.execute("COMMIT")
        except BaseException as failure:
            error = failure
            if not isinstance(failure, EXPLAINED):
                raise
        finally:
            if error is not None:
                self._roll_back()
            self._turns.end(self._turn)
        if isinstance(error, EXPLAINED):
            raise in_words(error, self._turns.path) from error

    def _roll_back(self) -> None:
        # A full disk has rolled back already; what cannot roll back now will on opening.
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        if self._on_rollback is not None:
            self._on_rollback()
