"""A conversation's model behind the OpenAI chat completions API, or any server that speaks it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.errors import MissingExtra
from holdfast.providers.chat_stream import ChatStream
from holdfast.providers.model_errors import Address
from holdfast.providers.openai_habits import OpenAIHabits
from holdfast.providers.provider_errors import said
from holdfast.providers.relaying import relayed
from holdfast.providers.sending import sent
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from contextlib import ExitStack

    from openai import OpenAI, Stream
    from openai.types.chat import ChatCompletionChunk

    from holdfast.ports.model import Delta, Prompt

__all__ = ["OpenAIModel"]

_NO_KEY = "none"
_VARIABLE = "OPENAI_API_KEY"


class OpenAIModel:
    """Streams one chat completion per request, through the official SDK.

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
            api_key: The credential. Without one the SDK looks in its environment variables,
                but only for OpenAI itself: a key for OpenAI is never sent to another server.
            base_url: Where a compatible server listens, such as `http://127.0.0.1:8080/v1`.
            context_length: What the model takes, in tokens.
            timeout: Seconds of silence after which the SDK gives up.
            options: More fields of the request, such as `{"temperature": 0}`.
        """
        if find_spec("openai") is None:
            raise MissingExtra("a conversation with an OpenAI-compatible model", "openai")
        self.name = name
        self.dialect = "openai"
        self.context_length = context_length
        self._address = Address(name, _VARIABLE, base_url or "", timeout)
        self._key = _NO_KEY if base_url and not api_key else api_key
        self._options = dict(options or {})
        self._habits = OpenAIHabits(base_url)

    @property
    def endpoint(self) -> str:
        """Return where it is reached; empty for OpenAI itself."""
        return self._address.url

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""

        def begin(stack: ExitStack) -> Iterable[object]:
            client = stack.enter_context(self._client())
            return stack.enter_context(self._begun(client, prompt))

        return relayed(begin, ChatStream(), self._address)

    def _client(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(
            api_key=self._key,
            base_url=self._address.url or None,
            timeout=self._address.timeout,
            max_retries=0,
        )

    def _begun(self, client: OpenAI, prompt: Prompt) -> Stream[ChatCompletionChunk]:
        """Begin the answer, as often as the server teaches how it wants to be asked."""
        from openai import APIStatusError

        def create(fields: dict[str, object]) -> Stream[ChatCompletionChunk]:
            return client.chat.completions.create(
                model=self.name, messages=[], stream=True, extra_body=fields
            )

        while True:
            try:
                return sent(create, self._fields(prompt))
            except APIStatusError as error:
                if not self._habits.learn(error.status_code, said(error.body, error.message)):
                    raise

    def _fields(self, prompt: Prompt) -> dict[str, object]:
        fields: dict[str, object] = {"messages": prompt.body.messages, **self._options}
        if prompt.tools:
            fields["tools"] = write_tools(prompt.tools, self.dialect)
        if prompt.max_tokens is not None:
            fields[self._habits.limit] = prompt.max_tokens
        if self._habits.reports_usage:
            fields["stream_options"] = {"include_usage": True}
        return fields
