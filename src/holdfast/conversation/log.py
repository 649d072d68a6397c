"""Adds what is said to the log; what is too large for the window is shown in part, stored whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from msgspec.structs import replace

from holdfast.compaction.prune import middle_out, pointer_to
from holdfast.conversation.decode_input import (
    decode_messages,
    id_of_call,
    reply_of,
    spoken,
    tool_answer,
    with_recalled,
)
from holdfast.conversation.window import PROMPT_KEY, bare_prompt, heading_of
from holdfast.errors import DecodeError, SessionEnded
from holdfast.keywords import names_checked
from holdfast.ports import Amendment
from holdfast.session import MESSAGE_ID_MARK, Draft, Entry, Usage
from holdfast.transcript import Role, Text, ToolResult, is_user_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.conversation.decode_input import Content
    from holdfast.conversation.live import LiveSession
    from holdfast.session import Window
    from holdfast.transcript import Message
    from holdfast.wire.reply import Reply

_SMALLEST = 200
"""Characters that stay of an output, whatever its limit."""


@names_checked
class MessageLog(Sequence[Entry]):
    """Everything that was said in a session, whatever the window shows; it only grows.

    Methods may be called from several threads. A message is accepted when the call returns: it
    is in the store then, also while a compaction is running.
    """

    def __init__(self, live: LiveSession) -> None:
        """Write to the session that is live at the time."""
        self._live = live

    def __repr__(self) -> str:
        """Return whose log it is."""
        return f"<MessageLog of {self._live.id}>"

    def add_user(self, content: Content | Message, *, recalled: str = "") -> Entry:
        """Add what the user said.

        Args:
            content: The user's words, or content parts.
            recalled: What memory says that bears on them. The model sees it before the words, in
                a block that says what it is; it is not stored, quoted or found as the user's.
        """
        said = spoken(Role.USER, content)
        return self.append(with_recalled(said, recalled) if recalled.strip() else said)[-1]

    def add_assistant(self, content: Content | Message) -> Entry:
        """Add what the model said."""
        return self.append(spoken(Role.ASSISTANT, content))[-1]

    def add_tool_result(
        self, call_id: object, content: Content | Message, *, name: str = "", is_error: bool = False
    ) -> Entry:
        """Add what a tool answered.

        An output over the tool's limit is shown in part; the store keeps it whole.

        Raises:
            DecodeError: when no call waits for it; the sentence names those that wait.
        """
        id_ = id_of_call(call_id)
        name = name or self._name_of(id_)
        answer = tool_answer(id_, content, name=name, is_error=is_error)
        with self._live.lock:
            self._check_waits(id_)
            return self.append((answer,))[-1]

    def add(self, messages: object, format: str = "") -> tuple[Entry, ...]:  # noqa: A002 - its name
        """Add a message or several as a provider writes them, all or none."""
        return self.append(decode_messages(messages, format))

    def add_response(self, response: object, usage: Usage | None = None) -> tuple[Reply, Usage]:
        """Add a model's answer with its usage, and return what was read from it."""
        reply = reply_of(response)
        reported = reply.usage if usage is None else usage
        self.append(reply.messages, reported)
        return reply, reported

    def set_system(self, prompt: Content | Message) -> None:
        """Set the system prompt; the same prompt again changes nothing.

        The first one is said in the log. A later one is shown in its place, and stays when a
        compaction is undone.
        """
        (message,) = spoken(Role.SYSTEM, prompt)
        live = self._live

        def set_prompt(window: Window) -> None:
            if not window.entries:
                self.append((message,))
                return
            if self.system != message.text.rstrip():
                live.amend(Amendment(metadata={PROMPT_KEY: message.text.rstrip()}))

        live.retry(set_prompt)

    @property
    def system(self) -> str:
        """Return the system prompt that is shown, as it was read last."""
        first = tuple(entry.message for entry in self._live.window.entries[:1])
        return heading_of(self._live.session).prompt or bare_prompt(first)

    def append(
        self,
        messages: Sequence[Message],
        usage: Usage = Usage(),  # noqa: B008 - a frozen value
    ) -> tuple[Entry, ...]:
        """Write messages to the session in which the conversation goes on, however it moves."""
        live = self._live
        with live.lock:
            names = {call.id: call.name for message in messages for call in message.calls}
            drafts = tuple(self._draft(message, names) for message in messages)
            while True:
                try:
                    entries = live.deps.store.append(live.id, drafts, usage)
                    break
                except SessionEnded:
                    if not live.follow_rotation():
                        raise
            live.wrote(entries)
            return entries

    def entries(self, after: int = 0) -> tuple[Entry, ...]:
        """Return what was said in this session after a position."""
        with self._live.lock:
            return self._live.deps.store.since(self._live.id, after)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, index: int | slice) -> Entry | tuple[Entry, ...]:
        """Return one of the entries, or some."""
        return self.entries()[index]

    def __iter__(self) -> Iterator[Entry]:
        """Go through the entries as they are now."""
        return iter(self.entries())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.entries())

    def _draft(self, message: Message, names: Mapping[str, str]) -> Draft:
        deps = self._live.deps

        def weigh(each: Message) -> int:
            return deps.engine.load((each,)).tokens

        def limit(result: ToolResult) -> int:
            # Few dialects name the tool in its result; it is looked up where it matters.
            named = result.name or names.get(result.call_id, "")
            if not named and deps.options.tool_limits.keys() - {"*"}:
                named = self._name_of(result.call_id)
            return deps.tool_limit(named)

        # Pins are kept beside the log, where they can be taken away again.
        pinned = message.pinned
        message = replace(message, pinned=False) if pinned else message
        short = shortened(message, limit, weigh, deps.redact)
        shown = short or message
        return Draft(
            message=shown,
            at=deps.clock.moment(),
            tokens=weigh(shown),
            whole=None if short is None else message,
            pinned=pinned,
        )

    def _check_waits(self, id_: str) -> None:
        """Refuse a result that no call waits for: no provider takes it, so no window shows it."""
        live = self._live
        waiting: Counter[str] = Counter()
        for message in live.refresh().transcript:
            waiting.update(call.id for call in message.calls)
            # Some servers give several calls one id; others begin anew with each answer.
            given = () if message.synthetic else message.results
            waiting.subtract(each.call_id for each in given if waiting[each.call_id])
        if waiting[id_] > 0:
            return
        if id_ in waiting:
            problem = f"call {id_!r} was answered already, and a call has one result"
        else:
            store = live.deps.store
            said = (store.since(each.id, 0) for each in store.lineage(live.id))
            if any(call.id == id_ for log in said for each in log for call in each.message.calls):
                # Its call was folded meanwhile: the log has them both.
                return
            problem = f"no call has the id {id_!r:.80}"
        names = ", ".join(repr(each) for each, count in waiting.items() if count > 0)
        hint = f"these wait for a result: {names}" if names else "no call waits for a result"
        raise DecodeError("tool result", "call_id", f"{problem}; {hint}")

    def _name_of(self, call_id: str) -> str:
        with self._live.lock:
            for entry in reversed(self._live.refresh().entries):
                for call in entry.message.calls:
                    if call.id == call_id:
                        return call.name
                if is_user_word(entry.message):
                    # A call is answered in its own turn; earlier ones are not looked at.
                    break
        return ""


