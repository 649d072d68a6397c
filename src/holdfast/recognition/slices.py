"""The messages of a request as they were written: those that are known are not read again.

A client sends its whole history with every request, and all but the end of it was there before. A
message is known by a digest of its bytes; what it says is remembered, and it is decoded only for
whoever asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from itertools import starmap
from typing import TYPE_CHECKING, TypeAlias, cast, overload

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.recognition.atoms import Atom

_SIZE = 16
_MOST = 160_000
"""Slices and atoms that are remembered, about 160 bytes each: those of the last 600 conversations
of 20 kB at least. One that is forgotten is read again in a millisecond."""
_STRETCH = 16
"""Messages that are looked up at once, by the digest of them all."""
_Known: TypeAlias = "tuple[Atom, ...] | tuple[tuple[Atom, ...], ...]"
"""What a slice says, or each of a stretch of them."""
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
        self._young: dict[bytes, _Known] = {}
        self._old: dict[bytes, _Known] = {}

    def __len__(self) -> int:
        """Return how many slices are known."""
        return len(self._young) + len(self._old)

    def said(
        self, slices: Sequence[msgspec.Raw], key: bytes, read: Callable[[int], tuple[Atom, ...]]
    ) -> list[tuple[Atom, ...]]:
        """Return what each of many slices says.

        Args:
            slices: The messages of a request.
            key: Under which they are known.
            read: Reads a slice that is not known, by its place.
        """
        found: list[tuple[Atom, ...]] = []
        for start in range(0, len(slices), _STRETCH):
            some = slices[start : start + _STRETCH]
            # Most of a request was there before: many messages are known at once by all they say.
            digest = _digest(b",".join(some), key) if len(some) == _STRETCH else b""
            said = self._get(digest) if digest else None
            if said is None:
                each = partial(self._said, key, read)
                said = tuple(starmap(each, enumerate(some, start)))
                if digest:
                    # What its messages say is counted with them.
                    self._put(digest, said, 1)
            found += cast("tuple[tuple[Atom, ...], ...]", said)
        return found

    def _said(
        self, key: bytes, read: Callable[[int], tuple[Atom, ...]], place: int, raw: msgspec.Raw
    ) -> tuple[Atom, ...]:
        digest = _digest(raw, key)
        said = self._get(digest)
        if said is None:
            said = read(place)
            self._put(digest, said, 1 + len(said))
        return cast("tuple[Atom, ...]", said)

    def _get(self, digest: bytes) -> _Known | None:
        found = self._young.get(digest)
        if found is None and (found := self._old.get(digest)) is not None:
            # A stretch is all that is left of its messages then.
            size = sum([len(each) if isinstance(each, tuple) else 1 for each in found])
            self._put(digest, found, 1 + size)
        return found

    def _put(self, digest: bytes, said: _Known, size: int) -> None:
        self._young[digest] = said
        self._room -= size
        if self._room < 0:
            self._young, self._old, self._room = {}, self._young, self._half


def _digest(raw: bytes | msgspec.Raw, key: bytes) -> bytes:
    # Twice as fast as BLAKE2 where the processor helps, as most do.
    return sha256(key + raw).digest()[:_SIZE]


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
