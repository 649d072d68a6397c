"""Opens a file as blocks of bytes, unpacked where it is packed: by content, never by name."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = [
    "BLOCK",
    "Blocks",
    "Unreadable",
    "begins_database",
    "digest_of",
    "head_of",
    "is_binary",
    "reason_of",
    "unpacked",
]

BLOCK = 1 << 20
_PIECE = 4 << 10
"""Packed bytes that are unpacked at a time: a few of them may stand for megabytes."""
_HEAD = 64 << 10
_DATABASE = b"SQLite format 3\0"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_TEXT_MARK = b"\xef\xbb\xbf"
_CUT = "the file ends in the middle of its packed content; what came before was read"


class Unreadable(HoldfastError):
    """A file or folder cannot be read; the message names it and says why."""


class Blocks:
    """The bytes of a file, unpacked, one block at a time; each iteration opens it anew."""

    def __init__(self, path: Path, seen: Callable[[int], None] | None = None) -> None:
        """Take the path, and who is told how many bytes were read from the disk."""
        self.path = path
        self.damage = ""
        """What the last iteration found wrong with the packing, once it has ended."""
        self._seen = seen

    def __iter__(self) -> Iterator[bytes]:
        """Read the file from its beginning.

        Raises:
            Unreadable: when the system does not let it be read.
            MissingExtra: when it is packed with zstd and nothing here can unpack that.
        """
        self.damage = ""
        yield from self._unpacked(self._raw())

    def _raw(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as stream:
                while block := stream.read(BLOCK):
                    if self._seen is not None:
                        self._seen(len(block))
                    yield block
        except OSError as error:
            raise Unreadable(f"cannot read {self.path}: {reason_of(error)}") from error

    def _unpacked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        first = next(blocks, b"")
        fresh = _unpacker(first)
        if fresh is None:
            yield first
            yield from blocks
            return
        members = _Members(fresh)
        yield from members.feed(first)
        for block in blocks:
            yield from members.feed(block)
        self.damage = members.damage


@dataclass(frozen=True, slots=True)
class _Member:
    """One packed member, whichever library unpacks it."""

    unpack: Callable[[bytes], bytes]
    is_over: Callable[[], bool]
    rest: Callable[[], bytes]
    """Returns what came behind its end."""


class _Members:
    """Unpacks the members that stand one after the other in a packed file."""

    def __init__(self, fresh: Callable[[], _Member]) -> None:
        self._fresh = fresh
        self._member = fresh()
        self._broken = ""
        self._begun = False

    @property
    def damage(self) -> str:
        """Return what is wrong with what was fed so far, if it was everything."""
        if self._broken:
            return self._broken
        return _CUT if self._begun and not self._member.is_over() else ""

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Unpack a block; what cannot be unpacked ends the file."""
        for start in range(0, len(block), _PIECE):
            yield from self._piece(block[start : start + _PIECE])

    def _piece(self, piece: bytes) -> Iterator[bytes]:
        while piece and not self._broken:
            if self._member.is_over():
                # Writers pad the last member with zeros, to the end of a sector.
                piece = piece.lstrip(b"\0")
                if not piece:
                    return
                self._member = self._fresh()
            self._begun = True
            try:
                plain = self._member.unpack(piece)
            except _damages() as error:
                self._broken = f"the packed content is damaged: {error}"
                return
            piece = self._member.rest() if self._member.is_over() else b""
            if plain:
                yield plain


def head_of(path: Path) -> bytes:
    """Return the beginning of a file, unpacked; empty for an empty file.

    Raises:
        Unreadable: when the system does not let it be read.
        MissingExtra: when it is packed with zstd and nothing here can unpack that.
    """
    head = bytearray()
    for block in Blocks(path):
        head += block
        if len(head) >= _HEAD:
            break
    return bytes(head[:_HEAD])


def digest_of(path: Path) -> str:
    """Return a digest of a file as it lies on the disk.

    Raises:
        Unreadable: when the system does not let it be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {reason_of(error)}") from error


def unpacked(content: bytes) -> bytes:
    """Return the content of a file that was read whole, unpacked where it is packed.

    Raises:
        Unreadable: when the packed content is damaged.
        MissingExtra: when it is packed with zstd and nothing here can unpack that.
    """
    fresh = _unpacker(content)
    if fresh is None:
        return content
    members = _Members(fresh)
    plain = b"".join(members.feed(content))
    if members.damage:
        raise Unreadable(members.damage)
    return plain


def begins_database(head: bytes) -> bool:
    """Say whether a file is an SQLite database, by its beginning."""
    return head.startswith(_DATABASE)


def is_binary(head: bytes) -> bool:
    """Say whether a file cannot be text: text holds no zero byte."""
    return b"\0" in head.removeprefix(_TEXT_MARK)


def reason_of(error: OSError) -> str:
    """Return why the system refused, in plain words."""
    match error:
        case FileNotFoundError():
            return "there is no such file or folder"
        case IsADirectoryError():
            return "it is a folder"
        case PermissionError():
            return "permission denied"
        case _:
            return (error.strerror or str(error)).lower()


def _unpacker(head: bytes) -> Callable[[], _Member] | None:
    """Return what begins a member of a packed file; None when the file is not packed."""
    if head.startswith(_GZIP):
        return _gzip_member
    if not head.startswith(_ZSTD):
        return None
    if find_spec("zstandard") is None:
        raise MissingExtra("a file that is packed with zstd", "zstd")
    return _zstd_member


def _gzip_member() -> _Member:
    it = zlib.decompressobj(zlib.MAX_WBITS | 16)
    return _Member(it.decompress, lambda: it.eof, lambda: it.unused_data)


def _zstd_member() -> _Member:
    from zstandard import ZstdDecompressor

    it = ZstdDecompressor().decompressobj()
    return _Member(it.decompress, lambda: it.eof, lambda: it.unused_data)


def _damages() -> tuple[type[Exception], ...]:
    if find_spec("zstandard") is None:
        return (zlib.error,)
    from zstandard import ZstdError

    return (zlib.error, ZstdError)
