"""Reads what a person names, whole, and writes outputs whole: as it was, or complete.

What is named may be a file, a database, a folder or a session.
"""

from __future__ import annotations

import os
import stat
from codecs import getincrementaldecoder
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING, cast

import click

from holdfast.agent_files.detection import (
    AUTO,
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    gather,
)
from holdfast.agent_files.files import Unreadable, begins_database, reason_of, unpacked
from holdfast.agent_files.finding import find_files
from holdfast.cli.screen import Unusable, input_bytes, output_bytes
from holdfast.cli.store import NoSessions, opened_store
from holdfast.errors import HoldfastError, MissingExtra, UnknownSession
from holdfast.formats import FORMATS
from holdfast.formats.reading import documents_from_events, pick, read_all
from holdfast.views.inspection import stored_document
from holdfast.views.sessions import find_session, is_session_name
from holdfast.views.words import spelled_out
from holdfast.wiring.resuming import settings_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from typing import BinaryIO

    from holdfast.agent_files.detection import Look
    from holdfast.agent_files.finding import Walk
    from holdfast.cli.flags import Wrapped
    from holdfast.config import Settings
    from holdfast.formats import Document
    from holdfast.session import Session

PIPE = "-"
"""What stands for standard input or standard output."""
_BEGINNING = 64
_GLANCE = 500
"""Files of a folder that show whether a session is spread over it: somebody may name `/`."""


def format_flag(what: str) -> Callable[[Wrapped], Wrapped]:
    """Return the flag that says which format is read, of what its help says."""
    return click.option(
        "--format",
        "format_name",
        default=AUTO,
        type=click.Choice([AUTO, *FORMATS]),
        metavar="FORMAT",
        help=f"The format of {what}; see holdfast formats.",
    )


@dataclass(frozen=True, slots=True)
class Input:
    """Something that was read."""

    name: str
    content: bytes


def read_input(name: str) -> Input:
    """Return the content of a file, or of standard input for `-`."""
    shown = "standard input" if name == PIPE else name
    try:
        with input_stream(name) as stream:
            content = stream.read()
    except OSError as error:
        raise refused("read", shown, error) from error
    if not content.strip():
        raise Unusable(f"{shown} is empty")
    return Input(shown, content)


def input_stream(name: str) -> BinaryIO:
    """Open a file, or standard input for `-`.

    Raises:
        Unusable: when it cannot be opened.
    """
    if name == PIPE:
        return input_bytes()
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise refused("read", name, error) from error


@contextmanager
def about(name: str) -> Generator[None]:
    """Name the file in errors that leave open which one they are about."""
    try:
        yield
    except Unusable:
        raise
    except HoldfastError as error:
        raise Unusable(f"{name}: {error}") from error


def refused(verb: str, name: str, error: OSError) -> Unusable:
    """Return the error for a file that the system would not let us use."""
    hint = "; name a file" if isinstance(error, IsADirectoryError) else ""
    return Unusable(f"cannot {verb} {name}: {reason_of(error)}{hint}")


def same_file(first: str, second: str) -> bool:
    """Say whether two names lead to one file; streams and devices are none."""
    if PIPE in (first, second):
        return False
    one, other = Path(first), Path(second)
    if one.exists() and other.exists():
        return not _is_special(one) and one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def write_output(name: str, content: bytes) -> None:
    """Write a file, or standard output for `-`; see `write_pieces`."""
    write_pieces(name, (content,))


def write_pieces(name: str, pieces: Iterable[bytes]) -> None:
    """Write a file, or standard output for `-`, holding one piece at a time; see `drafts`."""
    with drafts((name,)) as (stream,):
        stream.writelines(pieces)


@contextmanager
def drafts(names: Sequence[str]) -> Generator[tuple[BinaryIO, ...]]:
    """Open files, or standard output for `-`, to be written together.

    A regular file is written beside its place and moved there when all are complete, so that no
    one ever sees half of it; where anything fails, every place is as it was. Devices and pipes are
    written as they are.
    """
    opened: list[_Draft] = []
    try:
        for name in names:
            with _refusing(name):
                if name == PIPE:
                    pipe = output_bytes()
                    stream = cast("BinaryIO", _Terminal(pipe)) if pipe.isatty() else pipe
                    opened.append(_Draft(name, stream))
                elif _is_special(Path(name)):
                    device = Path(name).open("wb")  # noqa: SIM115 - closed with the draft
                    opened.append(_Draft(name, device))
                else:
                    path = Path(os.path.realpath(name))
                    _spare_database(path)
                    file, beside = mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
                    opened.append(_Draft(name, os.fdopen(file, "wb"), Path(beside), path))
        with _refusing(", ".join(names)):
            yield tuple(each.stream for each in opened)
        for each in opened:
            with _refusing(each.name):
                each.finish()
        for each in opened:
            with _refusing(each.name):
                each.move()
    finally:
        for each in opened:
            each.give_up()


