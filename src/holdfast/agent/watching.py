"""What happens to a conversation beside its turns: compactions and warnings, each told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.agent.events import Folded, Warned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.conversation import StoredConversation

__all__ = ["Watch"]


class Watch:
    """Sees which compactions there were since the last look, whoever made them."""

    def __init__(self, chat: StoredConversation) -> None:
        """Begin with what has happened so far, which is nobody's news."""
        self._chat = chat
        self._id = chat.id
        self._seen = self._count()
        self._warned: frozenset[str] = frozenset()

    def news(self) -> Iterator[Folded | Warned]:
        """Yield what has happened since the last look."""
        if self._chat.id != self._id:
            # A rotation: what the new session has seen, it has seen since.
            self._id, self._seen = self._chat.id, 0
        if self._count() > self._seen:
            fresh = self._chat.compactions()[self._seen :]
            self._seen += len(fresh)
            yield from map(Folded, fresh)
        status = self._chat.status()
        warnings = dict.fromkeys(filter(None, (*status.troubles, status.pressure)))
        fresh = [each for each in warnings if each not in self._warned]
        self._warned = frozenset(warnings)
        yield from map(Warned, fresh)

    def _count(self) -> int:
        return self._chat.store.count_compactions(self._chat.id)
