"""The turn: what the user said, the model's answer, the tools that it asks for, and so on.

Everything is in the log before it is shown as done. A turn may be stopped at any moment: what was
said so far stays, and calls that were not answered are. A request to the model is made again after
a backoff; what streams is scrubbed of memory blocks and kept as a draft, and what arrived whole is
read before it is written to the log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.agent.events import (
    Answered,
    Done,
    Event,
    Retrying,
    Stopped,
    TextStreamed,
    ThinkingStreamed,
    ToolCallRequested,
    Warned,
    Watch,
    WindowCompacted,
)
from holdfast.agent.toolbox import Toolbox
from holdfast.conversation.waiting import wait
from holdfast.errors import ModelError, ModelOverflow, ModelUnavailable
from holdfast.memory.prompt_block import Scrubber
from holdfast.ports import Prompt
from holdfast.ports import model as port
from holdfast.session import Usage
from holdfast.session.lineage_reader import said_until
from holdfast.transcript import Role, is_user_word
from holdfast.wire.reply import read_reply

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Memory
    from holdfast.conversation import StoredConversation
    from holdfast.ports import ChatModel
    from holdfast.transcript import ToolCall
    from holdfast.wire.reply import Reply

STOPPED = "[stopped here by the user]"
CUT_OFF = "[the answer was cut off here]"

_EVERY = 1.0
"""Seconds between two writes."""


class Drafts:
    """Remembers what was spoken about once a second, until the answer is in the log."""

    def __init__(self, chat: StoredConversation, now: Callable[[], float]) -> None:
        """Begin with nothing spoken."""
        self._chat = chat
        self._now = now
        self._size = chat.session.size
        self._words: list[str] = []
        self._next = now() + _EVERY
        self._names: dict[str, None] = {}
        self._after: int | None = None

    @property
    def words(self) -> str:
        """Return what was spoken so far."""
        return "".join(self._words)

    def say(self, text: str) -> None:
        """Add words; now and then they are written down."""
        self._words.append(text)
        if self._now() < self._next:
            return
        self._next = self._now() + _EVERY
        if self._after is None:
            self._after = _newest(self._chat)
        # A compaction in the background may have moved the conversation to another id.
        name = _name(self._chat.id)
        self._names[name] = None
        draft = {"after": self._after, "words": self.words}
        self._chat.store.remember(name, json.dumps(draft))

    def restart(self) -> None:
        """Begin anew: what was spoken so far does not count."""
        self._words.clear()

    def is_recorded(self) -> bool:
        """Say whether an answer has reached the log since, so that the draft says nothing new."""
        fresh = self._chat.store.since(self._chat.id, self._size)
        return any(
            entry.message.role is Role.ASSISTANT and not entry.message.synthetic for entry in fresh
        )

    def clear(self) -> None:
        """Forget the draft: the words are in the log, or do not count."""
        for name in self._names:
            self._chat.store.remember(name, "")
        self._names.clear()
        self._words.clear()


def left_draft(chat: StoredConversation) -> str:
    """Return the words that a process left behind when it was killed, and forget them.

    A draft counts only while nothing was said after it began: otherwise its answer arrived, or
    the conversation went on without it.
    """
    session, store = chat.session, chat.store
    words = ""
    for id_ in filter(None, (session.id, session.parent)):
        name = _name(id_)
        kept = store.remembered(name)
        if not kept:
            continue
        draft = cast("dict[str, object]", json.loads(kept))
        if draft.get("after") == _newest(chat):
            words = words or str(draft.get("words", ""))
        if id_ == session.id or words:
            store.remember(name, "")
    return words


def _newest(chat: StoredConversation) -> int:
    """Return the id of the newest message, as it was said."""
    entries = chat.store.window(chat.id).entries
    return (entries[-1].stands_for or entries[-1].id) if entries else 0


def _name(id_: str) -> str:
    return f"draft:{id_}"


Answer: TypeAlias = Mapping[str, object]
Saying: TypeAlias = "Generator[TextStreamed | ThinkingStreamed, None, Answer]"
"""Yields words as they come, and returns the answer."""

_CUT = frozenset({"length", "max_tokens"})
_REASONING = ("reasoning_content", "reasoning")
_Slot: TypeAlias = tuple[dict[str, object], str]
"""Where a piece of text stands: the fields, and the name of one of them."""


class Caching(Protocol):
    """What a turn needs from whoever looks after the provider's prompt cache."""

    def prepare(self, prompt: Prompt) -> Prompt:
        """Return the request with its cache marks, and take note that it is sent now."""
        ...

    def settle(self, usage: Usage) -> Usage:
        """Compare what was expected of the newest request with what is reported for it.

        Returns the usage with its cost, where prices are known.
        """
        ...


