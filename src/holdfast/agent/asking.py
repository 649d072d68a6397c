"""One request to the model: from the window to an answer that is whole, or to the reason why not.

What streams is scrubbed of memory blocks and kept as a draft; what arrived whole is read, and only
then written to the log.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.agent.events import Spoken, Thought
from holdfast.memory.scrubber import Scrubber, scrub
from holdfast.ports import model as port
from holdfast.wire.recalled import TAG

if TYPE_CHECKING:
    from holdfast.agent.drafts import Drafts
    from holdfast.ports import ChatModel, Prompt
    from holdfast.session import Usage

__all__ = ["Answer", "Caching", "Saying", "ask", "is_cut", "scrubbed"]

Answer: TypeAlias = Mapping[str, object]
Saying: TypeAlias = "Generator[Spoken | Thought, None, Answer]"
"""Yields words as they come, and returns the answer."""

_CUT = frozenset({"length", "max_tokens"})


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
    """Stream an answer; words that repeat recalled memory are left out.

    Raises:
        ModelError: when it did not arrive whole.
    """
    scrubber = Scrubber()
    stream = model.stream(prompt)
    answer: Answer = {}
    try:
        for delta in stream:
            match delta:
                case port.Spoken(text):
                    if shown := scrubber.push(text):
                        drafts.say(shown)
                        yield Spoken(shown)
                case port.Thought(text):
                    yield Thought(text)
                case port.Finished(whole):
                    answer = whole
    finally:
        # Whoever stops listening stops the request.
        stream.close()
    if rest := scrubber.finish():
        drafts.say(rest)
        yield Spoken(rest)
    return scrubbed(answer)


def scrubbed(answer: Answer) -> Answer:
    """Return an answer whose words repeat no recalled memory."""
    if TAG not in str(answer).lower():
        return answer
    return cast("Answer", _without_memory(answer))


def _without_memory(value: object, name: str = "") -> object:
    if isinstance(value, str):
        return scrub(value) if name in ("content", "text") else value
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {key: _without_memory(each, key) for key, each in fields.items()}
    if isinstance(value, list):
        return [_without_memory(each, name) for each in cast("list[object]", value)]
    return value


def is_cut(answer: Answer) -> bool:
    """Say whether an answer ended at the limit of tokens, and not by itself."""
    choices = answer.get("choices")
    first: object = cast("list[object]", choices)[0] if isinstance(choices, list) and choices else 0
    if isinstance(first, Mapping):
        return cast("Mapping[str, object]", first).get("finish_reason") in _CUT
    return answer.get("stop_reason") in _CUT
