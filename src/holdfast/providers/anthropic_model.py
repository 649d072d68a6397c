"""Models behind the Anthropic messages API, or any server that speaks it.

A conversation's model streams its answer; a summarizer is such a model asked once, for the whole.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import MissingExtra, SummarizerMisread
from holdfast.ports.model import Delta, Prompt, Spoken, Thought
from holdfast.providers.http_clients import CLIENTS, ApiEndpoint
from holdfast.providers.provider_errors import fields_of
from holdfast.providers.stream_adapter import (
    Resending,
    adapt_stream,
    asend_request,
    prompt_of,
    send_request,
    summarizer_errors,
)
from holdfast.wire.json_text import arguments_in
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from anthropic import Stream
    from anthropic.types import Message, RawMessageStreamEvent

    from holdfast.summary import Ask

_Fields: TypeAlias = dict[str, object]

_VARIABLE = "ANTHROPIC_API_KEY"
_LONGEST_ANSWER = 8_192
"""Tokens for an answer where nobody says; the API wants a number."""
_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_UNREADABLE = "unreadable_arguments"


class AnthropicModel:
    """Asks for one message per request, through the official SDK.

    It can be used from any thread and any event loop. The SDK's own retries are off: whoever
    talks decides about another try.
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
            base_url: Where a compatible server listens, with or without `/v1`.
            context_length: What the model takes, in tokens.
            timeout: Seconds of silence after which the SDK gives up.
            options: More fields of the request, such as `{"temperature": 0}`.
        """
        if find_spec("anthropic") is None:
            raise MissingExtra("a conversation with an Anthropic model", "anthropic")
        self.name = name
        self.dialect = "anthropic"
        self.context_length = context_length
        self._endpoint = ApiEndpoint.at(base_url, api_key, timeout, ("/messages", "/v1"))
        self._options = dict(options or {})

    @property
    def endpoint(self) -> str:
        """Return where it is reached; empty for Anthropic itself."""
        return self._endpoint.url

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""

        @contextmanager
        def begin() -> Generator[Iterable[Mapping[str, object]]]:
            from anthropic import Anthropic

            with CLIENTS.borrow(Anthropic, self._endpoint) as shared:

                def create(fields: _Fields) -> Stream[RawMessageStreamEvent]:
                    return shared.client.messages.create(
                        model=self.name,
                        max_tokens=self._limit(prompt),
                        messages=[],
                        stream=True,
                        extra_body=fields,
                    )

                with send_request(
                    create, self._sending(prompt, is_reused=shared.has_served)
                ) as events:
                    # A server may send anything, and the SDK does not check it.
                    dumps = (getattr(event, "model_dump", None) for event in events)
                    yield (fields_of(dump(exclude_unset=True)) for dump in dumps if callable(dump))

        return adapt_stream(begin, MessageStream(), self.name, self._endpoint, _VARIABLE)

    def complete(self, prompt: Prompt) -> Message:
        """Return the whole answer at once, or raise what the SDK raises."""
        from anthropic import Anthropic

        with CLIENTS.borrow(Anthropic, self._endpoint) as shared:

            def create(fields: _Fields) -> Message:
                return shared.client.messages.create(
                    model=self.name, max_tokens=self._limit(prompt), messages=[], extra_body=fields
                )

            return send_request(create, self._sending(prompt, is_reused=shared.has_served))

    async def acomplete(self, prompt: Prompt) -> Message:
        """Return the whole answer at once, without blocking the event loop."""
        from anthropic import AsyncAnthropic

        async with CLIENTS.aborrow(AsyncAnthropic, self._endpoint) as shared:

            async def create(fields: _Fields) -> Message:
                return await shared.client.messages.create(
                    model=self.name, max_tokens=self._limit(prompt), messages=[], extra_body=fields
                )

            return await asend_request(create, self._sending(prompt, is_reused=shared.has_served))

    def _limit(self, prompt: Prompt) -> int:
        window = self.context_length
        most = min(_LONGEST_ANSWER, window // 8) if window else _LONGEST_ANSWER
        return prompt.max_tokens or most

    def _sending(self, prompt: Prompt, *, is_reused: bool) -> Resending:
        fields: _Fields = {"messages": prompt.body.messages, **self._options}
        if prompt.body.system is not None:
            fields["system"] = prompt.body.system
        if prompt.tools:
            fields["tools"] = write_tools(prompt.tools, self.dialect)
        return Resending(lambda: fields, is_reused=is_reused)


class AnthropicSummarizer:
    """Writes with one message per ask; the engine decides who is asked next."""

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
            base_url: Where a compatible server listens, with or without `/v1`.
            timeout: Seconds after which the SDK gives up, so that no thread waits for ever.
            window: The model's window in tokens; learned from the first error that states it.
            options: More fields of the request, such as `{"temperature": 0}`.
        """
        if find_spec("anthropic") is None:
            raise MissingExtra("a summary by an Anthropic model", "anthropic")
        self.name = model
        self.window = window
        self._timeout = timeout
        self._model = AnthropicModel(
            model, api_key=api_key, base_url=base_url, timeout=timeout, options=options
        )

    def write(self, ask: Ask) -> str:
        """Return the model's answer."""
        with summarizer_errors(self, self._timeout):
            return _text_of(self._model.complete(prompt_of(ask)), ask.max_tokens)

    async def awrite(self, ask: Ask) -> str:
        """Return the model's answer without blocking the event loop."""
        with summarizer_errors(self, self._timeout):
            return _text_of(await self._model.acomplete(prompt_of(ask)), ask.max_tokens)


