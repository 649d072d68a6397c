"""One request to the model: from the window to an answer that is whole, or to the reason why not.

What streams is scrubbed of memory blocks and kept as a draft; what arrived whole is read, and only
then written to the log.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.agent.events import TextStreamed, ThinkingStreamed
from holdfast.memory.scrubber import Scrubber
from holdfast.ports import model as port

if TYPE_CHECKING:
    from holdfast.agent.drafts import Drafts
    from holdfast.ports import ChatModel, Prompt
    from holdfast.session import Usage

__all__ = ["Answer", "Caching", "Saying", "ask", "is_cut", "scrubbed"]

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
    for message in _messages(copy):
        words, thoughts = _slots(message)
        _scrub(words)
        _scrub(thoughts)
        for name in _REASONING:
            _scrub([(message, name)])
    return answer if copy == answer else copy


def _messages(answer: dict[str, object]) -> list[dict[str, object]]:
    """Return the messages of an answer: those of its choices, or the answer itself."""
    choices = _parts(answer.get("choices"))
    messages = [choice.get("message") for choice in choices] if choices else [answer]
    return [cast("dict[str, object]", each) for each in messages if isinstance(each, dict)]


def _slots(message: dict[str, object]) -> tuple[list[_Slot], list[_Slot]]:
    """Return where the words of a message stand, and where its unsealed thoughts do."""
    parts = _parts(message.get("content"))
    words = [(part, "text") for part in parts if part.get("type", "text") == "text"]
    thoughts = [
        (part, "thinking")
        for part in parts
        if part.get("type") == "thinking" and not part.get("signature")
    ]
    return [(message, "content"), *words, (message, "refusal")], thoughts


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
