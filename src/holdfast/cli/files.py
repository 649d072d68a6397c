"""Reads inputs whole and writes outputs whole: a file is either as it was or complete."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from holdfast.adapters.archives.files import begins_database, reason_of
from holdfast.cli.streams import Unusable, input_bytes, output_bytes
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from typing import BinaryIO

__all__ = [
    "PIPE",
    "Input",
    "Unusable",
    "about",
    "input_stream",
    "read_input",
    "refused",
    "same_file",
    "write_output",
    "write_pieces",
]

PIPE = "-"
"""What stands for standard input or standard output."""
_BEGINNING = 64


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
    """Write a file, or standard output for `-`, holding one piece at a time.

    A regular file is written beside its place and then moved there, so that no one ever sees
    half of it. Devices and pipes are written as they are.
    """
    shown = "standard output" if name == PIPE else name
    try:
        if name == PIPE:
            stream = output_bytes()
            stream.writelines(pieces)
            stream.flush()
        elif _is_special(Path(name)):
            with Path(name).open("wb") as stream:
                stream.writelines(pieces)
        else:
            path = Path(os.path.realpath(name))
            _spare_database(path)
            _replace(path, pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise refused("write", shown, error) from error


def _spare_database(path: Path) -> None:
    """Refuse to put a file in the place of a database: it may hold everything ever said."""
    beside = path.name.endswith(("-wal", "-shm", "-journal"))
    whole = path.with_name(path.name.rpartition("-")[0]) if beside else path
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        with whole.open("rb") as stream:
            head = stream.read(_BEGINNING)
        if begins_database(head):
            raise Unusable(f"{path} is a database and is not overwritten; name another file")


def _replace(path: Path, pieces: Iterable[bytes]) -> None:
    descriptor, name = mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
        draft.chmod(_mode(path))
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or those that a fresh file gets."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
