"""The messages of a request as they were written: those that are known are not read again.

A client sends its whole history with every request, and all but the end of it was there before. A
message is known by a digest of its bytes; what it says is remembered, and it is decoded only for
whoever asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, cast, overload

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.recognition.atoms import Atom

__all__ = ["KnownSlices", "MessageSlices", "decoded", "slice_key"]

_SIZE = 16
_MOST = 300_000
"""Slices and atoms that are remembered, about 160 bytes each: those of 1,000 conversations."""
_decode = msgspec.json.Decoder().decode


def decoded(raw: bytes | msgspec.Raw) -> object:
    """Return the JSON value that a text is.

    Raises:
        ValueError: when it is none.
        RecursionError: when it is nested too deeply.
    """
    try:
        return _decode(raw)
    except ValueError:
        # Half of a surrogate pair, which some clients cut an emoji to.
        return json.loads(bytes(raw))


def slice_key(*owner: str) -> bytes:
    """Return the key under which slices are known: what one owner sent, no other finds."""
    return sha256("\0".join(owner).encode("utf-8", "surrogatepass")).digest()[:_SIZE]


class KnownSlices:
    """What slices of recent requests say, by digests of their bytes; the oldest are forgotten.

    It has two generations: what is asked for moves to the younger one, and when that is full, the
    older one is let go of. Any thread may use it.
    """

    def __init__(self, most: int = _MOST) -> None:
        """Begin with nothing; `most` bounds the slices and atoms that are remembered."""
        self._half = most // 2
        self._room = self._half
        self._young: dict[bytes, tuple[Atom, ...]] = {}
        self._old: dict[bytes, tuple[Atom, ...]] = {}

    def __len__(self) -> int:
        """Return how many slices are known."""
        return len(self._young) + len(self._old)

    def look_up(
        self, slices: Sequence[msgspec.Raw], key: bytes
    ) -> list[tuple[bytes, tuple[Atom, ...] | None]]:
        """Return for each slice what it is known by and its atoms; None where it is not known."""
        # A request has thousands, so that a call more for each would show.
        young, get = self._young, self.get
        digests = [blake2b(raw, digest_size=_SIZE, person=key).digest() for raw in slices]
        return [(each, young[each] if each in young else get(each)) for each in digests]

    def get(self, digest: bytes) -> tuple[Atom, ...] | None:
        """Return the atoms of a slice; None for one that is not known."""
        found = self._young.get(digest)
        if found is None and (found := self._old.get(digest)) is not None:
            self.put(digest, found)
        return found

    def put(self, digest: bytes, atoms: tuple[Atom, ...]) -> None:
        """Remember a slice that could be read."""
        self._young[digest] = atoms
        self._room -= 1 + len(atoms)
        if self._room < 0:
            self._young, self._old, self._room = {}, self._young, self._half


class MessageSlices(Sequence[dict[str, object]]):
    """The messages of a request, each decoded when it is asked for."""

    def __init__(
        self,
        slices: Sequence[msgspec.Raw],
        atoms: Sequence[tuple[Atom, ...]],
        read: Mapping[int, object],
    ) -> None:
        """Keep messages as they were written.

        Args:
            slices: Their bytes, which can be decoded.
            atoms: What each of them says.
            read: Those that were decoded, by their index.
        """
        self.slices = slices
        self.atoms = atoms
        self.was_read = len(read)
        """How many had to be decoded, because they were not known."""
        self._read = dict(read)

    def __len__(self) -> int:
        """Return how many messages there are."""
        return len(self.slices)

    @overload
    def __getitem__(self, index: int) -> dict[str, object]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, object]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, object] | list[dict[str, object]]:
        """Return a message, or some."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        if place not in self._read:
            self._read[place] = decoded(self.slices[place])
        return cast("dict[str, object]", self._read[place])

    def as_written(self, messages: Iterable[object]) -> list[object]:
        """Return messages, those that are of this request by the bytes in which they came."""
        places = {id(message): place for place, message in self._read.items()}
        return [
            each if (place := places.get(id(each))) is None else self.slices[place]
            for each in messages
        ]
