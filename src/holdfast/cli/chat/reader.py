"""Where the user's words come from: a pipe or a rehearsal here, a terminal in `terminal`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Lines", "Reader"]


class Reader(Protocol):
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


class Lines:
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
