"""Reads what no text holds: databases, and sessions that are spread over the files of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.agent_files.detection import (
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    gather,
)
from holdfast.agent_files.files import Unreadable, unpacked
from holdfast.agent_files.finding import find_files
from holdfast.formats import FORMATS
from holdfast.formats.reading import documents_from_events

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holdfast.agent_files.detection import Look
    from holdfast.formats import Document

__all__ = ["database_documents", "folder_documents", "unpacked"]

_GLANCE = 500
"""Files of a folder that show whether a session is spread over it: somebody may name `/`."""


def database_documents(path: Path) -> tuple[Document, ...]:
    """Return the conversations of a database that an agent keeps.

    Raises:
        Unreadable: when the database cannot be read, or holds no conversations that we know.
    """
    (look,) = gather(find_files([str(path)]).files, ReadOptions()) or (None,)
    match look:
        case FoundFile():
            return _told(look)
        case SkippedFile(reason=reason) | UnreadableFile(reason=reason):
            raise Unreadable(reason)
        case None:
            raise Unreadable("it is gone")


def folder_documents(path: Path, format_name: str) -> tuple[Document, ...]:
    """Return the conversations of a folder over whose files they are spread.

    Raises:
        Unreadable: when no conversation is; each file has to be named then.
    """
    reading = ReadOptions(format=format_name)
    if not _spread(gather(find_files([str(path)], limit=_GLANCE).files, reading)):
        raise Unreadable(f"cannot read {path}: it is a folder; name a file")
    found = _spread(gather(find_files([str(path)]).files, reading))
    return tuple(document for each in found for document in _told(each))


def _spread(looks: Sequence[Look]) -> list[FoundFile]:
    return [look for look in looks if isinstance(look, FoundFile) and look.is_spread]


def _told(found: FoundFile) -> tuple[Document, ...]:
    return documents_from_events(FORMATS[found.guess.format], found.tell())
