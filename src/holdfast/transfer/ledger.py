"""Which files were imported, so that those that did not change are passed over unread."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from holdfast.errors import UnknownSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store

__all__ = ["Ledger", "Stamp"]

_READING = 3
"""Raised when readers learn to tell more of the same files: then each is read once more."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What shows that a file is as it was."""

    size: int
    modified: int
    """In nanoseconds, as the file system says."""
    digest: str = ""
    """Of the content, where somebody has read it."""


class _Entered(NamedTuple):
    """A line of the ledger."""

    path: str
    stamp: Stamp


class Ledger:
    """The files that were imported, kept in the store beside what came from them.

    A file is entered when everything in it is stored, so that an import that was stopped reads it
    again. It counts for as long as the sessions are there that came from it: one that was deleted
    comes back when somebody imports its file.
    """

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self._store = store

    def is_known(self, path: str, stamp: Stamp) -> bool:
        """Say whether a file was imported as it is now; without a digest, by size and time."""
        found = self._found(_file(path))
        if found is None or found.stamp.size != stamp.size:
            return False
        if stamp.digest:
            return found.stamp.digest == stamp.digest
        return found.stamp.modified == stamp.modified

    def twin(self, path: str, digest: str) -> str | None:
        """Return another path under which the same content was imported.

        Where a format has no ids of its own, a copy of a file would be another session.
        """
        found = self._found(_content(digest))
        return None if found is None or found.path == path else found.path

    def enter(self, path: str, stamp: Stamp, sessions: Sequence[str]) -> None:
        """Remember that a file was imported, and which sessions have what is in it."""
        fields = [_READING, path, [stamp.size, stamp.modified, stamp.digest], [*sessions]]
        written = json.dumps(fields, separators=(",", ":"))
        self._store.remember(_file(path), written)
        if stamp.digest and self._found(_content(stamp.digest)) is None:
            self._store.remember(_content(stamp.digest), written)

    def _found(self, name: str) -> _Entered | None:
        """Return a line of the ledger that still counts."""
        written = self._store.remembered(name)
        if written is None:
            return None
        reading, path, stamp, sessions = cast("list[object]", json.loads(written))
        if reading != _READING or not all(map(self._is_there, cast("list[str]", sessions))):
            return None
        return _Entered(str(path), Stamp(*cast("tuple[int, int, str]", stamp)))

    def _is_there(self, id_: str) -> bool:
        try:
            return self._store.session(id_).trashed is None
        except UnknownSession:
            return False


def _file(path: str) -> str:
    return f"import:file:{path}"


def _content(digest: str) -> str:
    return f"import:copy:{digest}"
