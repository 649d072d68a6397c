"""One look at the file, from its begin to its end.

It is a class, because two generators, one inside the other, take longer than reading a session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from holdfast.stores.sqlite.failures import EXPLAINED, in_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["ReadTransaction"]

_T = TypeVar("_T")


class ReadTransaction(Generic[_T]):
    """Lends a connection that sees the file as it is now, until it is given back."""

    __slots__ = ("_connection", "_give_back", "_lend", "_owner", "_path")

    def __init__(
        self,
        path: Path,
        lend: Callable[[], tuple[_T, sqlite3.Connection]],
        give_back: Callable[[_T, sqlite3.Connection], None],
    ) -> None:
        """Look at nothing yet.

        Args:
            path: The file.
            lend: Returns a connection that sees one state of it, and what that belongs to.
            give_back: Takes both again.
        """
        self._path = path
        self._lend = lend
        self._give_back = give_back

    def __enter__(self) -> sqlite3.Connection:
        """Look at the file as it is now."""
        try:
            self._owner, self._connection = self._lend()
        except EXPLAINED as error:
            raise in_words(error, self._path) from error
        return self._connection

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Give the connection back, and raise what SQLite said as a sentence."""
        self._give_back(self._owner, self._connection)
        if isinstance(error, EXPLAINED):
            raise in_words(error, self._path) from error
