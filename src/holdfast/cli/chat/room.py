"""The room that a chat takes place in: the conversation, who answers, and where it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.chat.status_line import Footing, status_line
from holdfast.cli.lines import Span
from holdfast.cli.screen import screen
from holdfast.errors import HoldfastError
from holdfast.views.words import crop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.agent import Agent
    from holdfast.cli.chat.reader import Reader
    from holdfast.cli.lines import Line
    from holdfast.cli.screen import Screen
    from holdfast.wiring.chats import Chats
    from holdfast.wiring.conversations import Conversation

__all__ = ["Leave", "Room"]


class Leave(Exception):
    """The user wants to go."""


class Room:
    """One chat. Commands may move it to another conversation or another model."""

    def __init__(self, chats: Chats, chat: Conversation) -> None:
        """Take a seat in a conversation."""
        self.chats = chats
        self.chat = chat
        self.agent: Agent = chats.agent(chat)
        self.reader: Reader | None = None

    @property
    def view(self) -> Screen:
        """Return the screen as it is now: a window on a desktop changes its size."""
        return screen()

    def move(self, chat: Conversation) -> None:
        """Go on in another conversation."""
        self.chat = chat
        self.agent = self.chats.agent(chat)

    def ask(self, question: str) -> str:
        """Ask the user something; empty where nobody can answer."""
        return self.reader.ask(question) if self.reader is not None else ""

    def show(self, lines: Sequence[Line]) -> None:
        """Draw lines."""
        if lines:
            self.view.show(lines)

    def footing(self) -> Footing:
        """Return what is known of cache and cost so far."""
        usage, memory = self.chat.usage, self.chats.memory
        cached = usage.cache_read_tokens / usage.prompt_tokens if usage.prompt_tokens else None
        troubled = memory is not None and bool(memory.status().trouble)
        return Footing(cached, usage.cost or None, "memory has trouble" if troubled else "")

    def status(self) -> Line:
        """Return the line below the prompt."""
        try:
            return status_line(self.chat.status(), self.footing(), self.view.width)
        except HoldfastError as error:
            return (Span(crop(str(error), self.view.width), "bold red"),)
