"""The lines of a Codex rollout while it is written: their envelope, turns, costs, and window.

Resuming divides a file by its turns, lists it by its first prompt, and shows what the events of
the screen repeat. What a reader of the lines would get wrong is written into a note beside them,
and nothing else is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.codex.items import (
    NOTED,
    AnswerTracker,
    RolloutWindow,
    about_of,
    is_prompt,
    texts_of,
)
from holdfast.formats.documents import dump
from holdfast.formats.events import About
from holdfast.formats.json_access import JsonObject, iso
from holdfast.formats.reader import KeyAllocator, Style, derived_uuid, is_uuid
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.codex.writer import RolloutItem

_STYLE = Style(None, compact=True)
_EARLIEST = 946_684_800_000
"""The first moment of the year 2000, for a session that nobody knows the time of."""
_STEP = 1000
_NOTHING: JsonObject = {}


class RolloutWriter:
    """Writes the lines of a rollout, with their numbers and times."""

    def __init__(self) -> None:
        """Begin an empty file."""
        self.about = About()
        self.count = 0
        """How many lines were written."""
        self._now: int | None = None

    @property
    def id(self) -> str:
        """Return the id of the session, which is a UUID in Codex."""
        known = self.about.id
        return known if is_uuid(known) else derived_uuid(f"session {known}")

    def tick(self, at: int | None) -> None:
        """Go on to the time of what is written next; one that is unknown is a little later."""
        start = self.about.started or _EARLIEST
        self._now = at if at is not None else (start if self._now is None else self._now + _STEP)

    def time_note(self, at: int | None) -> dict[str, object]:
        """Return the time of something that stands on a line with another time."""
        return {} if at is None or at == self._now else {"at": iso(at)}

    def line(self, kind: str, payload: JsonObject, note: JsonObject = _NOTHING) -> str:
        """Return a line."""
        if self._now is None:
            self.tick(None)
        self.count += 1
        entry: dict[str, object] = {
            "timestamp": iso(self._now or _EARLIEST),
            "type": kind,
            "payload": payload,
        }
        return dump(entry | {"holdfast": note} if note else entry, _STYLE)

    def meta(self, instructions: str, at: int | None, note: JsonObject) -> str:
        """Return the first line of the file."""
        self.tick(at if at is not None else self.about.started)
        about, more = self.about, self.about.more
        is_native = isinstance(more.get("originator"), str)
        payload: dict[str, object] = {
            "id": self.id,
            "timestamp": iso(about.started or _EARLIEST),
            "cwd": about.cwd or "/",
            "originator": more["originator"] if is_native else "holdfast",
            "cli_version": (about.version if is_native else "") or "0.0.0",
            "source": more["source"] if is_native and "source" in more else "cli",
        }
        if "model_provider" in more:
            # Codex refuses a session of another provider than its user's, and takes one of none.
            payload["model_provider"] = more["model_provider"]
        git = more.get("git")
        if is_native and isinstance(git, dict):
            payload["git"] = git
        elif about.git_branch:
            payload["git"] = {"branch": about.git_branch}
        if about.fork is not None and is_uuid(about.parent):
            is_task = about.fork is Fork.DELEGATION
            payload["parent_thread_id" if is_task else "forked_from_id"] = about.parent
        if instructions:
            payload["base_instructions"] = {"text": instructions}
        beside = dict(note)
        # What a reader of the first line would not know, or get wrong.
        about = self.about
        read = about_of(payload, {}, None)
        unsaid: dict[str, object] = {
            name: getattr(about, name)
            for name in NOTED
            if getattr(about, name) != getattr(read, name)
        }
        if about.fork is not read.fork and about.fork is not None:
            unsaid["fork"] = str(about.fork)
        if unsaid:
            beside["about"] = unsaid
        return self.line("session_meta", payload, beside)


class ReaderEcho:
    """Simulates how a reader names messages and answers, while a rollout is written."""

    def __init__(self) -> None:
        """Begin with an empty file."""
        self.window = RolloutWindow()
        self._keys = KeyAllocator()
        self._replies = AnswerTracker()
        self._answers: dict[str, str] = {}
        """The answers that were told, with the names that a reader gives them."""
        self._written: dict[str, list[tuple[str, JsonObject | None]]] = {}
        """The messages that were told, with the names and the items that stand for them."""
        self._fixed = 0
        """How many messages were shown right after the last compaction."""

    def hear(self, told: str, id: str, line: int, message: Message) -> None:  # noqa: A002
        """Take in a message that stands on a line without an item."""
        key = self._keys.take(id, line)
        self.window.add(key, message)
        self._written[told] = [(key, None)]

    def take(self, told: str, piece: RolloutItem, line: int, answer: str) -> dict[str, object]:
        """Take in one item, and return what has to be noted beside it.

        Args:
            told: the name of the message that the item is of.
            piece: the item.
            line: where it is about to stand.
            answer: the answer that it belongs to; empty for one of its own.
        """
        note = dict(piece.note)
        item = piece.item
        named = None if item is None else item.get("id")
        own = named if isinstance(named, str) else ""
        if piece.id and piece.id != own:
            note["id"] = piece.id
        key = self._keys.take(piece.id or own, line)
        noted: str | None = None
        if piece.message.role is Role.ASSISTANT:
            known = self._answers.get(answer, "") if answer else ""
            if self._replies.joins(piece.message) != known:
                noted = note["reply"] = known
        reply = self._replies.take(piece.message, noted)
        if answer and reply:
            self._answers.setdefault(answer, reply)
        self.window.add(key, piece.message)
        self._written.setdefault(told, []).append((key, piece.item))
        return note

    def close(self) -> None:
        """End the answer that was written last."""
        self._replies.close()

    def written(self, told: str) -> list[tuple[str, JsonObject | None]]:
        """Return what stands for a message: the names that a reader gives, and the items."""
        return self._written.get(told, [])

    def turns_after(self, shown: tuple[str, ...]) -> int:
        """Return how many turns Codex has to take back so that only these messages are left.

        It is 0 where that cannot be said so: a compaction is not taken back by turns.
        """
        if len(shown) < self._fixed:
            return 0
        count = self.window.prompts_after(len(shown))
        return count if self.window.without_turns(count) == shown else 0

    def show(self, keys: Iterable[str]) -> None:
        """Take in that the model sees these messages and no others."""
        self._fixed = len(self.window.show(keys))
        self.close()


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


class TurnWriter:
    """Opens and closes turns around what is written."""

    def __init__(self, page: RolloutWriter, echo: ReaderEcho) -> None:
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
            self._count += 1
            self._turn = _Turn(derived_uuid(f"turn {self._count} of {self._page.id}"))
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
