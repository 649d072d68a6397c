"""Follows the tree of a Qwen session by names alone: where it stands, and what its model sees.

A record hangs below another. Where the next message hangs somewhere else than below the last one,
the user went back, and the model sees what leads to that place.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Folded, Native, Rewound, Told
from holdfast.formats.document import Problem
from holdfast.formats.loose import mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.decoding import decoded
from holdfast.formats.sessions.figures import count
from holdfast.formats.sessions.reader import summarized
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.chronicle import Event
    from holdfast.formats.sessions.keys import Keys
    from holdfast.formats.source import Record

__all__ = ["Tree"]

_SIZE = 12


@dataclass(frozen=True, slots=True)
class _Node:
    """A message, or what a compaction left, and what stands before it."""

    shows: tuple[str, ...]
    before: _Node | None = None


class Tree:
    """One strand of a session."""

    def __init__(self, strand: str) -> None:
        """Stand at the root."""
        self.strand = strand
        self._at: _Node | None = None
        """The message that was told last, or that the user went back to."""
        self._places: dict[str, _Node | None] = {}
        """What leads to each record."""
        self._reached = ""
        self._known: dict[bytes, str] = {}
        """The newest message of some words."""

    def reach(self, own: str, parent: str) -> None:
        """Look at a record; one whose parent is not in the file goes on from the last message."""
        if own not in self._places:
            self._places[own] = self._places.get(parent, self._at)
        self._reached = own

    def return_to(self, line: int, at: int | None) -> Iterator[Rewound]:
        """Go to where the record hangs, and say so if that is not where the last message is."""
        place = self._places[self._reached]
        if place is not self._at:
            self._at = place
            yield Rewound(strand=self.strand, line=line, shows=_shown(place), at=at)

    def tell(self, told: Told, parts: object) -> None:
        """Go on with a message."""
        self._go((told.key,), self._at)
        self._known[_words(told.message.role, parts)] = told.key

    def fold(self, record: Record, keys: Keys) -> Iterator[Event]:
        """Tell a compaction: what of its history is new, then what the model sees."""
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        at = moment(entry.get("timestamp"))
        shows: list[str] = []
        has_summary = False
        for content in mappings(payload.get("compressedHistory")):
            found = decoded("gemini", content)
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                continue
            for message in found:
                words = _words(message.role, content.get("parts"))
                known = self._known.get(words)
                if known is None:
                    told = message
                    if not has_summary and message.role is Role.USER and message.text:
                        told, has_summary = summarized(message.text, "qwen"), True
                    known = self._known[words] = keys.take("", record.line)
                    native = Native(at=at)
                    yield Told(
                        strand=self.strand,
                        line=record.line,
                        key=known,
                        message=told,
                        native=native,
                    )
                shows.append(known)
        if not shows:
            return
        self._go(tuple(shows), None)
        figures = mapping(payload.get("info"))
        yield Folded(
            strand=self.strand,
            line=record.line,
            id=f"{string(entry.get('uuid'))}#{record.line}/fold",
            shows=tuple(shows),
            at=at,
            tokens_before=count(figures.get("originalTokenCount")) or None,
            tokens_after=count(figures.get("newTokenCount")) or None,
        )

    def _go(self, shows: tuple[str, ...], before: _Node | None) -> None:
        self._at = self._places[self._reached] = _Node(shows, before)


def _shown(node: _Node | None) -> tuple[str, ...]:
    found: list[tuple[str, ...]] = []
    while node is not None:
        found.append(node.shows)
        node = node.before
    return tuple(key for shows in reversed(found) for key in shows)


def _words(role: Role, parts: object) -> bytes:
    """Return what tells two messages apart, without thoughts, which no history keeps."""
    kept = [part for part in sequence(parts) if mapping(part).get("thought") is not True]
    written = json.dumps([role, kept], sort_keys=True)
    return blake2b(written.encode(), digest_size=_SIZE).digest()
