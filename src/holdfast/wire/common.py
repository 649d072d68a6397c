"""What all dialects share: reading fields, ids of calls, media, turns, the pairing of calls.

Every dialect names the place of what it cannot read in the same way. Extras are filed under the
dialect that knows them. A transcript that moves to another provider then leaves behind what only
the first one understands, and finds it again on the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar, cast
from zlib import crc32

from msgspec import Struct

from holdfast.errors import DecodeError
from holdfast.transcript import NO_EXTRAS, Media, Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.transcript import Extras, Transcript

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_NAME_LENGTH = 128
MediaKind: TypeAlias = Literal["image", "audio", "video", "file"]
_BASE64 = ";base64,"
CONTINUES = "(conversation continues)"
"""What a user says first where a provider demands that a user does."""
NO_CONTENT = "(no content)"
"""What a message says that would say nothing, where a provider refuses that."""


class Identities:
    """Gives each call an id of plain letters that no other call has, the same in every run."""

    def __init__(self) -> None:
        """Start with no call known."""
        self._current: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        """Which number an id had last: some models give every call the same one."""

    def open(self, call_id: str) -> str:
        """Return the id for a call; an id that was used before gets a number."""
        wanted = _plain(call_id)
        unique, count = wanted, self._counts.get(wanted, 1)
        while unique in self._taken:
            count += 1
            unique = f"{wanted}_{count}"
        self._counts[wanted] = count
        self._taken.add(unique)
        self._current[call_id] = unique
        return unique

    def answer(self, call_id: str) -> str:
        """Return the id of the newest call that a result with this id belongs to."""
        return self._current.get(call_id) or _plain(call_id)


def is_plain(text: str) -> bool:
    """Say whether the text is made of plain letters and not empty."""
    return bool(text) and _LETTERS.issuperset(text)


def plain_name(name: str) -> str:
    """Return a tool name in plain letters."""
    return name if is_plain(name) else (_washed(name)[:_NAME_LENGTH] or "tool")


def _plain(call_id: str) -> str:
    if is_plain(call_id):
        return call_id
    # The checksum keeps ids apart that differ only in letters that had to go.
    return f"{_washed(call_id) or 'call'}_{crc32(call_id.encode('utf-8', 'replace')):08x}"


def _washed(text: str) -> str:
    return "".join(letter if letter in _LETTERS else "_" for letter in text)


def kind_of(media_type: str) -> MediaKind:
    """Return what a media type is about."""
    match media_type.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "file"


def read_url(url: str) -> tuple[str, str, str]:
    """Return the media type, the base64 text and the address of a URL.

    Only a data URL in its plain form is taken apart; any other stays an address, so that it
    can be written as it was.
    """
    if url.startswith("data:"):
        head, mark, payload = url[5:].partition(_BASE64)
        if mark and ";" not in head:
            return head, payload, ""
    return "", "", url


def location(media: Media) -> str:
    """Return the address of the media: where it is, or the media itself."""
    return media.url or f"data:{media.media_type}{_BASE64}{media.data}"


def is_reachable(media: Media, dialect: str) -> bool:
    """Say whether a provider can get at the media.

    A file id is known to the provider that gave it and to nobody else.
    """
    address = media.url
    return (
        bool(media.data)
        or "://" in address
        or address.startswith("data:")
        or dialect in media.extras
    )


def placeholder(media: Media) -> str:
    """Return words for media that a provider does not take in this place."""
    address = media.url if "://" in media.url else ""
    return f"[{media.kind} left out{': ' if address else ''}{address}]"


@dataclass(frozen=True, slots=True)
class WireTurn:
    """What one speaker says until another one speaks."""

    role: str
    blocks: list[Wire]
    text: str | None
    """The same as one string, where it can be one and stands alone."""
    fields: Wire
    """Fields of the message itself."""


def grouped(turns: Iterable[WireTurn]) -> list[WireTurn]:
    """Return the turns with neighbors of one role joined."""
    joined: list[WireTurn] = []
    for turn in turns:
        last = joined[-1] if joined else None
        if last is not None and last.role == turn.role:
            fields = last.fields | turn.fields
            joined[-1] = WireTurn(turn.role, last.blocks + turn.blocks, None, fields)
        else:
            joined.append(turn)
    return joined


class CallStep(Struct, frozen=True, gc=False):
    """What one message does about calls."""

    index: int
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def check_pairing(steps: Iterable[CallStep]) -> Iterator[Violation]:
    """Yield a violation for each call without its result right after it, and the reverse.

    Calls that nothing follows are no violation: their tools may still be running.
    """
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for step in steps:
        if not step.results and waiting:
            for call_id, index in waiting.items():
                message = f"call {call_id!r} has no result right after it"
                yield Violation(index, "pairing", message)
            waiting = {}
        for call_id in step.results:
            if waiting.pop(call_id, None) is not None:
                answered.add(call_id)
                continue
            problem = "has its result already" if call_id in answered else "is not right before it"
            message = f"a result answers call {call_id!r}, which {problem}"
            yield Violation(step.index, "pairing", message)
        for call_id in step.calls:
            if call_id in waiting:
                yield Violation(step.index, "pairing", f"call id {call_id!r} is used twice")
            waiting[call_id] = step.index


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
    try:
        for value in values:
            found.append(read(value))  # noqa: PERF401 - what was read tells which one could not be
    except Misfit as misfit:
        path = f"{place}[{len(found)}]{misfit.path}"
        raise DecodeError(dialect, path, misfit.problem) from None
    return found


def each(values: object, path: str, read: Callable[[object], _Read]) -> tuple[_Read, ...]:
    """Read every entry of the list at `path`, naming the entry that cannot be read."""
    found: list[_Read] = []
    listed = entries(values, path)
    try:
        for value in listed:
            found.append(read(value))  # noqa: PERF401 - what was read tells which one could not be
    except Misfit as misfit:
        raise Misfit(f"{path}[{len(found)}]{misfit.path}", misfit.problem) from None
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
    return [entry for entry in cast("list[Wire | None]", value) if isinstance(entry, dict)]


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


class SharedPrefix:
    """A token that bodies of one growing conversation share.

    Of two bodies with the same token, as they were handed out, the longer one begins with the
    messages of the shorter one. Who works on each of them needs to look only at what is new.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The conversation of a request, without its model, tools and settings."""

    messages: list[dict[str, object]]
    """What the provider calls messages, input, contents or conversations."""
    system: object | None = None
    """What stands beside them: system, instructions or systemInstruction."""
    prefix: SharedPrefix | None = field(default=None, compare=False, repr=False)
    """What it shares with earlier bodies, while nobody changes it; None where nothing is known."""


class Dialect(Protocol):
    """One provider's way to write a conversation, with its rules."""

    @property
    def name(self) -> str:
        """Return the name under which the dialect is known."""
        ...

    @property
    def decode(self) -> Callable[[Body], Transcript]:
        """Return the function that reads a body; what it cannot read raises `DecodeError`."""
        ...

    @property
    def encode(self) -> Callable[[Transcript], Body]:
        """Return the function that writes a transcript in the provider's way."""
        ...

    @property
    def validate(self) -> Callable[[Body], tuple[Violation, ...]]:
        """Return the function that names what the provider would refuse."""
        ...


@dataclass(frozen=True, slots=True)
class Codec:
    """A dialect made of three functions."""

    name: str
    decode: Callable[[Body], Transcript]
    encode: Callable[[Transcript], Body]
    validate: Callable[[Body], tuple[Violation, ...]]


def with_originals(
    written: Sequence[dict[str, object]], originals: Sequence[dict[str, object]]
) -> list[dict[str, object]]:
    """Return written messages with the caller's own objects wherever they say the same.

    A codec writes keys in its own order. What stays at the start and at the end of a
    conversation goes out as it came in, byte for byte, so that provider caches hold.
    """
    result = list(written)
    length = min(len(result), len(originals))
    same_start = next(
        (index for index in range(length) if result[index] != originals[index]), length
    )
    same_end = next(
        (index for index in range(length) if result[-1 - index] != originals[-1 - index]), length
    )
    result[:same_start] = originals[:same_start]
    if same_end:
        result[-same_end:] = originals[-same_end:]
    return result
