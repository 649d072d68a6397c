"""What happens in a turn and beside it, each told once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import ModelError
from holdfast.session import CompactionRecord, Usage
from holdfast.transcript import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.conversation import StoredConversation


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """Words for the user, as they come."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingStreamed:
    """Words that the model says to itself."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """The model wants a tool to run; it runs when the turn goes on."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool has run, or was not allowed to."""

    call: ToolCall
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class WindowCompacted:
    """The window was compacted, on the turn's path or in the background."""

    record: CompactionRecord


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know, and the turn goes on."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model is asked once more; words of this answer that were spoken so far do not count."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """The turn is over."""

    reply: str
    """The model's last words."""
    usage: Usage = field(default_factory=Usage)
    """What the turn's requests cost, added up."""
    is_cut: bool = False
    """Whether the answer ended at the limit of tokens and not by itself."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn ended without an answer; everything that was said is stored."""

    reason: str
    error: ModelError | None = None


Event: TypeAlias = (
    TextStreamed
    | ThinkingStreamed
    | ToolCallRequested
    | Answered
    | WindowCompacted
    | Warned
    | Retrying
    | Done
    | Stopped
)


class Watch:
    """Sees which compactions there were since the last look, whoever made them."""

    def __init__(self, chat: StoredConversation) -> None:
        """Begin with what has happened so far, which is nobody's news."""
        self._chat = chat
        self._id = chat.id
        self._seen = self._count()
        self._warned: frozenset[str] = frozenset()

    def news(self) -> Iterator[WindowCompacted | Warned]:
        """Yield what has happened since the last look."""
        if self._chat.id != self._id:
            # A rotation: what the new session has seen, it has seen since.
            self._id, self._seen = self._chat.id, 0
        if self._count() > self._seen:
            fresh = self._chat.compactions()[self._seen :]
            self._seen += len(fresh)
            yield from map(WindowCompacted, fresh)
        status = self._chat.status()
        warnings = dict.fromkeys(filter(None, (*status.troubles, status.pressure)))
        fresh = [each for each in warnings if each not in self._warned]
        self._warned = frozenset(warnings)
        yield from map(Warned, fresh)

    def _count(self) -> int:
        return self._chat.store.count_compactions(self._chat.id)
