"""A memory provider as a port: what is remembered beyond one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.transcript import Transcript
    from holdfast.wire.tool_specs import ToolSpec


class MemoryProvider:
    """Remembers beyond one conversation; every hook may be left as it is.

    Hooks may block, fail or hang: whoever calls them sees to it that a turn does not. `prefetch`
    may be called on one thread while `sync` runs on another.
    """

    @property
    def name(self) -> str:
        """Return the name that settings, status lines and errors use."""
        return type(self).__name__

    def system_block(self) -> str:
        """Return what stands in the system prompt; asked once, when a session begins."""
        return ""

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is given."""
        return ()

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of one of the tools."""
        raise NotImplementedError(f"{self.name} has no tool {name} with {arguments}")

    def on_turn_start(self, words: str, turn: int) -> None:
        """Take note that the user has said this; before `prefetch`.

        Args:
            words: The user's own words.
            turn: The turn's number in its conversation, from 1. It never comes twice: turns that
                were rewound count.
        """

    def prefetch(self, query: str) -> str:
        """Return what is known that bears on the query, as text; empty where nothing is."""
        del query
        return ""

    def queue_prefetch(self, query: str) -> None:
        """Begin to look for what the next turn may need; after an answer, in the background."""

    def sync(self, user: str, assistant: str) -> None:
        """Take in one exchange; in the background, one after the other, in order."""

    def on_pre_compress(self, messages: Transcript) -> str:
        """Take what is worth keeping from messages that are about to be folded.

        What is returned is added to the record.
        """
        del messages
        return ""

    def on_session_switch(self, old: str, new: str, reason: str, *, rewound: bool = False) -> None:
        """Follow a conversation that goes on under another id, or whose window was turned back.

        Args:
            old: The session that it was in.
            new: The session that it goes on in; the same one where it was turned back.
            reason: `compression`, `branch`, `reset`, `resume` or `rollback`, and where it was
                turned back `rewind`, `undo` or `redo`.
            rewound: Whether the window of the same session shows more or less of what was said
                than before, so that what was kept for single turns may not hold any more.
        """

    def on_session_end(self, messages: Transcript) -> None:
        """Take note that the conversation has ended with these messages in its window."""

    def shutdown(self) -> None:
        """Let go of connections and threads; nothing is called afterwards."""
