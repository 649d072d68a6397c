"""What a host has as a summarizer: a function from prompt to text, or its SDK's client.

Either may be blocking or async.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.deadline import in_thread
from holdfast.errors import ConfigError, DecodeError, SummarizerMisread
from holdfast.providers.stream_adapter import summarizer_errors
from holdfast.wire.reply import read_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from holdfast.summary import Ask

    Writer: TypeAlias = Callable[[str], str] | Callable[[str], Awaitable[str]]


class CallableSummarizer:
    """Hands the prompt to a function and returns what it returns.

    Errors of the function pass through unchanged; the engine makes them failures. A function
    that knows more may raise a `holdfast.errors.SummarizerError` itself.
    """

    def __init__(self, write: Writer, *, name: str = "", window: int | None = None) -> None:
        """Wrap the function.

        Args:
            write: Takes the prompt, returns the answer or an awaitable of it.
            name: What reports call it; the function's own name if empty.
            window: Tokens that a prompt and its answer may have together, if there is a limit.
        """
        self._write = write
        self.name = name or getattr(write, "__name__", type(write).__name__)
        self.window = window

    def write(self, ask: Ask) -> str:
        """Return the function's answer; an async function runs in an event loop of its own."""
        answer = self._write(ask.prompt)
        if inspect.isawaitable(answer):
            import asyncio

            async def finished() -> object:
                return await answer

            return self._text(asyncio.run(finished()))
        return self._text(answer)

    async def awrite(self, ask: Ask) -> str:
        """Return the function's answer; a blocking function runs in a daemon thread."""
        called = getattr(self._write, "__call__", None)  # noqa: B004 - it may be an async __call__
        if inspect.iscoroutinefunction(self._write) or inspect.iscoroutinefunction(called):
            answer: object = self._write(ask.prompt)
        else:
            answer = await in_thread(lambda: self._write(ask.prompt), name=f"holdfast-{self.name}")
        if inspect.isawaitable(answer):
            answer = await cast("Awaitable[object]", answer)
        return self._text(answer)

    def _text(self, answer: object) -> str:
        if answer is None:
            return ""
        if not isinstance(answer, str):
            raise SummarizerMisread(f"returned {type(answer).__name__} instead of text")
        return answer


class ClientSummarizer:
    """Asks a model through the client that the host talks with, with its address and credential."""

    def __init__(
        self, client: object, model: str, *, window: int | None = None, timeout: float = 120.0
    ) -> None:
        """Hold the client; nothing is sent yet.

        Args:
            client: A client of the OpenAI or the Anthropic SDK, or one that has their methods; an
                async one belongs to an `AsyncConversation`.
            model: The model's name at the provider.
            window: The model's window in tokens; learned from the first error that states it.
            timeout: Seconds of silence that errors speak of.

        Raises:
            ConfigError: when it is no such client, or no model is named.
        """
        completions = getattr(getattr(client, "chat", None), "completions", None)
        create = getattr(completions or getattr(client, "messages", None), "create", None)
        if not callable(create):
            raise ConfigError(
                f"client is a {type(client).__name__}; allowed: a client of the OpenAI or the "
                "Anthropic SDK, or a function from a model's name to a Summarizer"
            )
        if not model:
            raise ConfigError("client is given without a model; name the one that it is to ask")
        self.name = model
        self.window = window
        self._create: Callable[..., object] = create
        self._needs_limit = completions is None
        self._timeout = timeout

    def write(self, ask: Ask) -> str:
        """Return the model's answer."""
        with summarizer_errors(self, self._timeout):
            return CallableSummarizer(self._asking(ask), name=self.name).write(ask)

    async def awrite(self, ask: Ask) -> str:
        """Return the model's answer without blocking the event loop."""
        with summarizer_errors(self, self._timeout):
            return await CallableSummarizer(self._asking(ask), name=self.name).awrite(ask)

    def _asking(self, ask: Ask) -> Callable[[str], str]:
        limit = {"max_tokens": ask.max_tokens} if self._needs_limit else {}

        def written(prompt: str) -> str:
            messages = [{"role": "user", "content": prompt}]
            answer = self._create(model=self.name, messages=messages, **limit)
            if not inspect.isawaitable(answer):
                return _words_of(answer)

            async def awaited() -> str:
                return _words_of(await cast("Awaitable[object]", answer))

            # Whoever calls a function that may be async looks at what comes back.
            return cast("str", awaited())

        return written


def _words_of(answer: object) -> str:
    dump = cast("Callable[..., object] | None", getattr(answer, "model_dump", None))
    fields = dump(mode="json", exclude_unset=True) if dump else answer
    try:
        reply = read_reply(cast("Mapping[str, object]", fields))
    except (AttributeError, DecodeError) as error:
        raise SummarizerMisread(f"the client returned no answer: {error}") from None
    return "\n".join(message.text for message in reply.messages).strip()
