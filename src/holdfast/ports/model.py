"""A model to talk to and a summarizer, as ports: a request in, words or a record out."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from holdfast.summary import Ask
    from holdfast.wire import Body
    from holdfast.wire.tool_specs import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request."""

    body: Body
    """The conversation, in the model's own dialect. Its messages are shared: nobody changes one."""
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Spoken:
    """Words for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Words that the model says to itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer that arrived whole."""

    answer: Mapping[str, object]
    """The answer as the provider's JSON without streaming, usage included."""


Delta: TypeAlias = Spoken | Thought | Finished


class ChatModel(Protocol):
    """Answers a request, or raises a `holdfast.errors.ModelError`.

    An implementation makes one attempt and translates what went wrong; whoever talks decides
    about another.
    """

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    @property
    def dialect(self) -> str:
        """Return how its requests are written: `openai` or `anthropic`."""
        ...

    @property
    def endpoint(self) -> str:
        """Return where it is reached; empty for the provider's own address."""
        ...

    @property
    def context_length(self) -> int | None:
        """Return how many tokens it takes, if it is known."""
        ...

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes; the last value is `Finished`.

        Closing the generator ends the request.
        """
        ...


class Summarizer(Protocol):
    """Writes the text that an ask wants, or raises a `holdfast.errors.SummarizerError`.

    An implementation makes one attempt and translates what went wrong. Retries, cooldowns and
    the choice of another model belong to the engine, which sees the whole chain.
    """

    @property
    def name(self) -> str:
        """Return the name that reports and warnings use, such as the model's."""
        ...

    @property
    def window(self) -> int | None:
        """Return how many tokens a request and its answer may have together, if it is known."""
        ...

    def write(self, ask: Ask) -> str:
        """Return the answer to the prompt; called from any thread, often a fresh one."""
        ...

    async def awrite(self, ask: Ask) -> str:
        """Return the answer to the prompt without blocking the event loop."""
        ...