def shortened(
    message: Message,
    limit: Callable[[ToolResult], int],
    count: Callable[[Message], int],
    redact: Callable[[str], str] = str,
) -> Message | None:
    """Return the message with its oversized results cut in the middle; None if all fit.

    Args:
        limit: The tokens that an output may take, by its tool.
        count: The tokens of a message.
        redact: Knows the secrets that no cut may part.
    """
    if not any(isinstance(part, ToolResult) for part in message.parts):
        return None

    def cut(result: ToolResult) -> ToolResult:
        # Most stand alone in their message, whose weight is wanted again.
        alone = message if len(message.parts) == 1 else replace(message, parts=(result,))
        weight, most = count(alone), limit(result)
        if weight <= most:
            return result
        content = tuple(
            replace(piece, text=_middle_out(piece.text, most / weight, redact))
            if isinstance(piece, Text)
            else piece
            for piece in result.content
        )
        return replace(result, content=content)

    parts = tuple(cut(part) if isinstance(part, ToolResult) else part for part in message.parts)
    return None if parts == message.parts else replace(message, parts=parts)


def _middle_out(text: str, share: float, redact: Callable[[str], str]) -> str:
    # The pointer itself takes room; a little more than needed is left out.
    pointer = pointer_to(MESSAGE_ID_MARK)
    room = max(int(len(text) * share * 0.95) - len(pointer) - 80, _SMALLEST)
    return middle_out(text, room, pointer, redact)
