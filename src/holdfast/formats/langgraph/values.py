"""Unpacks what LangGraph's savers store, without a single one of anybody's classes.

Objects come as a constructor with its arguments: in JSON under the key `lc`, in MessagePack as
an extension whose payload names module, class and arguments. Nothing is ever constructed; what
was pickled or encrypted is not read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from holdfast.formats.json_access import JsonObject, is_array, mapping, sequence, string

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "PackedObject",
    "StoredObject",
    "UnreadableValue",
    "built",
    "decode",
    "members",
    "unpacked",
]

_SNAPSHOT = 7
"""The extension that holds a value of a channel as it is, and no object."""
_SHORTEST = 3
_PICKLED = b"\x80"
"""How the oldest checkpoints begin."""


class UnreadableValue(Exception):
    """A value cannot be unpacked; the message says why."""


@dataclass(frozen=True, slots=True)
class PackedObject:
    """An object that is still packed: most of them were seen before and stay so."""

    code: int
    payload: bytes


@dataclass(frozen=True, slots=True, eq=False)
class StoredObject:
    """An object: the name of its class, and what it was made of."""

    name: str
    fields: JsonObject


def decode(kind: str, blob: object) -> object:
    """Return a stored value, with the objects in it still packed.

    Args:
        kind: how it was packed: `msgpack`, `json` or nothing for the oldest, `null`, `bytes`.
        blob: what is in the column.

    Raises:
        Unreadable: when it is damaged, or packed in a way that is not read.
    """
    match kind, blob:
        case ("null" | "bytes" | "bytearray", _) | (_, None):
            return None
        case ("json" | "", str() | bytes()):
            if isinstance(blob, bytes) and blob.startswith(_PICKLED):
                raise UnreadableValue("it is packed as 'pickle', which is not read")
            try:
                return json.loads(blob)
            except ValueError as error:
                raise UnreadableValue(f"it is not JSON: {error}") from error
            except RecursionError:
                raise UnreadableValue("its values are nested too deeply") from None
        case ("msgpack", bytes()):
            return _from_msgpack(blob)
        case ("json" | "" | "msgpack", _):
            raise UnreadableValue("the column holds a number")
        case _:
            raise UnreadableValue(f"it is packed as {kind!r}, which is not read")


def unpacked(value: object) -> object:
    """Return the value of a channel: one that was stored as a snapshot is taken out of it."""
    if isinstance(value, PackedObject) and value.code == _SNAPSHOT:
        return _from_msgpack(value.payload)
    return value


def built(value: object) -> StoredObject | None:
    """Return an object in whichever way it was packed; None for any other value.

    Raises:
        Unreadable: when it is damaged.
    """
    if isinstance(value, PackedObject):
        parts = _from_msgpack(value.payload)
        if not is_array(parts) or len(parts) < _SHORTEST:
            return None
        return StoredObject(string(parts[1]), mapping(parts[2]))
    fields = mapping(value)
    if fields.get("type") == "constructor" and "lc" in fields:
        path = sequence(fields.get("id"))
        name = string(path[-1]) if path else ""
        return StoredObject(name, mapping(fields.get("kwargs")))
    return None


def members(value: object) -> Sequence[object]:
    """Return what is in a set or a list, in whichever way it was packed.

    Raises:
        Unreadable: when it is damaged.
    """
    if isinstance(value, PackedObject):
        parts = _from_msgpack(value.payload)
        return sequence(parts[2]) if is_array(parts) and len(parts) >= _SHORTEST else ()
    arguments = sequence(mapping(value).get("args"))
    return sequence(arguments[0]) if arguments else sequence(value)


def _from_msgpack(blob: bytes) -> object:
    unpack, refusals = _unpacking()
    try:
        return unpack(blob)
    except refusals as error:
        raise UnreadableValue(f"it is not MessagePack: {error}") from error
    except RecursionError:
        raise UnreadableValue("its values are nested too deeply") from None


@cache
def _unpacking() -> tuple[Callable[[bytes], object], tuple[type[Exception], ...]]:
    # It takes a while to load, and most files are no databases.
    from msgspec import DecodeError
    from msgspec.msgpack import Decoder

    def keep(code: int, payload: memoryview) -> PackedObject:
        return PackedObject(code, bytes(payload))

    unpack = cast("Callable[[bytes], object]", Decoder(ext_hook=keep).decode)
    return unpack, (DecodeError, UnicodeDecodeError)
