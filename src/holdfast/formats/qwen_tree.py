"""Follows the tree of a Qwen session by names alone: where it stands, and what its model sees.

A record hangs below another. Where the next message hangs somewhere else than below the last one,
the user went back, and the model sees what leads to that place. A message of a compressed history
is known again by its words, which are not quite those of its record: an answer was trimmed there,
and reminders that went with a prompt are only in the history.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Folded, Native, Rewound, Told
from holdfast.formats.decoding import decoded
from holdfast.formats.document import Problem
from holdfast.formats.figures import count
from holdfast.formats.loose import mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import summarized, words
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.keys import Keys
    from holdfast.formats.source import Record

__all__ = ["Tree"]

_SIZE = 12
_REMINDER = ("<system-reminder>", "</system-reminder>")
_UNSAID = frozenset(["thoughtSignature", "partMetadata"])
"""What stands in a part of a history and not in that of its record, or the other way round."""
_ROLES = {"user": Role.USER, "model": Role.ASSISTANT}
_TRIGGERS = {"manual": "manual", "token_limit": "auto", "image_overflow": "auto"}


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
        self._asked = ""
        """What the message that was told last asked, where it is nothing but words."""

    def reach(self, entry: Mapping[str, object]) -> None:
        """Look at a record; one whose parent is not in the file goes on from the last message.

        Not so a record that says that it has none, or a way back to what is lost: Qwen begins anew.
        """
        own, parent = string(entry.get("uuid")), string(entry.get("parentUuid"))
        if own not in self._places:
            is_root = "parentUuid" in entry and entry["parentUuid"] is None
            lost = None if entry.get("subtype") == "rewind" else self._at
            self._places[own] = None if is_root else self._places.get(parent, lost)
        self._reached = own

    @property
    def is_empty(self) -> bool:
        """Say whether nothing was told yet."""
        return not self._known

    def pass_by(self) -> None:
        """Leave the message that was told last out of what the model sees from here on."""
        self._places[self._reached] = None if self._at is None else self._at.before

    def answers(self, command: Mapping[str, object]) -> bool:
        """Say whether the program itself answered what was asked last, as a command."""
        shown = mappings(command.get("outputHistoryItems"))
        return (
            command.get("phase") == "result"
            and command.get("sentToModel") is not True
            and bool(self._asked)
            and self._asked == command.get("rawCommand")
            and {each.get("type") for each in shown} == {"assistant"}
        )

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
        is_asked = told.message.role is Role.USER and len(told.message.parts) == 1
        self._asked = told.message.text if is_asked else ""

    def inherit(self, record: Record, keys: Keys) -> Iterator[Event]:
        """Tell the history that a sub-agent begins with, which is that of its parent."""
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        if text := _instruction(payload.get("systemInstruction")):
            prompt = Message(Role.SYSTEM, (Text(text),))
            yield self._told(record, keys.take("", record.line), prompt, ())
        for content in mappings(payload.get("history")):
            found = decoded("gemini", content)
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                continue
            for message in found:
                key = keys.take("", record.line)
                yield self._told(record, key, message, content.get("parts"))

    def _told(self, record: Record, key: str, message: Message, parts: object) -> Told:
        native = Native(at=moment(mapping(record.value).get("timestamp")))
        told = Told(strand=self.strand, line=record.line, key=key, message=message, native=native)
        self.tell(told, parts)
        return told

    def fold(self, record: Record, keys: Keys) -> Iterator[Event]:
        """Tell a compaction: what of its history is new, then what the model sees."""
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        at = moment(entry.get("timestamp"))
        shows: list[str] = []
        has_summary = not self._is_summed_up(payload.get("compressedHistory"))
        for content in mappings(payload.get("compressedHistory")):
            found = decoded("gemini", content)
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                continue
            for message in found:
                digest = _words(message.role, content.get("parts"))
                known = self._known.get(digest)
                if known is None:
                    told = message
                    if not has_summary and message.role is Role.USER and message.text:
                        told, has_summary = summarized(message.text, "qwen"), True
                    known = self._known[digest] = keys.take("", record.line)
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
            trigger=_TRIGGERS.get(string(figures.get("triggerReason")), ""),
            tokens_before=count(figures.get("originalTokenCount")) or None,
            tokens_after=count(figures.get("newTokenCount")) or None,
        )

    def _is_summed_up(self, history: object) -> bool:
        """Say whether a history has a summary: a fast compression only clears results.

        It then still begins as before.
        """
        first = next(iter(_shown(self._at)), None)
        return first is None or all(
            self._known.get(_words(role, content.get("parts"))) != first
            for content in mappings(history)
            for role in (_ROLES.get(string(content.get("role")), Role.USER),)
        )

    def _go(self, shows: tuple[str, ...], before: _Node | None) -> None:
        self._at = self._places[self._reached] = _Node(shows, before)


def _instruction(value: object) -> str:
    """Return the words of the instruction that older versions wrote with an inherited history."""
    return words(value if isinstance(value, str) else mapping(value).get("parts"))


def _shown(node: _Node | None) -> tuple[str, ...]:
    found: list[tuple[str, ...]] = []
    while node is not None:
        found.append(node.shows)
        node = node.before
    return tuple(key for shows in reversed(found) for key in shows)


def _words(role: Role, parts: object) -> bytes:
    """Return what tells two messages apart, without thoughts, which no history keeps."""
    kept = [part for part in map(mapping, sequence(parts)) if part.get("thought") is not True]
    said = [part for part in kept if not _is_reminder(part)]
    written = json.dumps([role, list(map(_said, said or kept))], sort_keys=True)
    return blake2b(written.encode(), digest_size=_SIZE).digest()


def _is_reminder(part: Mapping[str, object]) -> bool:
    text = string(part.get("text")).strip()
    return text.startswith(_REMINDER[0]) and text.endswith(_REMINDER[1])


def _said(part: Mapping[str, object]) -> dict[str, object]:
    kept = {key: value for key, value in part.items() if key not in _UNSAID}
    text = kept.get("text")
    return {**kept, "text": text.strip()} if isinstance(text, str) else kept