def ask(model: ChatModel, prompt: Prompt, drafts: Drafts) -> Saying:
    """Stream an answer; words and thoughts that repeat recalled memory are left out.

    Raises:
        ModelError: when it did not arrive whole.
    """
    words, thoughts = Scrubber(), Scrubber()
    stream = model.stream(prompt)
    answer: Answer = {}
    try:
        for delta in stream:
            match delta:
                case port.Spoken(text):
                    if shown := words.push(text):
                        drafts.say(shown)
                        yield TextStreamed(shown)
                case port.Thought(text):
                    if shown := thoughts.push(text):
                        yield ThinkingStreamed(shown)
                case port.Finished(whole):
                    answer = whole
    finally:
        # Whoever stops listening stops the request.
        stream.close()
    if rest := thoughts.finish():
        yield ThinkingStreamed(rest)
    if rest := words.finish():
        drafts.say(rest)
        yield TextStreamed(rest)
    return scrubbed(answer)


def scrubbed(answer: Answer) -> Answer:
    """Return an answer whose words and thoughts repeat no recalled memory.

    A block may begin in one part of an answer and end in another, as it does in the stream. What
    the provider has sealed stays as it is: it would refuse a thought that was changed. Arguments
    of calls are not words.
    """
    if "<" not in str(answer):
        return answer
    copy = deepcopy(dict(answer))
    choices = _parts(copy.get("choices"))
    for each in [choice.get("message") for choice in choices] if choices else [copy]:
        if not isinstance(each, dict):
            continue
        message = cast("dict[str, object]", each)
        parts = _parts(message.get("content"))
        words = [(part, "text") for part in parts if part.get("type", "text") == "text"]
        thoughts = [
            (part, "thinking")
            for part in parts
            # What is sealed must stay as it is.
            if part.get("type") == "thinking" and not part.get("signature")
        ]
        _scrub([(message, "content"), *words, (message, "refusal")])
        _scrub(thoughts)
        for name in _REASONING:
            _scrub([(message, name)])
    return answer if copy == answer else copy


def _scrub(slots: list[_Slot]) -> None:
    """Scrub texts as one that was cut into these pieces."""
    scrubber = Scrubber()
    texts = [(fields, name) for fields, name in slots if isinstance(fields.get(name), str)]
    for place, (fields, name) in enumerate(texts, 1):
        shown = scrubber.push(str(fields[name]))
        fields[name] = shown + scrubber.finish() if place == len(texts) else shown


def _parts(value: object) -> list[dict[str, object]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def is_cut(answer: Answer) -> bool:
    """Say whether an answer ended at the limit of tokens, and not by itself."""
    choices = answer.get("choices")
    first: object = cast("list[object]", choices)[0] if isinstance(choices, list) and choices else 0
    if isinstance(first, Mapping):
        return cast("Mapping[str, object]", first).get("finish_reason") in _CUT
    return answer.get("stop_reason") in _CUT


_PAUSES = (1.0, 4.0)
"""Seconds before each further try, where the provider does not say."""
_LONGEST = 60.0
"""Seconds beyond which the user is told instead."""
_SHRINKS = 3


class Backoff:
    """Counts what went wrong while one answer was wanted."""

    def __init__(self) -> None:
        """Begin with nothing gone wrong."""
        self.overflows = 0
        self._failures = 0

    def may_shrink(self) -> bool:
        """Take note of a refusal for size; says whether to compact and try again."""
        self.overflows += 1
        return self.overflows <= _SHRINKS

    def pause(self, error: ModelUnavailable) -> float | None:
        """Take note of a failure; returns how long to wait, or None to give up.

        A provider that wants more than a minute is not waited for: the user decides.
        """
        if self._failures >= len(_PAUSES):
            return None
        usual = _PAUSES[self._failures]
        self._failures += 1
        wish = usual if error.retry_after is None else error.retry_after
        return wish if wish <= _LONGEST else None


Turn: TypeAlias = Generator[Event]
"""What happens in a turn, as it happens; closing it stops the turn."""

_NOT_RUN = "not run: the user stopped the turn"


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
        yield from self._rounds(lambda _: None)

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
        """Ask once; returns None when another try is worth it, after what that needs."""
        try:
            body = wait(self.chat.requested(self.model.dialect, shared=True))
            yield from self._watch.news()
            prompt = Prompt(body=body, tools=self.toolbox.specs, max_tokens=self.habits.max_tokens)
            if self.caching is not None:
                prompt = self.caching.prepare(prompt)
            answer = yield from ask(self.model, prompt, drafts)
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
        reply = read_reply(answer)
        usage = reply.usage if self.caching is None else self.caching.settle(reply.usage)
        # A message without any content is refused by providers when it is sent back.
        if any(message.calls or message.text.strip() for message in reply.messages):
            self.chat.add_response(answer, usage=usage)
        drafts.clear()
        return _Got(replace(reply, usage=usage), is_cut(answer))

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