@contextmanager
def packed(name: str, stream: BinaryIO) -> Generator[BinaryIO]:
    """Return what packs what is written to a stream, where the name of its file ends so.

    `.gz` and `.zst` are packed; the same content gives the same bytes.

    Raises:
        MissingExtra: when it is to be packed with zstd and nothing here can do that.
    """
    if name.endswith(".gz"):
        from gzip import GzipFile

        # Without the name and the time that it would note.
        with GzipFile("", "wb", fileobj=stream, mtime=0) as file:
            yield cast("BinaryIO", file)
    elif name.endswith(".zst"):
        if find_spec("zstandard") is None:
            raise MissingExtra("a file that is packed with zstd", "zstd")
        from zstandard import ZstdCompressor

        with ZstdCompressor().stream_writer(stream, closefd=False) as writer:
            yield cast("BinaryIO", writer)
    else:
        yield stream


@dataclass(frozen=True, slots=True)
class _Draft:
    """A file that is being written."""

    name: str
    stream: BinaryIO
    beside: Path | None = None
    """Where it is until it is complete; None for what is written in its place."""
    path: Path | None = None

    def finish(self) -> None:
        """Write out everything that is still held."""
        if self.name == PIPE:
            self.stream.flush()
        else:
            self.stream.close()

    def move(self) -> None:
        """Put the file in its place."""
        if self.beside is not None and self.path is not None:
            self.beside.chmod(_mode(self.path))
            self.beside.replace(self.path)

    def give_up(self) -> None:
        """Remove what was not moved."""
        if self.name != PIPE:
            with suppress(OSError):
                self.stream.close()
        if self.beside is not None:
            self.beside.unlink(missing_ok=True)


class _Terminal:
    """Writes files to a terminal, with nothing in them that it would obey."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # A piece may end in the middle of a character.
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self.flush = stream.flush

    def write(self, content: bytes) -> int:
        self._stream.write(spelled_out(self._decoder.decode(content)).encode("utf-8", "replace"))
        return len(content)

    def writelines(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            self.write(piece)


@contextmanager
def _refusing(name: str) -> Generator[None]:
    """Name the file in errors of the system."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise refused("write", "standard output" if name == PIPE else name, error) from error


def _spare_database(path: Path) -> None:
    """Refuse to put a file in the place of a database: it may hold everything ever said."""
    beside = path.name.endswith(("-wal", "-shm", "-journal"))
    whole = path.with_name(path.name.rpartition("-")[0]) if beside else path
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        with whole.open("rb") as stream:
            head = stream.read(_BEGINNING)
        if begins_database(head):
            raise Unusable(f"{path} is a database and is not overwritten; name another file")


def _mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or those that a fresh file gets."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


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
    path = Path(name)
    if name != PIPE and path.is_dir():
        # Of a folder, the conversations are read over whose files they are spread.
        reading = ReadOptions(format=format_name)
        if not _spread(gather(find_files([str(path)], limit=_GLANCE).files, reading)):
            raise Unreadable(f"cannot read {path}: it is a folder; name a file")
        found = _spread(gather(find_files([str(path)]).files, reading))
        return OpenedInput(name, None, tuple(chain.from_iterable(map(_documents_of, found))))
    if name != PIPE and _is_database(name):
        with about(name):
            return OpenedInput(name, None, _database_documents(path))
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


def _database_documents(path: Path) -> tuple[Document, ...]:
    """Return the conversations of a database that an agent keeps.

    Raises:
        Unreadable: when the database cannot be read, or holds no conversations that we know.
    """
    (look,) = gather(find_files([str(path)]).files, ReadOptions()) or (None,)
    match look:
        case FoundFile():
            return _documents_of(look)
        case SkippedFile(reason=reason) | UnreadableFile(reason=reason):
            raise Unreadable(reason)
        case None:
            raise Unreadable("it is gone")


def _spread(looks: Sequence[Look]) -> list[FoundFile]:
    return [look for look in looks if isinstance(look, FoundFile) and look.is_spread]


def _documents_of(found: FoundFile) -> tuple[Document, ...]:
    return documents_from_events(FORMATS[found.guess.format], found.tell())


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
        file = replace(piped, alias="standard input")

        def find() -> Walk:
            walk = find_files(others)
            return replace(walk, files=(file, *walk.files))

        yield find


def _is_database(name: str) -> bool:
    """Look at the beginning of a file alone: a database may be large."""
    if not Path(name).is_file():
        return False
    with input_stream(name) as stream:
        return begins_database(stream.read(_BEGINNING))
