"""Models behind the Anthropic messages API, or any server that speaks it."""

from __future__ import annotations

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
from holdfast.providers.provider_errors import broken_connection, rejection, said
from holdfast.tokens import window_from_error
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from anthropic import APIStatusError

    from holdfast.summary import Ask

__all__ = ["AnthropicSummarizer"]

_NO_KEY = "none"


class AnthropicSummarizer:
    """Writes with one message per ask, through the official SDK.

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
            api_key: The credential. Without one the SDK looks where it always does, but only
                for Anthropic itself: its credential is never sent to another server.
            base_url: Where a compatible server listens, without `/v1`.
            timeout: Seconds after which the SDK gives up, so that no thread waits for ever.
            window: The model's window in tokens; learned from the first error that states it.
            options: More fields of the request, such as `{"temperature": 0}`.
        """
        if find_spec("anthropic") is None:
            raise MissingExtra("a summary by an Anthropic model", "anthropic")
        self.name = model
        self.window = window
        self._key = _NO_KEY if base_url and not api_key else api_key
        self._url = base_url
        self._timeout = timeout
        self._options = dict(options or {})

    def write(self, ask: Ask) -> str:
        """Return the model's answer."""
        with self._translated():
            from anthropic import Anthropic

            with Anthropic(
                api_key=self._key, base_url=self._url, timeout=self._timeout, max_retries=0
            ) as client:
                message = client.messages.create(
                    model=self.name,
                    max_tokens=ask.max_tokens,
                    messages=[{"role": "user", "content": encodable(ask.prompt)}],
                    extra_body=self._options,
                )
            return _read(message, ask.max_tokens)

    async def awrite(self, ask: Ask) -> str:
        """Return the model's answer without blocking the event loop."""
        with self._translated():
            from anthropic import AsyncAnthropic

            async with AsyncAnthropic(
                api_key=self._key, base_url=self._url, timeout=self._timeout, max_retries=0
            ) as client:
                message = await client.messages.create(
                    model=self.name,
                    max_tokens=ask.max_tokens,
                    messages=[{"role": "user", "content": encodable(ask.prompt)}],
                    extra_body=self._options,
                )
            return _read(message, ask.max_tokens)

    @contextmanager
    def _translated(self) -> Generator[None]:
        import anthropic

        try:
            yield
        except anthropic.APIStatusError as error:
            raise self._rejected(error) from error
        except anthropic.APITimeoutError as error:
            raise SummarizerUnavailable(f"no answer within {self._timeout:g} s") from error
        except anthropic.APIConnectionError as error:
            raise broken_connection(error) from error
        except anthropic.APIError as error:
            raise SummarizerMisread(str(error)) from error
        except anthropic.AnthropicError as error:
            # What the SDK raises before it sends anything.
            raise ConfigError(f"model {self.name}: {error}") from error
        except TypeError as error:
            # The SDK's word for a credential that it found nowhere.
            if "authentication" not in str(error):
                raise
            raise ConfigError(f"model {self.name}: {error}") from error
        except ValueError as error:
            # The SDK lets the JSON reader's own error through.
            raise SummarizerMisread(f"the answer is not JSON: {error}") from error

    def _rejected(self, error: APIStatusError) -> SummarizerError:
        sentence = said(error.body, error.message)
        if error.status_code in {400, 413, 422}:
            self.window = window_from_error(f"{sentence} {error.body}") or self.window
        return rejection(error.status_code, sentence, error.response.headers)


def _read(message: object, limit: int) -> str:
    """Return the words of a message; thinking and other blocks are not part of the record.

    The SDK does not check what it decodes, so a compatible server's answer may lack anything.
    """
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise SummarizerMisread("the answer has no content")
    words = (
        getattr(block, "text", None)
        for block in cast("list[object]", blocks)
        if getattr(block, "type", None) == "text"
    )
    text = "".join(word for word in words if isinstance(word, str))
    if not text.strip() and getattr(message, "stop_reason", None) == "max_tokens":
        raise SummarizerMisread(
            f"the model spent its {limit} tokens before it wrote a word; a smaller thinking "
            "budget or another summary model helps"
        )
    return text
