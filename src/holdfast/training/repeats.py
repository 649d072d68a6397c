"""Finds what sessions of one lineage have in common, so that nothing is learned twice.

Forks and rotations begin with messages of the session that they came from. A conversation that is
wholly the beginning of another one says nothing new; of the others, what stood in an earlier one
is context and not a lesson.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.training.reading import entry_of
from holdfast.transcript import Role
from holdfast.wire.provenance import labelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import Message, Transcript

__all__ = ["Repeats", "Seen", "beginnings"]


def beginnings(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """Return what stands for each beginning of a conversation, up to the whole of it."""
    found: list[bytes] = []
    before = b""
    for message in messages:
        said = repr((message.role, message.parts)).encode("utf-8", "surrogatepass")
        before = blake2b(said, key=before, digest_size=16).digest()
        found.append(before)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Repeats:
    """What is known of a lineage whose conversations were all looked at once."""

    ends: dict[str, bytes]
    """What stands for each whole conversation, by the id of its session."""
    within: dict[bytes, str]
    """Beginnings of conversations that go on after them, each with a session that does."""

    @classmethod
    def among(cls, conversations: Iterable[tuple[str, Transcript]]) -> Repeats:
        """Look at the conversations of a lineage, one at a time."""
        ends: dict[str, bytes] = {}
        within: dict[bytes, str] = {}
        for id_, messages in conversations:
            *before, last = beginnings(messages)
            for each in before:
                within.setdefault(each, id_)
            ends[id_] = last
        return cls(ends, within)

    def is_contained(self, id_: str) -> bool:
        """Say whether a conversation is the beginning of another, or the same as an earlier one."""
        end = self.ends[id_]
        twins = [other for other, its_end in self.ends.items() if its_end == end]
        return end in self.within or twins[0] != id_


class Seen:
    """What stood in conversations of a lineage that were written already."""

    def __init__(self) -> None:
        """Begin with nothing written."""
        self._entries: set[int] = set()
        self._beginnings: set[bytes] = set()

    def masked(self, messages: Transcript) -> Transcript:
        """Return a conversation with the replies masked that were written before, and note it."""
        found = beginnings(messages)
        marked = tuple(
            labelled(message, repeated=True, masked=True)
            if message.role is Role.ASSISTANT
            and (entry_of(message) in self._entries or beginning in self._beginnings)
            else message
            for message, beginning in zip(messages, found, strict=True)
        )
        self._beginnings |= set(found)
        self._entries |= {entry for each in messages if (entry := entry_of(each)) is not None}
        return marked
