"""The turn: what the user said, the model's answer, the tools that it asks for, and so on.

Everything is in the log before it is shown as done. A turn may be stopped at any moment: what was
said so far stays, and calls that were not answered are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.agent.asking import ask, is_cut
from holdfast.agent.backoff import Backoff
from holdfast.agent.drafts import CUT_OFF, STOPPED, Drafts, left_draft
from holdfast.agent.events import (
    Answered,
    Done,
    Event,
    Retrying,
    Stopped,
    ToolCallRequested,
    Warned,
    Watch,
    WindowCompacted,
)
from holdfast.agent.toolbox import Toolbox
from holdfast.conversation.effects import wait
from holdfast.errors import ModelError, ModelOverflow, ModelUnavailable
from holdfast.ports import Prompt
from holdfast.session import Usage
from holdfast.session.lineage_reader import said_until
from holdfast.transcript import is_user_word
from holdfast.wire.reply import read_reply

if TYPE_CHECKING:
    from holdfast.agent.asking import Answer, Caching
    from holdfast.agent.session_tools import Memory
    from holdfast.conversation import StoredConversation
    from holdfast.ports import ChatModel
    from holdfast.transcript import ToolCall
    from holdfast.wire.reply import Reply

__all__ = ["Agent", "Habits", "Turn"]

Turn: TypeAlias = Generator[Event]
"""What happens in a turn, as it happens; closing it stops the turn."""

_NOT_RUN = "not run: the user stopped the turn"


def _unheard(reply: str) -> None:
    del reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How an agent behaves."""

    max_tokens: int | None = None
    """The longest answer; by default what the model's adapter leaves room for."""
    most_rounds: int = 25
    """How often a model may ask for tools before the turn is ended."""
    sleep: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class _Got:
    """An answer that is in the log."""

    reply: Reply
    is_cut: bool