def _text_of(message: object, limit: int) -> str:
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


class MessageStream:
    """Takes events as they come; the whole is what the server would have answered at once."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._message: _Fields = {}
        self._usage: _Fields = {}
        self._blocks: dict[object, _Fields] = {}
        self._inputs: dict[object, list[str]] = {}
        self._finished: set[object] = set()

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has arrived."""
        return self._message.get("stop_reason") is not None

    def take(self, event: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next event in, and yield what it says."""
        index = event.get("index")
        match event.get("type"):
            case "message_start":
                self._message = dict(fields_of(event.get("message")))
                self._spend(self._message.get("usage"))
            case "content_block_start":
                self._blocks[index] = dict(fields_of(event.get("content_block")))
            case "content_block_delta":
                delta = fields_of(event.get("delta"))
                kind = str(delta.get("type"))
                block = self._blocks.setdefault(index, {"type": "text", "text": ""})
                if kind == "input_json_delta":
                    self._inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
                elif kind == "citations_delta":
                    cited = block.get("citations")
                    known = cast("list[object]", cited) if isinstance(cited, list) else []
                    block["citations"] = [*known, delta.get("citation")]
                elif name := _GROWING.get(kind):
                    text = str(delta.get(name) or "")
                    block[name] = f"{block.get(name) or ''}{text}"
                    if text and name != "signature":
                        yield Spoken(text) if name == "text" else Thought(text)
            case "content_block_stop":
                self._finished.add(index)
            case "message_delta":
                self._message |= fields_of(event.get("delta"))
                self._spend(event.get("usage"))
            case _:
                pass

    def answer(self) -> _Fields:
        """Return the message as the server writes it without streaming."""
        return self._written(self._blocks)

    def partial(self) -> _Fields | None:
        """Return what is finished of a message that was cut off, and all of its words."""
        kept = {
            index: block
            for index, block in self._blocks.items()
            if index in self._finished or (block.get("type") == "text" and block.get("text"))
        }
        return self._written(kept) if kept else None

    def _written(self, blocks: Mapping[object, _Fields]) -> _Fields:
        inputs = {index: "".join(pieces) for index, pieces in self._inputs.items()}
        content = [
            {**block, "input": _arguments(inputs[index])} if inputs.get(index) else block
            for index, block in blocks.items()
        ]
        return {
            **self._message,
            "type": "message",
            "role": "assistant",
            "content": content,
            "usage": self._usage,
        }

    def _spend(self, usage: object) -> None:
        self._usage |= {name: each for name, each in fields_of(usage).items() if each is not None}


def _arguments(text: str) -> object:
    """Return the arguments of a call; those that were cut off stay readable as text."""
    found = arguments_in(text)
    return {_UNREADABLE: text} if found is None else found
