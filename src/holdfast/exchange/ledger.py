"""Which files were imported, so that those that did not change are passed over unread."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from holdfast.ports import Store

__all__ = ["Ledger", "Stamp"]

_READING = 1
"""Raised when readers learn to tell more of the same files: then each is read once more."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What shows that a file is as it was."""

    size: int
    modified: int
    """In nanoseconds, as the file system says."""
    digest: str = ""
    """Of the content, where somebody has read it."""


class Ledger:
    """The files that were imported, kept in the store beside what came from them.

    A file is entered when everything in it is stored, so that an import that was stopped reads it
    again.
    """

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self._store = store

    def is_known(self, path: str, stamp: Stamp) -> bool:
        """Say whether a file was imported as it is now; without a digest, by size and time."""
        found = self._found(path)
        if found is None or found.size != stamp.size:
            return False
        if stamp.digest:
            return found.digest == stamp.digest
        return found.modified == stamp.modified

    def twin(self, path: str, digest: str) -> str | None:
        """Return another path under which the same content was imported.

        Where a format has no ids of its own, a copy of a file would be another session.
        """
        found = self._store.remembered(_content(digest))
        return None if found == path else found

    def enter(self, path: str, stamp: Stamp) -> None:
        """Remember that a file was imported."""
        fields = [_READING, stamp.size, stamp.modified, stamp.digest]
        self._store.remember(_file(path), json.dumps(fields, separators=(",", ":")))
        if stamp.digest and self._store.remembered(_content(stamp.digest)) is None:
            self._store.remember(_content(stamp.digest), path)

    def _found(self, path: str) -> Stamp | None:
        written = self._store.remembered(_file(path))
        if written is None:
            return None
        reading, size, modified, digest = cast("list[int]", json.loads(written))
        return Stamp(size, modified, str(digest)) if reading == _READING else None


def _file(path: str) -> str:
    return f"import:file:{path}"


def _content(digest: str) -> str:
    return f"import:content:{digest}"