class Agent:
    """A conversation, a model and tools, joined to a loop.

    ```python
    for event in agent.turn("Where is the port set?"):
        match event:
            case Spoken(text):
                print(text, end="")
    ```
    """

    def __init__(
        self,
        chat: StoredConversation,
        model: ChatModel,
        toolbox: Toolbox | None = None,
        *,
        memory: Memory | None = None,
        caching: Caching | None = None,
        habits: Habits = Habits(),
    ) -> None:
        """Join the parts; nothing is sent yet."""
        self.chat = chat
        self.model = model
        self.toolbox = toolbox or Toolbox()
        self.memory = memory
        self.caching = caching
        self.habits = habits
        self._watch = Watch(chat)
        self._turns: int | None = None
        # Only what the model is offered may be named to it in a summary.
        chat.recall = self.toolbox.recall

    def turn(self, words: str) -> Turn:
        """Say something to the model, and yield what happens until it has answered."""
        self.resume_draft()
        recalled = ""
        if self.memory is not None:
            if self._turns is None:
                said = said_until(self.chat.store, self.chat.id)
                self._turns = sum(is_user_word(entry.message) for entry in said)
            self._turns += 1
            self.memory.begin_turn(words, self._turns)
            recalled = self.memory.recall(words)
        self.chat.add_user(words, recalled=recalled)

        def settle(reply: str) -> None:
            if self.memory is not None and reply.strip():
                self.memory.after_turn(words, reply)

        yield from self._rounds(settle)

    def answer(self) -> Turn:
        """Let the model answer what was said last, as after a turn that failed."""
        yield from self._rounds(_unheard)

    def news(self) -> Iterator[WindowCompacted | Warned]:
        """Yield what happened beside the turns since anybody was told, each thing once."""
        return self._watch.news()

    def resume_draft(self) -> str:
        """Keep what a killed process had streamed as the model's words, and return them."""
        words = left_draft(self.chat)
        if words.strip():
            self.chat.add_assistant(f"{words}\n{CUT_OFF}")
        return words

    def _rounds(self, settle: Callable[[str], None]) -> Turn:
        """Ask, run tools and ask again; the last words are settled before the turn is done."""
        usage = Usage()
        for _ in range(self.habits.most_rounds):
            got = yield from self._reply()
            if isinstance(got, Stopped):
                yield got
                return
            usage += got.reply.usage
            calls = [call for message in got.reply.messages for call in message.calls]
            if not calls:
                words = "\n\n".join(filter(None, (each.text for each in got.reply.messages)))
                if not words.strip():
                    yield Warned("the model answered with nothing")
                settle(words)
                yield from self._watch.news()
                yield Done(words, usage, is_cut=got.is_cut)
                return
            yield from self._run(calls)
        yield Stopped(
            f"the model asked for tools {self.habits.most_rounds} times in a row without an "
            "answer; say how to go on"
        )

    def _reply(self) -> Generator[Event, None, _Got | Stopped]:
        """Ask until there is an answer, or no point in asking again."""
        backoff, drafts = Backoff(), Drafts(self.chat, self.habits.now)
        try:
            while True:
                drafts.restart()
                got = yield from self._attempt(backoff, drafts)
                if got is not None:
                    return got
        except (GeneratorExit, KeyboardInterrupt):
            self._keep(drafts, STOPPED)
            raise

    def _attempt(
        self, backoff: Backoff, drafts: Drafts
    ) -> Generator[Event, None, _Got | Stopped | None]:
        """Ask once; returns nothing when it is worth another try, after what that needs."""
        try:
            answer = yield from self._ask(drafts)
        except ModelOverflow as error:
            if not backoff.may_shrink():
                return self._gave_up(error, drafts)
            yield Retrying(f"{error}; the window is compacted first")
            self.chat.recover(error, attempt=backoff.overflows)
            return None
        except ModelUnavailable as error:
            pause = backoff.pause(error)
            if pause is None:
                return self._gave_up(error, drafts)
            yield Retrying(str(error), pause)
            self.habits.sleep(pause)
            return None
        except ModelError as error:
            return self._gave_up(error, drafts)
        return _Got(self._record(answer, drafts), is_cut(answer))

    def _ask(self, drafts: Drafts) -> Generator[Event, None, Answer]:
        body = wait(self.chat.requested(self.model.dialect, shared=True))
        yield from self._watch.news()
        prompt = Prompt(body=body, tools=self.toolbox.specs, max_tokens=self.habits.max_tokens)
        if self.caching is not None:
            prompt = self.caching.prepare(prompt)
        return (yield from ask(self.model, prompt, drafts))

    def _record(self, answer: Answer, drafts: Drafts) -> Reply:
        reply = read_reply(answer)
        usage = reply.usage if self.caching is None else self.caching.settle(reply.usage)
        # A message without any content is refused by providers when it is sent back.
        if any(message.calls or message.text.strip() for message in reply.messages):
            self.chat.add_response(answer, usage=usage)
        drafts.clear()
        return replace(reply, usage=usage)

    def _run(self, calls: list[ToolCall]) -> Turn:
        """Run the tools that were asked for, one after the other."""
        waiting = list(calls)
        try:
            while waiting:
                yield ToolCallRequested(waiting[0])
                outcome = self.toolbox.answer(waiting[0])
                call = waiting.pop(0)
                self.chat.add_tool_result(
                    call.id, outcome.text, name=call.name, is_error=outcome.is_error
                )
                yield Answered(call, outcome.text, outcome.is_error)
        except (GeneratorExit, KeyboardInterrupt):
            for call in waiting:
                self.chat.add_tool_result(call.id, _NOT_RUN, name=call.name, is_error=True)
            raise

    def _gave_up(self, error: ModelError, drafts: Drafts) -> Stopped:
        self._keep(drafts, CUT_OFF)
        return Stopped(str(error), error)

    def _keep(self, drafts: Drafts, mark: str) -> None:
        """Keep what was spoken as the model's words, marked as less than an answer."""
        if drafts.words.strip() and not drafts.is_recorded():
            self.chat.add_assistant(f"{drafts.words}\n{mark}")
        drafts.clear()
