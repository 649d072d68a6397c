"""Reading provider JSON: every dialect names the place of what it cannot read, the same way.

Extras are filed under the dialect that knows them. A transcript that moves to another provider
then leaves behind what only the first one understands, and finds it again on the way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from holdfast.errors import DecodeError
from holdfast.transcript import NO_EXTRAS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.transcript import Extras

__all__ = [
    "Misfit",
    "Wire",
    "content_parts",
    "each",
    "entries",
    "kind_in_words",
    "known_string",
    "leftover",
    "own",
    "read_all",
    "record",
    "records",
    "string",
]

Wire: TypeAlias = "dict[str, object]"
"""A JSON object on the wire."""

_NOTHING: Wire = {}
_Read = TypeVar("_Read")


class Misfit(Exception):
    """A value is not what its place asks for; `read_all` adds which message it is in."""

    def __init__(self, path: str, problem: str) -> None:
        """Keep the path below the message and the problem."""
        super().__init__(problem)
        self.path = path
        self.problem = problem


def read_all(
    dialect: str, place: str, values: Sequence[object], read: Callable[[object], _Read]
) -> list[_Read]:
    """Read every message of a body; one that does not fit raises `DecodeError` with its place."""
    found: list[_Read] = []
    for index, value in enumerate(values):
        try:
            found.append(read(value))
        except Misfit as misfit:
            path = f"{place}[{index}]{misfit.path}"
            raise DecodeError(dialect, path, misfit.problem) from None
    return found


def each(values: object, path: str, read: Callable[[object], _Read]) -> tuple[_Read, ...]:
    """Read every entry of the list at `path`, naming the entry that cannot be read."""
    found: list[_Read] = []
    for index, value in enumerate(entries(values, path)):
        try:
            found.append(read(value))
        except Misfit as misfit:
            raise Misfit(f"{path}[{index}]{misfit.path}", misfit.problem) from None
    return tuple(found)


def content_parts(content: object, path: str, read: Callable[[object], _Read]) -> tuple[_Read, ...]:
    """Read content that is not text, which has to be a list of parts."""
    if isinstance(content, list):
        return each(cast("object", content), path, read)
    kind = kind_in_words(content)
    advice = "; write it as text, for example with json.dumps" if kind == "an object" else ""
    raise Misfit(path, f"expected text or a list of parts, found {kind}{advice}")


def entries(value: object, path: str = "") -> list[object]:
    """Return the value as a list."""
    if not isinstance(value, list):
        raise Misfit(path, f"expected a list, found {kind_in_words(value)}")
    return cast("list[object]", value)


def record(value: object, path: str = "") -> Wire:
    """Return the value as an object."""
    if not isinstance(value, dict):
        raise Misfit(path, f"expected an object, found {kind_in_words(value)}")
    return cast("Wire", value)


def records(value: object) -> list[Wire]:
    """Return the objects in a value that may be a list; validators ask without raising."""
    if not isinstance(value, list):
        return []
    return [cast("Wire", entry) for entry in cast("list[object]", value) if isinstance(entry, dict)]


def string(raw: Wire, key: str, path: str = "") -> str:
    """Return the text under a key that must be there."""
    value = raw.get(key)
    if not isinstance(value, str):
        found = kind_in_words(value) if key in raw else "nothing"
        raise Misfit(f"{path}.{key}", f"expected text, found {found}")
    return value


def known_string(raw: Mapping[str, object], key: str) -> str:
    """Return the text under a key, or nothing when there is none."""
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def leftover(raw: Wire, known: frozenset[str], dialect: str) -> Extras:
    """Return the fields the vocabulary does not know, filed under their dialect."""
    if known.issuperset(raw):
        return NO_EXTRAS
    return {dialect: {key: value for key, value in raw.items() if key not in known}}


def own(extras: Extras, dialect: str) -> Wire:
    """Return the fields that this dialect filed, and none of another's; not to be changed."""
    filed = extras.get(dialect)
    return cast("Wire", filed) if isinstance(filed, dict) else _NOTHING


def kind_in_words(value: object) -> str:
    """Return what a value is, in words for an error."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
