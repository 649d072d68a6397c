"""The words of an answer while it streams, kept so that a killed process does not lose them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from holdfast.transcript import Role

if TYPE_CHECKING:
    from holdfast.conversation import StoredConversation

STOPPED = "[stopped here by the user]"
CUT_OFF = "[the answer was cut off here]"

_EVERY = 1.0
"""Seconds between two writes."""


class Drafts:
    """Remembers what was spoken about once a second, until the answer is in the log."""

    def __init__(self, chat: StoredConversation, now: Callable[[], float]) -> None:
        """Begin with nothing spoken."""
        self._chat = chat
        self._now = now
        self._size = chat.session.size
        self._words: list[str] = []
        self._next = now() + _EVERY
        self._names: dict[str, None] = {}
        self._after: int | None = None

    @property
    def words(self) -> str:
        """Return what was spoken so far."""
        return "".join(self._words)

    def say(self, text: str) -> None:
        """Add words; now and then they are written down."""
        self._words.append(text)
        if self._now() < self._next:
            return
        self._next = self._now() + _EVERY
        if self._after is None:
            self._after = _newest(self._chat)
        # A compaction in the background may have moved the conversation to another id.
        name = _name(self._chat.id)
        self._names[name] = None
        draft = {"after": self._after, "words": self.words}
        self._chat.store.remember(name, json.dumps(draft))

    def restart(self) -> None:
        """Begin anew: what was spoken so far does not count."""
        self._words.clear()

    def is_recorded(self) -> bool:
        """Say whether an answer has reached the log since, so that the draft says nothing new."""
        fresh = self._chat.store.since(self._chat.id, self._size)
        return any(
            entry.message.role is Role.ASSISTANT and not entry.message.synthetic for entry in fresh
        )

    def clear(self) -> None:
        """Forget the draft: the words are in the log, or do not count."""
        for name in self._names:
            self._chat.store.remember(name, "")
        self._names.clear()
        self._words.clear()


def left_draft(chat: StoredConversation) -> str:
    """Return the words that a process left behind when it was killed, and forget them.

    A draft counts only while nothing was said after it began: otherwise its answer arrived, or
    the conversation went on without it.
    """
    session, store = chat.session, chat.store
    words = ""
    for id_ in filter(None, (session.id, session.parent)):
        name = _name(id_)
        kept = store.remembered(name)
        if not kept:
            continue
        draft = cast("dict[str, object]", json.loads(kept))
        if draft.get("after") == _newest(chat):
            words = words or str(draft.get("words", ""))
        if id_ == session.id or words:
            store.remember(name, "")
    return words


def _newest(chat: StoredConversation) -> int:
    """Return the id of the newest message, as it was said."""
    entries = chat.store.window(chat.id).entries
    return (entries[-1].stands_for or entries[-1].id) if entries else 0


def _name(id_: str) -> str:
    return f"draft:{id_}"
