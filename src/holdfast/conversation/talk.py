"""Talking: what is said goes to the log, and the window that comes out of it always fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction.triggers import WARN_AT
from holdfast.conversation.found import Found, find
from holdfast.conversation.incoming import (
    check_dialect,
    reply_of,
    several,
    spoken,
    tool_answer,
    with_recalled,
)
from holdfast.conversation.keeping import Keeping
from holdfast.conversation.shortening import shortened
from holdfast.errors import HoldfastError, SessionEnded
from holdfast.memory.skills import own_words
from holdfast.ports import Amendment
from holdfast.session import Draft, Usage, title_from
from holdfast.transcript import Role, is_user_word
from holdfast.wire.message_list import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.conversation.incoming import Content
    from holdfast.session import Entry, Window
    from holdfast.transcript import Message
    from holdfast.wire import Body
    from holdfast.wire.message_list import Given
    from holdfast.wire.reply import Reply

__all__ = ["Talk"]


class Talk(Keeping):
    """A session to which messages are added, and whose window is kept within its limits.

    Methods may be called from several threads. A message is accepted when the call returns: it
    is in the store then, also while a compaction is running.
    """

    def user(self, content: Content | Message, *, recalled: str = "") -> int:
        """Add what the user said, and return the message's id.

        A session that grew past its hygiene threshold between turns is compacted before an agent
        sees it; what was said is in the store by then.

        Args:
            content: The user's words, or content parts.
            recalled: What memory says that bears on them. The model sees it before the words, in
                a block that says what it is; it is not stored, quoted or found as the user's.
        """
        said = spoken(Role.USER, content)
        written = self._append(with_recalled(said, recalled) if recalled.strip() else said)
        try:
            self._clean_up()
        except HoldfastError as error:
            # It is stored; whether it can be sent, `window` will say.
            self._warn(error)
        return written

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

    def extend(
        self,
        messages: Iterable[Given],
        dialect: str = AUTO,
        *,
        format: str = AUTO,  # noqa: A002
    ) -> int:
        """Add messages as a provider writes them, all or none; returns the last one's id.

        Args:
            messages: OpenAI chat messages, Responses items, Anthropic messages, Gemini contents.
            dialect: The same as `format`.
            format: The dialect of the messages, by default the one that they tell.
        """
        written = self._append(several(messages, dialect if format == AUTO else format))
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
        prompt = reported.prompt_tokens
        sent = self._pulse.sent or None
        warning = self.parts.engine.update_from_response(
            prompt, rough=sent, completion_tokens=reported.output_tokens
        )
        falls = prompt < WARN_AT * self.parts.engine.policy.threshold_tokens
        pressure = warning or ("" if falls else self._pulse.pressure)
        self._pulse = replace(self._pulse, prompt_tokens=prompt, pressure=pressure)
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
        check_dialect(dialect)
        self._preflight()
        with self._lock:
            self._refreshed()
            self._pulse = replace(self._pulse, sent=self._live.load.tokens)
            return self._live.body(dialect)

    def search(self, query: str, *, limit: int = 10) -> tuple[Found, ...]:
        """Search everything that was ever said in this store, compacted away or not.

        Plain words, `"phrases"`, `prefix*`, `AND`, `OR` and `NOT` work; any text is safe.
        """
        return find(self.parts.store, query, limit=limit, now=self.parts.clock.moment())

    def _append(self, messages: Sequence[Message], usage: Usage = Usage()) -> int:  # noqa: B008 - a frozen value
        with self._lock:
            drafts = tuple(map(self._draft, messages))
            entries = self._appended(drafts, usage)
            self._live.wrote(entries)
            return entries[-1].id if entries else 0

    def _appended(self, drafts: Sequence[Draft], usage: Usage) -> tuple[Entry, ...]:
        """Write to the session in which the conversation goes on, however often it moves."""
        while True:
            try:
                return self.parts.store.append(self.id, drafts, usage)
            except SessionEnded:
                if not self._moved_on():
                    raise

    def _draft(self, message: Message) -> Draft:
        def weigh(each: Message) -> int:
            return self.parts.engine.load((each,)).tokens

        # Pins are kept beside the log, where they can be taken away again.
        pinned = message.pinned
        message = replace(message, pinned=False) if pinned else message
        short = shortened(message, self.parts.tool_limit, weigh)
        shown = short or message
        at = self.parts.clock.moment()
        whole = None if short is None else message
        return Draft(message=shown, at=at, tokens=weigh(shown), whole=whole, pinned=pinned)

    def _after_reply(self) -> None:
        """Do what belongs between turns: a title for the conversation, a compaction ahead.

        What was said is stored by now, so nothing here may make the caller say it again.
        """
        try:
            self._look_after()
        except HoldfastError as error:
            self._warn(error)

    def _look_after(self) -> None:
        options, engine = self.parts.options, self.parts.engine
        goes_ahead = options.ahead_of_time and options.automatic
        if self._session.title and not goes_ahead:
            return
        with self._lock:
            window = self._refreshed()
            self._entitle(window)
            last = window.entries[-1].message if window.entries else None
            turn_is_over = last is not None and last.role is Role.ASSISTANT and not last.calls
            grown = engine.measure(self._live.load) >= engine.policy.ahead_tokens
        if turn_is_over and grown and goes_ahead:
            self._begin_ahead()

    def _entitle(self, window: Window) -> None:
        if self._session.title:
            return
        title = self.parts.redact(title_from(window.transcript, own_words))
        if title:
            self._session = self.parts.store.amend(self.id, Amendment(title=title))

    def _name_of(self, call_id: str) -> str:
        with self._lock:
            for entry in reversed(self._refreshed().entries):
                for call in entry.message.calls:
                    if call.id == call_id:
                        return call.name
                if is_user_word(entry.message):
                    # A call is answered in its own turn; earlier ones are not looked at.
                    break
        return ""
