"""What several dialects share: ids of calls, media, alternating turns, the pairing of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from zlib import crc32

from holdfast.transcript import Media, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.wire.fields import Wire

__all__ = [
    "CONTINUES",
    "NO_CONTENT",
    "CallStep",
    "Identities",
    "MediaKind",
    "WireTurn",
    "check_pairing",
    "grouped",
    "is_plain",
    "is_reachable",
    "kind_of",
    "location",
    "placeholder",
    "plain_name",
    "read_url",
]

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


@dataclass(frozen=True, slots=True)
class CallStep:
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
