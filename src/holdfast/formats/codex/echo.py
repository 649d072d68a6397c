"""Follows what a reader of a rollout will make of its lines, while they are written.

What the reader would get wrong is written into a note, and nothing else is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.codex.window import Replies, Window
from holdfast.formats.keys import Keys
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.formats.codex.pieces import Piece
    from holdfast.transcript import Message

__all__ = ["Echo"]


class Echo:
    """Names messages and answers as a reader does."""

    def __init__(self) -> None:
        """Begin with an empty file."""
        self.window = Window()
        self._keys = Keys()
        self._replies = Replies()
        self._answers: dict[str, str] = {}
        """The answers that were told, with the names that a reader gives them."""
        self._written: dict[str, list[tuple[str, Mapping[str, object] | None]]] = {}
        """The messages that were told, with the names and the items that stand for them."""
        self._fixed = 0
        """How many messages were shown right after the last compaction."""

    def hear(self, told: str, id: str, line: int, message: Message) -> None:  # noqa: A002
        """Take in a message that stands on a line without an item."""
        key = self._keys.take(id, line)
        self.window.add(key, message)
        self._written[told] = [(key, None)]

    def take(self, told: str, piece: Piece, line: int, answer: str) -> dict[str, object]:
        """Take in one item, and return what has to be noted beside it.

        Args:
            told: the name of the message that the item is of.
            piece: the item.
            line: where it is about to stand.
            answer: the answer that it belongs to; empty for one of its own.
        """
        note = dict(piece.note)
        own = _id_of(piece.item)
        if piece.id and piece.id != own:
            note["id"] = piece.id
        key = self._keys.take(piece.id or own, line)
        noted: str | None = None
        if piece.message.role is Role.ASSISTANT:
            known = self._answers.get(answer, "") if answer else ""
            if self._replies.joins(piece.message) != known:
                noted = note["reply"] = known
        reply = self._replies.take(piece.message, noted)
        if answer and reply:
            self._answers.setdefault(answer, reply)
        self.window.add(key, piece.message)
        self._written.setdefault(told, []).append((key, piece.item))
        return note

    def close(self) -> None:
        """End the answer that was written last."""
        self._replies.close()

    def written(self, told: str) -> list[tuple[str, Mapping[str, object] | None]]:
        """Return what stands for a message: the names that a reader gives, and the items."""
        return self._written.get(told, [])

    def turns_after(self, shown: tuple[str, ...]) -> int:
        """Return how many turns Codex has to take back so that only these messages are left.

        It is 0 where that cannot be said so: a compaction is not taken back by turns.
        """
        if len(shown) < self._fixed:
            return 0
        count = self.window.prompts_after(len(shown))
        return count if self.window.without_turns(count) == shown else 0

    def show(self, keys: Iterable[str]) -> None:
        """Take in that the model sees these messages and no others."""
        self._fixed = len(self.window.show(keys))
        self.close()


def _id_of(item: Mapping[str, object] | None) -> str:
    known = None if item is None else item.get("id")
    return known if isinstance(known, str) else ""
