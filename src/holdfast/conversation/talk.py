"""Talking: what is said goes to the log, and the window that comes out of it always fits."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.compaction import Request
from holdfast.conversation.background import Background
from holdfast.conversation.compacting import Order, compact
from holdfast.conversation.incoming import reply_of, spoken, tool_answer
from holdfast.conversation.shortening import shortened
from holdfast.conversation.window import LiveWindow
from holdfast.errors import SessionEnded
from holdfast.ports import Amendment
from holdfast.session import Draft, EndReason, Usage, latest_leaf, title_from
from holdfast.transcript import Role
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.compaction import CompactionReport
    from holdfast.conversation.incoming import Content
    from holdfast.conversation.parts import Parts
    from holdfast.session import Session, Window
    from holdfast.transcript import Message
    from holdfast.wire.reply import Reply

__all__ = ["Talk"]

_OPENING = 6
"""The title is made while the conversation has at most this many entries."""


@dataclass(frozen=True, slots=True)
class _Pulse:
    """What the newest answers taught."""

    prompt_tokens: int = 0
    warning: str = ""


class Talk:
    """A session to which messages are added, and whose window is kept within its limits.

    Methods may be called from several threads. A message is accepted when the call returns: it
    is in the store then, also while a compaction is running.
    """

    def __init__(self, parts: Parts, session: Session) -> None:
        """Hold the parts; nothing is read before it is asked for."""
        self.parts = parts
        self._session: Session = session
        self._live = LiveWindow(parts.store, parts.engine, session.id)
        self._lock = threading.RLock()
        self._passing = threading.Lock()
        self._background = Background()
        self._pulse = _Pulse()

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self._session.id

    def user(self, content: Content | Message) -> int:
        """Add what the user said, and return the message's id.

        A session that grew past its hygiene threshold between turns is compacted first.
        """
        self._clean_up()
        return self._append(spoken(Role.USER, content))

    def assistant(self, content: Content | Message) -> int:
        """Add what the model said, and return the message's id."""
        written = self._append(spoken(Role.ASSISTANT, content))
        self._after_reply()
        return written

    def tool(
        self, call_id: str, content: Content | Message, *, name: str = "", is_error: bool = False
    ) -> int:
        """Add what a tool answered, and return the message's id.

        An output over the tool's limit is shown in part; the store keeps it whole.
        """
        name = name or self._name_of(call_id)
        answer = tool_answer(call_id, content, name=name, is_error=is_error)
        return self._append((answer,))

    def extend(self, messages: Sequence[Mapping[str, object]], dialect: str = "openai") -> int:
        """Add messages as a provider writes them, all or none; returns the last one's id."""
        decoded = DIALECTS[dialect].decode(Body([dict(message) for message in messages]))
        written = self._append(decoded)
        self._after_reply()
        return written

    def record(self, answer: object, *, usage: Usage | None = None) -> Reply:
        """Add a model's answer with its usage, and return what was read from it.

        Args:
            answer: What an SDK returned (OpenAI chat or Responses, Anthropic, Gemini), its JSON, a
                message, or the words of a stream that has ended.
            usage: What the provider reported, where the answer does not say.
        """
        reply = reply_of(answer)
        reported = reply.usage if usage is None else usage
        self._append(reply.messages, reported)
        prompt = reported.input_tokens + reported.cache_read_tokens + reported.cache_write_tokens
        warning = self.parts.engine.update_from_response(prompt)
        self._pulse = _Pulse(prompt, warning or self._pulse.warning)
        self._after_reply()
        return reply

    def window(self) -> list[dict[str, object]]:
        """Return what to send now, as OpenAI chat messages.

        The list is the caller's; it begins with the same bytes from call to call, until a
        compaction.
        """
        return self.body().messages

    def body(self, dialect: str = "openai") -> Body:
        """Return what to send now in any dialect: `openai`, `responses`, `anthropic`, `gemini`.

        Where the window is due, it is compacted first, or in the background if it still fits.
        """
        self._preflight()
        with self._lock:
            self._refreshed()
            return self._live.body(dialect)

    def compress(self, focus: str = "") -> CompactionReport:
        """Compact now, whatever the size; `focus` names what deserves most of the record."""
        return self._compact(Order("manual", Request(focus=focus, force=True)))

    def recover(self, error: object, *, attempt: int = 1) -> CompactionReport:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        A true window that the error states is remembered for the model and its endpoint.
        """
        engine = self.parts.engine
        with self._lock:
            self._refreshed()
            before = engine.policy.context_length
            aim = engine.recovery(self._live.load, str(error), attempt)
        if engine.policy.context_length < before:
            self.parts.store.remember(self._window_name(), str(engine.policy.context_length))
        return self._compact(Order("recovery", Request(force=True, policy=aim)))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a compaction in the background; says whether none is left running."""
        return self._background.wait(timeout)

    def _append(self, messages: Sequence[Message], usage: Usage = Usage()) -> int:  # noqa: B008 - a frozen value
        with self._lock:
            drafts = tuple(map(self._draft, messages))
            try:
                entries = self.parts.store.append(self.id, drafts, usage)
            except SessionEnded:
                if not self._moved_on():
                    raise
                entries = self.parts.store.append(self.id, drafts, usage)
            self._live.wrote(entries)
            return entries[-1].id if entries else 0

    def _draft(self, message: Message) -> Draft:
        def weigh(each: Message) -> int:
            return self.parts.engine.load((each,)).tokens

        short = shortened(message, self.parts.tool_limit, weigh)
        shown = short or message
        at = self.parts.clock.moment()
        whole = None if short is None else message
        return Draft(message=shown, at=at, tokens=weigh(shown), whole=whole)

    def _moved_on(self) -> bool:
        """Follow a rotation that another process made; says whether there was one."""
        stored = self.parts.store.session(self.id)
        if stored.end_reason is not EndReason.COMPRESSION:
            return False
        leaf = latest_leaf(self.parts.store.lineage(self.id), self.id)
        self._adopt(leaf)
        return leaf.is_live

    def _adopt(self, session: Session) -> None:
        if session.id != self._session.id:
            self._live = LiveWindow(self.parts.store, self.parts.engine, session.id)
        self._session = session

    def _refreshed(self) -> Window:
        self._session = self.parts.store.session(self._session.id)
        if self._session.end_reason is EndReason.COMPRESSION:
            self._moved_on()
        return self._live.refresh(self._session.goal)

    def _preflight(self) -> None:
        if not self._is_due():
            return
        if self.parts.options.ahead_of_time or self._background.is_running:
            if self._fits():
                self._begin_ahead()
                return
            self._background.wait()
            if not self._is_due():
                return
        elif self._is_undone() and self._fits():
            return
        engine = self.parts.engine
        real = self._pulse.prompt_tokens >= engine.policy.threshold_tokens
        self._compact(Order("in_loop" if real else "preflight"))

    def _is_due(self) -> bool:
        with self._lock:
            self._refreshed()
            due = self.parts.engine.is_due(self._live.load)
        return due and self.parts.options.automatic

    def _fits(self) -> bool:
        """Say whether the request would still be accepted as it is."""
        policy, load = self.parts.engine.policy, self._live.load
        return (
            self.parts.engine.expected_tokens <= policy.limit_tokens
            and load.bytes <= policy.max_bytes
            and load.images <= policy.max_images
        )

    def _is_undone(self) -> bool:
        """Say whether the user took a compaction back: the next one waits until it must be."""
        return self._live.window.head.view != self.parts.store.tip(self.id)

    def _clean_up(self) -> None:
        if not self.parts.options.automatic:
            return
        with self._lock:
            window = self._refreshed()
            engine = self.parts.engine
            due = engine.is_hygiene_due(self._live.load, len(window.entries))
            waits = self._background.is_running or (self._is_undone() and self._fits())
        if due and not waits:
            self._compact(Order("hygiene"))

    def _after_reply(self) -> None:
        """Do what belongs between turns: a title for the conversation, a compaction ahead."""
        with self._lock:
            window = self._refreshed()
            self._entitle(window)
            last = window.entries[-1].message if window.entries else None
            turn_is_over = last is not None and last.role is Role.ASSISTANT and not last.calls
            options, engine = self.parts.options, self.parts.engine
            self.parts.engine.is_due(self._live.load)
            grown = engine.expected_tokens >= engine.policy.ahead_tokens
        if turn_is_over and grown and options.ahead_of_time and options.automatic:
            self._begin_ahead()

    def _begin_ahead(self) -> None:
        if not self._is_undone():
            self._background.start(lambda: self._compact(Order("ahead_of_time")))

    def _entitle(self, window: Window) -> None:
        if self._session.title or len(window.entries) > _OPENING:
            return
        title = self.parts.redact(title_from(window.transcript))
        if title:
            self._session = self.parts.store.amend(self.id, Amendment(title=title))

    def _compact(self, order: Order) -> CompactionReport:
        with self._passing:
            with self._lock:
                window = self._refreshed()
                session = self._session
            done = compact(self.parts, session, window, order)
            with self._lock:
                self._adopt(done.session)
                self._refreshed()
        return done.report

    def _name_of(self, call_id: str) -> str:
        with self._lock:
            for entry in reversed(self._live.window.entries):
                for call in entry.message.calls:
                    if call.id == call_id:
                        return call.name
        return ""

    def _window_name(self) -> str:
        options = self.parts.options
        return f"window:{options.endpoint}:{options.model}"
