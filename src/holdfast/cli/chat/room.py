"""Where a chat takes place: the conversation, who answers, where words come from and are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.cli.screen import Styled, screen
from holdfast.conversation.compactor import GIVEN_UP
from holdfast.errors import HoldfastError
from holdfast.views.words import cells, clean, crop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.agent import Agent
    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.conversation.status import Status
    from holdfast.wiring.chats import Chats
    from holdfast.wiring.conversations import Conversation

_WARM = 0.85
_BAR = 12
_FULL, _EMPTY = "█", "░"
_SEPARATOR = " · "
_TITLE = 8
"""Columns below which a title is not worth showing."""
_HEADLINE = 48
_CLAUSE_END = re.compile(r"[:;.]\s|\s\(")
_LOCAL = "local"


class PromptReader(Protocol):
    """Gives the user's words, one message at a time."""

    def read(self) -> str | None:
        """Return the next message; None when there is no more.

        Raises:
            KeyboardInterrupt: when the user dropped the line.
        """
        ...

    def ask(self, question: str) -> str:
        """Return the answer to a question; empty where nobody can answer.

        Raises:
            KeyboardInterrupt: when the user wants none of it.
        """
        ...

    @property
    def echoes(self) -> bool:
        """Say whether what is read has to be shown, because nobody typed it."""
        ...


class LineReader:
    """Words that are there already, one line a message."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Hold the lines; blank ones are passed over."""
        self._lines = iter(lines)

    def read(self) -> str | None:
        """Return the next line that says something."""
        return next((line.strip() for line in self._lines if line.strip()), None)

    def ask(self, question: str) -> str:
        """Answer nothing: nobody is there to say yes."""
        del question
        return ""

    @property
    def echoes(self) -> bool:
        """Return True: a transcript of a pipe shows both sides."""
        return True


@dataclass(frozen=True, slots=True)
class CostStatus:
    """What is known beside the conversation's own status."""

    cached: float | None = None
    """The share of the prompts that came from the provider's cache; None before the first call."""
    cost: float | None = None
    """Dollars spent so far; None where no price is known."""
    trouble: str = ""
    """What the user should look into; `/status` says more."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to say in the line."""

    forms: tuple[str, ...]
    """The longest first; the first that fits is shown."""
    style: str = "dim"
    least: int | None = None
    """Columns from which on the last form is cropped where none fits."""

    def within(self, room: int) -> str:
        """Return what fits into so many columns; empty when nothing does."""
        for form in self.forms:
            if cells(form) <= room:
                return form
        is_worth_it = self.least is not None and room >= self.least
        return crop(self.forms[-1], room) if is_worth_it else ""


def status_line(status: Status, footing: CostStatus, width: int) -> Line:
    """Return the status in one line of at most `width` columns; what matters least goes first."""
    share = min(status.share, 1.0)
    style = "green" if share < _WARM else "bold yellow" if share < 1 else "bold red"
    filled = int(share * _BAR)
    bar = Styled(_FULL * filled + _EMPTY * (_BAR - filled), style)
    figures = f" {_short(status.tokens)}/{_short(status.threshold)} tokens ({status.share:.0%})"
    line: list[Styled] = [bar, Styled(crop(figures, max(width - _BAR, 1)), style)]
    pieces: list[_Piece] = []
    if status.troubles:
        # Who failed and how, without the details that follow.
        words = clean(status.troubles[0])
        lead = GIVEN_UP if words.startswith(GIVEN_UP) else ""
        cause = _CLAUSE_END.split(words.removeprefix(lead), maxsplit=1)[0] or words
        head = crop(f"{lead}{cause.removesuffix('.')}", _HEADLINE)
        forms = (f"{head}, /status", head, "warning, /status", "warning", "!")
        pieces.append(_Piece(forms, "bold yellow"))
    if status.compacting:
        pieces.append(_Piece(("folding in the background",), "bold cyan"))
    elif status.undone:
        pieces.append(_Piece(("undone, /redo",), "cyan"))
    if footing.trouble:
        pieces.append(_Piece((footing.trouble,), "yellow"))
    if footing.cached is not None:
        pieces.append(_Piece((f"cache {footing.cached:.0%}",)))
    if footing.cost is not None:
        digits = 4 if footing.cost < 1 else 2
        pieces.append(_Piece((f"${footing.cost:.{digits}f}",)))
    if status.compactions:
        pieces.append(_Piece((f"folded {status.compactions}x",)))
    pieces.append(_Piece((clean(status.model) or "no model",)))
    pieces.append(_Piece((clean(status.title) or status.session,), least=_TITLE))
    for piece in pieces:
        room = width - sum(cells(span.text) for span in line) - len(_SEPARATOR)
        if words := piece.within(room):
            line.append(Styled(f"{_SEPARATOR}{words}", piece.style))
    return tuple(line)


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"


class LeaveChat(Exception):
    """The user wants to go."""


class ChatRoom:
    """One chat. Commands may move it to another conversation or another model."""

    def __init__(self, chats: Chats, chat: Conversation) -> None:
        """Take a seat in a conversation."""
        self.chats = chats
        self.chat = chat
        self.agent: Agent = chats.agent(chat)
        self.reader: PromptReader | None = None

    @property
    def view(self) -> OutputScreen:
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

    def footing(self) -> CostStatus:
        """Return what is known of cache and cost so far."""
        usage, memory = self.chat.usage, self.chats.memory
        cached = usage.cache_read_tokens / usage.prompt_tokens if usage.prompt_tokens else None
        troubled = memory is not None and bool(memory.status().trouble)
        return CostStatus(cached, usage.cost or None, "memory has trouble" if troubled else "")

    def status(self) -> Line:
        """Return the line below the prompt."""
        try:
            return status_line(self.chat.status(), self.footing(), self.view.width)
        except HoldfastError as error:
            return (Styled(crop(str(error), self.view.width), "bold red"),)


def model_line(chats: Chats) -> str:
    """Return who answers, and how much fits."""
    model = chats.model
    where = " on this machine" if model.endpoint == _LOCAL else ""
    if model.endpoint and not where:
        where = f" at {model.endpoint}"
    assumed = ", assumed: what it takes is not known" if chats.is_window_assumed else ""
    return f"{model.name}{where}, {chats.window:,} tokens{assumed}"


def memory_line(chats: Chats) -> str:
    """Return how memory is doing, in one line."""
    if chats.memory is None:
        return "Memory is off."
    status = chats.memory.status()
    who = f"Memory: files and {status.provider}." if status.provider else "Memory: files."
    return f"{who} {status.trouble}".rstrip()
