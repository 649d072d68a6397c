"""Writes what Codex puts around the items of a rollout: turns, models, costs, and the screen.

Resuming divides a file by its turns, lists it by its first prompt, and shows what the events of
the screen repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.codex.items import is_prompt, texts_of
from holdfast.formats.derived import derived_uuid
from holdfast.session import Usage
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.chronicle import About
    from holdfast.formats.codex.echo import Echo
    from holdfast.formats.codex.page import Page
    from holdfast.transcript import Message

__all__ = ["Turns"]


@dataclass(frozen=True, slots=True)
class _Due:
    """What an answer cost, until the answer is over."""

    usage: Usage
    answer: str


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn while it is written."""

    id: str
    said: str = ""
    """What the model said last in it."""


class Turns:
    """Opens and closes turns around what is written."""

    def __init__(self, page: Page, echo: Echo) -> None:
        """Write on a page, before the first turn."""
        self._page = page
        self._echo = echo
        self._model = ""
        self._turn: _Turn | None = None
        self._count = 0
        self._due: _Due | None = None
        self._spent = Usage()

    def note(self, about: About) -> Iterator[str]:
        """Write what became known of the session."""
        if about.title:
            yield self._event(
                "thread_name_updated", thread_id=self._page.id, thread_name=about.title
            )
        self._model = about.model or self._model

    def before(self, message: Message, model: str, answer: str) -> Iterator[str]:
        """Write what stands before an item."""
        if message.role is not Role.ASSISTANT or self._due is None or self._due.answer != answer:
            yield from self.pay()
        if is_prompt(message):
            yield from self.end()
        if self._turn is None:
            self._turn = self._next()
            yield self._event("task_started", turn_id=self._turn.id, model_context_window=None)
            if self._model:
                yield self._context(self._turn)
        if message.role is not Role.ASSISTANT:
            return
        if model and model != self._model:
            self._model = model
            yield self._context(self._turn)
        texts = [text for text in texts_of(message) if text]
        if texts:
            self._turn = replace(self._turn, said=texts[-1])
        for text in texts:
            yield self._event("agent_message", message=text)

    def after(self, message: Message) -> Iterator[str]:
        """Write what stands after an item."""
        if is_prompt(message):
            said = "".join(texts_of(message))
            yield self._event(
                "user_message", message=said, images=[], local_images=[], text_elements=[]
            )

    def owe(self, usage: Usage, answer: str) -> None:
        """Remember what the answer cost that is being written."""
        self._due = _Due(usage, answer)

    def pay(self) -> Iterator[str]:
        """Write what the last answer cost."""
        if self._due is None:
            return
        usage, self._due = self._due.usage, None
        before, self._spent = self._spent, self._spent + usage
        last, total = _counts(usage), _counts(self._spent)
        note: dict[str, object] = {}
        if usage.calls != 1 or usage.cost or _counts(before) == total:
            note["usage"] = [{**last, "calls": usage.calls}, usage.cost]
        counts = {
            "total_token_usage": total,
            "last_token_usage": last,
            "model_context_window": None,
        }
        payload = {"type": "token_count", "info": counts, "rate_limits": None}
        yield self._page.line("event_msg", payload, note)
        self._echo.close()

    def end(self) -> Iterator[str]:
        """Close the turn that is open."""
        yield from self.pay()
        if self._turn is not None:
            said = self._turn.said or None
            yield self._event("task_complete", turn_id=self._turn.id, last_agent_message=said)
            self._turn = None

    def _next(self) -> _Turn:
        self._count += 1
        return _Turn(derived_uuid(f"turn {self._count} of {self._page.id}"))

    def _context(self, turn: _Turn) -> str:
        # Nobody knows any more what was allowed; on resuming, the user's settings count.
        payload = {
            "turn_id": turn.id,
            "cwd": self._page.about.cwd or "/",
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "read-only"},
            "model": self._model,
            "summary": "auto",
        }
        return self._page.line("turn_context", payload)

    def _event(self, kind: str, **fields: object) -> str:
        return self._page.line("event_msg", {"type": kind, **fields})


def _counts(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.prompt_tokens,
        "cached_input_tokens": usage.cache_read_tokens,
        "cache_write_input_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_output_tokens": 0,
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
    }
