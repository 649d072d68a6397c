"""Any Python function from prompt to text as a summarizer, blocking or async."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.deadline import in_thread
from holdfast.errors import SummarizerMisread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.summary import Ask

    Writer: TypeAlias = Callable[[str], str] | Callable[[str], Awaitable[str]]

__all__ = ["CallableSummarizer"]


class CallableSummarizer:
    """Hands the prompt to a function and returns what it returns.

    Errors of the function pass through unchanged; the engine makes them failures. A function
    that knows more may raise a `holdfast.errors.SummarizerError` itself.
    """

    def __init__(self, write: Writer, *, name: str = "", window: int | None = None) -> None:
        """Wrap the function.

        Args:
            write: Takes the prompt, returns the answer or an awaitable of it.
            name: What reports call it; the function's own name if empty.
            window: Tokens that a prompt and its answer may have together, if there is a limit.
        """
        self._write = write
        self.name = name or getattr(write, "__name__", type(write).__name__)
        self.window = window

    def write(self, ask: Ask) -> str:
        """Return the function's answer; an async function runs in an event loop of its own."""
        answer = self._write(ask.prompt)
        if inspect.isawaitable(answer):
            import asyncio

            async def finished() -> object:
                return await answer

            return self._text(asyncio.run(finished()))
        return self._text(answer)

    async def awrite(self, ask: Ask) -> str:
        """Return the function's answer; a blocking function runs in a daemon thread."""
        called = getattr(self._write, "__call__", None)  # noqa: B004 - it may be an async __call__
        if inspect.iscoroutinefunction(self._write) or inspect.iscoroutinefunction(called):
            answer: object = self._write(ask.prompt)
        else:
            answer = await in_thread(lambda: self._write(ask.prompt), name=f"holdfast-{self.name}")
        if inspect.isawaitable(answer):
            answer = await cast("Awaitable[object]", answer)
        return self._text(answer)

    def _text(self, answer: object) -> str:
        if answer is None:
            return ""
        if not isinstance(answer, str):
            raise SummarizerMisread(f"returned {type(answer).__name__} instead of text")
        return answer
