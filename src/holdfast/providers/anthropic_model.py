"""A conversation's model behind the Anthropic messages API, or any server that speaks it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.errors import MissingExtra
from holdfast.providers.message_stream import MessageStream
from holdfast.providers.model_errors import Address
from holdfast.providers.relaying import relayed
from holdfast.providers.sending import sent
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from contextlib import ExitStack

    from anthropic import Anthropic, Stream
    from anthropic.types import RawMessageStreamEvent

    from holdfast.ports.model import Delta, Prompt

__all__ = ["AnthropicModel"]

_NO_KEY = "none"
_VARIABLE = "ANTHROPIC_API_KEY"
_LONGEST_ANSWER = 8_192
"""Tokens for an answer where nobody says; the API wants a number."""


class AnthropicModel:
    """Streams one message per request, through the official SDK.

    A client lives for one request, so that a model can be used from any thread. The SDK's own
    retries are off: whoever talks decides about another try.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        context_length: int | None = None,
        timeout: float = 120.0,
        options: Mapping[str, object] | None = None,
    ) -> None:
        """Describe the model; nothing is imported and nothing is sent yet.

        Args:
            name: The model's name at the provider.
            api_key: The credential. Without one the SDK looks where it always does, but only
                for Anthropic itself: its credential is never sent to another server.
            base_url: Where a compatible server listens, without `/v1`.
            context_length: What the model takes, in tokens.
            timeout: Seconds of silence after which the SDK gives up.
            options: More fields of the request, such as `{"temperature": 0}`.
        """
        if find_spec("anthropic") is None:
            raise MissingExtra("a conversation with an Anthropic model", "anthropic")
        self.name = name
        self.dialect = "anthropic"
        self.context_length = context_length
        self._address = Address(name, _VARIABLE, base_url or "", timeout)
        self._key = _NO_KEY if base_url and not api_key else api_key
        self._options = dict(options or {})

    @property
    def endpoint(self) -> str:
        """Return where it is reached; empty for Anthropic itself."""
        return self._address.url

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""

        def begin(stack: ExitStack) -> Iterable[object]:
            client = stack.enter_context(self._client())
            return stack.enter_context(self._begun(client, prompt))

        return relayed(begin, MessageStream(), self._address)

    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        return Anthropic(
            api_key=self._key,
            base_url=self._address.url or None,
            timeout=self._address.timeout,
            max_retries=0,
        )

    def _begun(self, client: Anthropic, prompt: Prompt) -> Stream[RawMessageStreamEvent]:
        fields: dict[str, object] = {"messages": prompt.body.messages, **self._options}
        if prompt.body.system is not None:
            fields["system"] = prompt.body.system
        if prompt.tools:
            fields["tools"] = write_tools(prompt.tools, self.dialect)

        def create(fields: dict[str, object]) -> Stream[RawMessageStreamEvent]:
            return client.messages.create(
                model=self.name,
                max_tokens=prompt.max_tokens or self._longest_answer,
                messages=[],
                stream=True,
                extra_body=fields,
            )

        return sent(create, fields)

    @property
    def _longest_answer(self) -> int:
        window = self.context_length
        return min(_LONGEST_ANSWER, window // 8) if window else _LONGEST_ANSWER
