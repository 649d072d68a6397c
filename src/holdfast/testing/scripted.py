"""A summarizer whose answers are written down in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.summary import Ask

__all__ = ["ScriptedSummarizer"]


class ScriptedSummarizer:
    """Answers from a list: a text is returned, an exception is raised.

    Every ask is kept in `asks`. Being asked more often than the script foresees is an
    `AssertionError`, so that a test notices a call that should not have been made.
    """

    def __init__(
        self,
        answers: Iterable[str | Exception],
        *,
        name: str = "scripted",
        window: int | None = None,
    ) -> None:
        """Learn the answers, in the order in which they are given."""
        self.name = name
        self.window = window
        self.asks: list[Ask] = []
        self._answers = list(answers)

    def write(self, ask: Ask) -> str:
        """Return or raise the next answer of the script."""
        self.asks.append(ask)
        if not self._answers:
            raise AssertionError(f"{self.name} was asked {len(self.asks)} times, once too often")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def awrite(self, ask: Ask) -> str:
        """Return or raise the next answer of the script."""
        return self.write(ask)
