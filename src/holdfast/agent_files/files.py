"""Opens a file as blocks of bytes, unpacked where it is packed: by content, never by name."""

from __future__ import annotations

import hashlib
import os
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from io import SEEK_END
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = 1 << 20
_PIECE = 4 << 10
"""Packed bytes that are unpacked at a time: a few of them may stand for megabytes."""
_HEAD = 64 << 10
_GLANCE = 64
_DATABASE = b"SQLite format 3\0"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_TEXT_MARK = b"\xef\xbb\xbf"
_MOST = 32 << 30
"""Bytes that a packed file may stand for."""
_RATIO, _SMALL = 200, 32 << 20
"""How many times its size a packed file may stand for, once that is more than a little: a session
is packed to a tenth or a fiftieth, what is made to fill memory to a thousandth."""
_CUT = "the file ends in the middle of its packed content; what came before was read"


class Unreadable(HoldfastError):
    """A file or folder cannot be read; the message names it and says why."""


class Blocks:
    """The bytes of a file, unpacked, one block at a time; each iteration opens it anew."""

    def __init__(
        self, path: Path, seen: Callable[[int], None] | None = None, *, block: int = BLOCK
    ) -> None:
        """Take the path, who hears how many bytes were read, and how many are read at once."""
        self.path = path
        self.damage = ""
        """What the last iteration found wrong with the packing, once it has ended."""
        self.ends_line = True
        """Whether the last iteration ended where a line does."""
        self._seen = seen
        self._block = block

    def __iter__(self) -> Iterator[bytes]:
        """Read the file from its beginning.

        Raises:
            Unreadable: when the system does not let it be read.
            MissingExtra: when it is packed with zstd and nothing here can unpack that.
        """
        self.damage, self.ends_line = "", True
        for block in self._unpacked(self._raw()):
            if block:
                self.ends_line = block.endswith(b"\n")
            yield block

    def _raw(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as stream:
                while block := stream.read(self._block):
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
        self._packed = self._plain = 0

    @property
    def damage(self) -> str:
        """Return what is wrong with what was fed so far, if it was everything."""
        if self._broken:
            return self._broken
        return _CUT if self._begun and not self._member.is_over() else ""

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Unpack a block; what cannot be unpacked ends the file."""
        for start in range(0, len(block), _PIECE):
            piece = block[start : start + _PIECE]
            while piece and not self._broken:
                if self._member.is_over():
                    # Writers pad the last member with zeros, to the end of a sector.
                    piece = piece.lstrip(b"\0")
                    if not piece:
                        break
                    self._member = self._fresh()
                self._begun = True
                self._packed += len(piece)
                try:
                    plain = self._member.unpack(piece)
                except _damages() as error:
                    self._broken = f"the packed content is damaged: {error}"
                    return
                piece = self._member.rest() if self._member.is_over() else b""
                self._packed -= len(piece)
                self._plain += len(plain)
                if plain:
                    yield plain
                if self._plain > min(_MOST, max(_SMALL, _RATIO * self._packed)):
                    times = f"{self._plain // self._packed:,} times its size"
                    self._broken = (
                        f"it unpacks to {self._plain >> 20:,} MiB and more, {times}, which no "
                        "session does; unpack it yourself if it is one"
                    )


def place_of(path: Path) -> str:
    """Return where a file is, the same words however somebody named it."""
    return os.path.abspath(path)


def head_of(path: Path) -> bytes:
    """Return the beginning of a file, unpacked; empty for an empty file.

    Raises:
        Unreadable: when the system does not let it be read, or nothing of it can be unpacked.
        MissingExtra: when it is packed with zstd and nothing here can unpack that.
    """
    head = bytearray()
    blocks = Blocks(path, block=_HEAD)
    for block in blocks:
        head += block
        if len(head) >= _HEAD:
            break
    if blocks.damage and not head:
        raise Unreadable("it is packed, and nothing of it can be unpacked: it is cut or damaged")
    return bytes(head[:_HEAD])


def ends_line(path: Path) -> bool:
    """Say whether a file ends where a line does, as it lies on the disk; an empty one does.

    Raises:
        Unreadable: when the system does not let it be read.
    """
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, SEEK_END)
            stream.seek(max(size - 1, 0))
            return stream.read(1) in {b"", b"\n"}
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {reason_of(error)}") from error


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


def may_be_session(path: Path) -> bool:
    """Say whether a file begins like JSON, a packed file or a database.

    It takes a few bytes of each file, so that a folder of thousands is looked through at once.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(_GLANCE)
    except OSError:
        return True  # whoever opens it is told why that does not work
    if begins_database(head) or head.startswith((_GZIP, _ZSTD)):
        return True
    return head.removeprefix(_TEXT_MARK).lstrip().startswith((b"{", b"["))


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

        def gzip_member() -> _Member:
            it = zlib.decompressobj(zlib.MAX_WBITS | 16)
            return _Member(it.decompress, lambda: it.eof, lambda: it.unused_data)

        return gzip_member
    if not head.startswith(_ZSTD):
        return None
    if find_spec("zstandard") is None:
        raise MissingExtra("a file that is packed with zstd", "zstd")

    def zstd_member() -> _Member:
        from zstandard import ZstdDecompressor

        it = ZstdDecompressor().decompressobj()
        return _Member(it.decompress, lambda: it.eof, lambda: it.unused_data)

    return zstd_member


def _damages() -> tuple[type[Exception], ...]:
    if find_spec("zstandard") is None:
        return (zlib.error,)
    from zstandard import ZstdError

    return (zlib.error, ZstdError)
