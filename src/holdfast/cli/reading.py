"""Reads whatever a person names as one conversation: any file, a database, a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.adapters.archives.files import begins_database
from holdfast.cli.files import PIPE, about, input_stream, read_input
from holdfast.cli.streams import Unusable
from holdfast.formats.reading import pick, read_all
from holdfast.wiring.documents import database_documents, folder_documents, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats import Document

__all__ = ["Opened", "open_input"]

_BEGINNING = 64


@dataclass(frozen=True, slots=True)
class Opened:
    """Something that was read."""

    name: str
    content: bytes | None
    """The text of a file, unpacked; None where a conversation is in no single text."""
    documents: tuple[Document, ...] = ()
    """Its conversations, where it has no text to read them from."""

    def document(self, format_name: str, conversation: int | None) -> Document:
        """Return the conversation that is meant.

        Raises:
            HoldfastError: when it cannot be read, or it is not clear which is meant.
        """
        documents: Sequence[Document] = self.documents
        if self.content is not None:
            documents = read_all(self.content, format=format_name)
        return pick(documents, conversation, name=format_name)


def open_input(name: str, format_name: str) -> Opened:
    """Read a file, or standard input for `-`, or all files of a folder that make up one session.

    Raises:
        HoldfastError: when it cannot be read; the message names it.
    """
    if name != PIPE and Path(name).is_dir():
        return Opened(name, None, folder_documents(Path(name), format_name))
    if name != PIPE and _is_database(name):
        with about(name):
            return Opened(name, None, database_documents(Path(name)))
    source = read_input(name)
    if begins_database(source.content):
        raise Unusable(f"{source.name} is a database, which can only be read from its file")
    with about(source.name):
        return Opened(source.name, unpacked(source.content))


def _is_database(name: str) -> bool:
    """Look at the beginning of a file alone: a database may be large."""
    if not Path(name).is_file():
        return False
    with input_stream(name) as stream:
        return begins_database(stream.read(_BEGINNING))
