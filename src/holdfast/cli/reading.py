"""Reads whatever a person names as one conversation: a file, a database, a folder, a session."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from holdfast.agent_files.files import begins_database
from holdfast.agent_files.finding import find_files
from holdfast.cli.files import PIPE, about, input_stream, read_input
from holdfast.cli.screen import Unusable
from holdfast.cli.store import NoSessions, opened_store
from holdfast.errors import UnknownSession
from holdfast.formats.reading import pick, read_all
from holdfast.views.inspection import stored_document
from holdfast.views.sessions import find_session, is_session_name
from holdfast.wiring.documents import database_documents, folder_documents, unpacked
from holdfast.wiring.resuming import settings_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from holdfast.agent_files.finding import File, Walk
    from holdfast.config import Settings
    from holdfast.formats import Document
    from holdfast.session import Session

__all__ = ["OpenedInput", "is_stored", "named_files", "open_input"]

_BEGINNING = 64


@dataclass(frozen=True, slots=True)
class OpenedInput:
    """Something that was read."""

    name: str
    content: bytes | None
    """The text of a file, unpacked; None where a conversation is in no single text."""
    documents: tuple[Document, ...] = ()
    """Its conversations, where it has no text to read them from."""
    session: Session | None = None
    """The stored session whose window it is."""

    def document(self, format_name: str, conversation: int | None) -> Document:
        """Return the conversation that is meant.

        Raises:
            HoldfastError: when it cannot be read, or it is not clear which is meant.
        """
        documents: Sequence[Document] = self.documents
        if self.content is not None:
            documents = read_all(self.content, format=format_name)
        return pick(documents, conversation, name=format_name)

    def settings_for(
        self, document: Document, settings: Settings, flags: Mapping[str, object]
    ) -> Settings:
        """Return the settings with the model and window it was held with, unless flags name any."""
        held = self.session
        model, window = (held.model, held.context_length) if held else (document.model, None)
        return settings_for(settings, model, window, flags)


def open_input(name: str, format_name: str, settings: Settings) -> OpenedInput:
    """Read a file, or standard input for `-`, or all files of a folder that make up one session.

    A name that is no file may be that of a stored session, whose window is read.

    Raises:
        HoldfastError: when it cannot be read; the message names it.
    """
    if is_stored(name) and (stored := _window(name, settings)):
        return stored
    if name != PIPE and Path(name).is_dir():
        return OpenedInput(name, None, folder_documents(Path(name), format_name))
    if name != PIPE and _is_database(name):
        with about(name):
            return OpenedInput(name, None, database_documents(Path(name)))
    source = read_input(name)
    if begins_database(source.content):
        raise Unusable(f"{source.name} is a database, which can only be read from its file")
    with about(source.name):
        return OpenedInput(source.name, unpacked(source.content))


def is_stored(name: str) -> bool:
    """Say whether a name can only be that of a stored session: no file is called so."""
    return (
        name != PIPE
        and not os.path.exists(name)
        and not Path(name).suffix
        and Path(name).name == name
    )


def _window(name: str, settings: Settings) -> OpenedInput | None:
    """Return the window of a stored session; None for a name that no session has."""
    try:
        with opened_store(settings, as_json=False) as opened:
            session = find_session(opened.store, name)
            window = opened.store.window(session.id).transcript
    except (NoSessions, UnknownSession):
        if is_session_name(name):
            raise
        return None
    return OpenedInput(session.id, None, (stored_document(window),), session)


@contextmanager
def named_files(names: Sequence[str]) -> Generator[Callable[[], Walk]]:
    """Lend what finds the files that names lead to, `-` for standard input among them.

    What comes through standard input is put into a file for as long: it may be read twice.

    Raises:
        click.UsageError: when a name is empty, which is more likely a variable that was not set
            than the folder we are in.
        Unusable: when standard input cannot be read.
    """
    if not all(names):
        raise click.UsageError("a name is empty; name a file, a folder, or . for this folder")
    others = [name for name in names if name != PIPE]
    if len(others) == len(names):
        yield lambda: find_files(others)
        return
    with TemporaryDirectory(prefix="holdfast-") as folder:
        path = Path(folder) / "input"
        with path.open("wb") as target, input_stream(PIPE) as source:
            copyfileobj(source, target)
        (piped,) = find_files([str(path)]).files
        yield lambda: _with(find_files(others), replace(piped, alias="standard input"))


def _with(walk: Walk, file: File) -> Walk:
    return replace(walk, files=(file, *walk.files))


def _is_database(name: str) -> bool:
    """Look at the beginning of a file alone: a database may be large."""
    if not Path(name).is_file():
        return False
    with input_stream(name) as stream:
        return begins_database(stream.read(_BEGINNING))
