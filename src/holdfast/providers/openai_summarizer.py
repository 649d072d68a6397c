"""Models behind the OpenAI chat completions API, OpenAI's own or any server that speaks it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from holdfast.errors import (
    ConfigError,
    MissingExtra,
    SummarizerError,
    SummarizerMisread,
    SummarizerUnavailable,
)
from holdfast.providers.openai_habits import OpenAIHabits
from holdfast.providers.provider_errors import broken_connection, rejection, said
from holdfast.tokens import window_from_error
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from openai import APIStatusError

    from holdfast.summary import Ask

__all__ = ["OpenAISummarizer"]

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NO_KEY = "none"


class _LimitRefused(SummarizerError):
    """The server knows the token limit by its other name."""


class OpenAISummarizer:
    """Writes with one chat completion per ask, through the official SDK.

    A client lives for one call, so that a summarizer can be used from any thread and any event
    loop. The SDK's own retries are off: the engine decides who is asked next.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 120.0,
        window: int | None = None,
        options: Mapping[str, object] | None = None,
    ) -> None:
        """Describe the model; nothing is imported and nothing is sent yet.

        Args:
            model: The model's name at the provider.
            api_key: The credential. Without one the SDK looks in its environment variables,
                but only for OpenAI itself: a key for OpenAI is never sent to another server.
            base_url: Where a compatible server listens, such as `http://127.0.0.1:8080/v1`.
            timeout: Seconds after which the SDK gives up, so that no thread waits for ever.
            window: The model's window in tokens; learned from the first error that states it.
            options: More fields of the request, such as `{"reasoning_effort": "low"}`.
        """
        if find_spec("openai") is None:
            raise MissingExtra("a summary by an OpenAI-compatible model", "openai")
        self.name = model
        self.window = window
        self._key = _NO_KEY if base_url and not api_key else api_key
        self._url = base_url
        self._timeout = timeout
        self._options = dict(options or {})
        self._habits = OpenAIHabits(base_url)

    def write(self, ask: Ask) -> str:
        """Return the model's answer."""
        try:
            return self._write(ask)
        except _LimitRefused:
            return self._write(ask)

    async def awrite(self, ask: Ask) -> str:
        """Return the model's answer without blocking the event loop."""
        try:
            return await self._awrite(ask)
        except _LimitRefused:
            return await self._awrite(ask)

    def _write(self, ask: Ask) -> str:
        with self._translated():
            from openai import OpenAI

            with OpenAI(
                api_key=self._key, base_url=self._url, timeout=self._timeout, max_retries=0
            ) as client:
                completion = client.chat.completions.create(
                    model=self.name,
                    messages=[{"role": "user", "content": encodable(ask.prompt)}],
                    extra_body=self._fields(ask),
                )
            return _read(completion, ask.max_tokens)

    async def _awrite(self, ask: Ask) -> str:
        with self._translated():
            from openai import AsyncOpenAI

            async with AsyncOpenAI(
                api_key=self._key, base_url=self._url, timeout=self._timeout, max_retries=0
            ) as client:
                completion = await client.chat.completions.create(
                    model=self.name,
                    messages=[{"role": "user", "content": encodable(ask.prompt)}],
                    extra_body=self._fields(ask),
                )
            return _read(completion, ask.max_tokens)

    def _fields(self, ask: Ask) -> dict[str, object]:
        return {self._habits.limit: ask.max_tokens, **self._options}

    @contextmanager
    def _translated(self) -> Generator[None]:
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise self._rejected(error) from error
        except openai.APITimeoutError as error:
            raise SummarizerUnavailable(f"no answer within {self._timeout:g} s") from error
        except openai.APIConnectionError as error:
            raise broken_connection(error) from error
        except openai.APIError as error:
            raise SummarizerMisread(str(error)) from error
        except openai.OpenAIError as error:
            # What the SDK raises before it sends anything: no credential was found.
            raise ConfigError(f"model {self.name}: {error}") from error
        except ValueError as error:
            # The SDK lets the JSON reader's own error through.
            raise SummarizerMisread(f"the answer is not JSON: {error}") from error

    def _rejected(self, error: APIStatusError) -> SummarizerError:
        sentence = said(error.body, error.message)
        if self._habits.learn(error.status_code, sentence):
            return _LimitRefused(sentence)
        if error.status_code in {400, 413, 422}:
            self.window = window_from_error(f"{sentence} {error.body}") or self.window
        return rejection(error.status_code, sentence, error.response.headers)


def _read(completion: object, limit: int) -> str:
    """Return the words of a completion, whatever a server made of the format.

    The SDK does not check what it decodes, so a compatible server's answer may lack anything.
    """
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise SummarizerMisread("the answer has no choices")
    choice: object = cast("list[object]", choices)[0]
    message = getattr(choice, "message", None)
    text = _words(getattr(message, "content", None)) or _words(getattr(message, "refusal", None))
    text = _THOUGHTS.sub("", text, count=1)
    if not text.strip() and getattr(choice, "finish_reason", None) == "length":
        raise SummarizerMisread(
            f"the model spent its {limit} tokens before it wrote a word; a lower reasoning "
            "effort or another summary model helps"
        )
    return text


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    # Some servers answer with a list of parts.
    parts = (
        cast("dict[str, object]", part).get("text")
        for part in cast("list[object]", content)
        if isinstance(part, dict)
    )
    return "".join(part for part in parts if isinstance(part, str))
