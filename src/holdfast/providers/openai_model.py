"""Models behind the OpenAI chat completions API, or any server that speaks it.

A conversation's model streams its answer; a summarizer is such a model asked once, for the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias, cast
from uuid import uuid4

from holdfast.errors import MissingExtra, SummarizerMisread
from holdfast.ports.model import Delta, Prompt, Spoken, Thought
from holdfast.providers.http_clients import CLIENTS, ApiEndpoint
from holdfast.providers.provider_errors import error_sentence, fields_of
from holdfast.providers.stream_adapter import (
    Resending,
    adapt_stream,
    asend_request,
    event_data,
    prompt_of,
    send_request,
    summarizer_errors,
)
from holdfast.wire.json_text import object_in
from holdfast.wire.tool_specs import write_tools

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import Stream
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    from holdfast.summary import Ask

_Fields: TypeAlias = dict[str, object]

_VARIABLE = "OPENAI_API_KEY"
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
_USAGE = "stream_options"
_UNFIT = frozenset({400, 422})
_REASONING = ("reasoning_content", "reasoning")
_ENVELOPE = ("id", "created", "model", "system_fingerprint", "service_tier")
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class OpenAIModel:
    """Asks for one chat completion per request, through the official SDK.

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
        self._endpoint = ApiEndpoint.at(base_url, api_key, timeout, ("/chat/completions",))
        self._options = dict(options or {})
        self._compat = OpenAICompat(base_url)

    @property
    def endpoint(self) -> str:
        """Return where it is reached; empty for OpenAI itself."""
        return self._endpoint.url

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""

        def fields() -> _Fields:
            fields = self._options | self._fields(prompt)
            if self._compat.reports_usage:
                fields["stream_options"] = {"include_usage": True}
            return fields

        @contextmanager
        def begin() -> Generator[Iterable[Mapping[str, object]]]:
            from openai import OpenAI

            with CLIENTS.borrow(OpenAI, self._endpoint) as shared:

                def create(fields: _Fields) -> Stream[ChatCompletionChunk]:
                    return shared.client.chat.completions.create(
                        model=self.name, messages=[], stream=True, extra_body=fields
                    )

                resending = Resending(fields, is_reused=shared.has_served, learn=self._learn)
                with send_request(create, resending) as answer:
                    yield _chunks(answer.response)

        return adapt_stream(begin, ChatStream(), self.name, self._endpoint, _VARIABLE)

    def complete(self, prompt: Prompt) -> ChatCompletion:
        """Return the whole answer at once, or raise what the SDK raises."""
        from openai import OpenAI

        with CLIENTS.borrow(OpenAI, self._endpoint) as shared:

            def create(fields: _Fields) -> ChatCompletion:
                return shared.client.chat.completions.create(
                    model=self.name, messages=[], extra_body=fields
                )

            return send_request(create, self._whole(prompt, is_reused=shared.has_served))

    async def acomplete(self, prompt: Prompt) -> ChatCompletion:
        """Return the whole answer at once, without blocking the event loop."""
        from openai import AsyncOpenAI

        async with CLIENTS.aborrow(AsyncOpenAI, self._endpoint) as shared:

            async def create(fields: _Fields) -> ChatCompletion:
                return await shared.client.chat.completions.create(
                    model=self.name, messages=[], extra_body=fields
                )

            return await asend_request(create, self._whole(prompt, is_reused=shared.has_served))

    def _whole(self, prompt: Prompt, *, is_reused: bool) -> Resending:
        return Resending(
            lambda: self._fields(prompt) | self._options, is_reused=is_reused, learn=self._learn
        )

    def _fields(self, prompt: Prompt) -> _Fields:
        fields: _Fields = {"messages": prompt.body.messages}
        if prompt.tools:
            fields["tools"] = write_tools(prompt.tools, self.dialect)
        if prompt.max_tokens is not None:
            fields[self._compat.limit] = prompt.max_tokens
        return fields

    def _learn(self, error: Exception) -> str | None:
        status: object = getattr(error, "status_code", None)
        if not isinstance(status, int):
            return None
        return self._compat.learn(status, error_sentence(getattr(error, "body", None), str(error)))


class OpenAICompat:
    """How one server that speaks OpenAI's format wants its requests written.

    Servers differ, and say so when they refuse a request.
    """

    def __init__(self, base_url: str | None) -> None:
        """Begin with what is usual at OpenAI itself, or at any other server."""
        # Newer OpenAI models refuse `max_tokens`; many compatible servers know nothing else.
        self.limit = _LIMIT_NAMES[1 if base_url else 0]
        self.reports_usage = True
        """Whether a stream may be asked to end with its usage."""

    def learn(self, status: int, sentence: str) -> str | None:
        """Write later requests as a refusal demands; return the field that changes, if any."""
        if status not in _UNFIT:
            return None
        if self.reports_usage and _USAGE in sentence:
            self.reports_usage = False
            return _USAGE
        other = _LIMIT_NAMES[1 - _LIMIT_NAMES.index(self.limit)]
        if self.limit in sentence and (other in sentence or "unsupported" in sentence.lower()):
            self.limit = other
            return "limit"
        return None


class OpenAISummarizer:
    """Writes with one chat completion per ask; the engine decides who is asked next."""

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
        self._timeout = timeout
        self._model = OpenAIModel(
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


def _text_of(completion: object, limit: int) -> str:
    """Return the words of a completion, whatever a server made of the format.

    The SDK does not check what it decodes, so a compatible server's answer may lack anything.
    """
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise SummarizerMisread("the answer has no choices")
    choice: object = cast("list[object]", choices)[0]
    message = getattr(choice, "message", None)
    text = _text(getattr(message, "content", None)) or _text(getattr(message, "refusal", None))
    text = _THOUGHTS.sub("", text, count=1)
    if not text.strip() and getattr(choice, "finish_reason", None) == "length":
        raise SummarizerMisread(
            f"the model spent its {limit} tokens before it wrote a word; a lower reasoning "
            "effort or another summary model helps"
        )
    return text


def _chunks(response: Response) -> Generator[Mapping[str, object]]:
    """Yield the pieces of a streamed answer, and read on to its end.

    The SDK stops reading at `[DONE]`, and a connection that was not read to the end is not kept.
    """
    events = event_data(response.iter_bytes())
    for data in events:
        if data.startswith("[DONE]"):
            break
        chunk = fields_of(json.loads(data))
        if failed := chunk.get("error"):
            from openai import APIError

            raise APIError("an error in the stream", response.request, body=failed)
        yield chunk
    with suppress(Exception):
        for _ in events:
            pass


class ChatStream:
    """Takes chunks as they come; the whole is what the server would have answered at once.

    Nothing is taken for granted: compatible servers leave out indices, ids and roles, and some
    send content as a list of parts.
    """

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._envelope: _Fields = {}
        self._usage: object = None
        self._finish: object = None
        self._words: dict[str, list[str]] = {}
        self._calls: list[_Fields] = []
        self._places: dict[object, int] = {}

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has arrived: why it ended, or what it cost."""
        return self._finish is not None or self._usage is not None

    def take(self, chunk: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next chunk in, and yield what it says."""
        self._envelope |= {name: chunk[name] for name in _ENVELOPE if chunk.get(name) is not None}
        self._usage = chunk.get("usage") or self._usage
        for choice in _items(chunk.get("choices"))[:1]:
            self._finish = choice.get("finish_reason") or self._finish
            delta = fields_of(choice.get("delta"))
            for name in _REASONING:
                if text := _text(delta.get(name)):
                    self._words.setdefault(name, []).append(text)
                    yield Thought(text)
            for name in ("content", "refusal"):
                if text := _text(delta.get(name)):
                    self._words.setdefault(name, []).append(text)
                    yield Spoken(text)
            for piece in _items(delta.get("tool_calls")):
                call = self._calls[self._place(piece)]
                function = fields_of(piece.get("function"))
                call["id"] = call["id"] or piece.get("id") or ""
                call["name"] = call["name"] or function.get("name") or ""
                cast("list[str]", call["arguments"]).append(_text(function.get("arguments")))
                known = ("index", "id", "type", "function")
                cast("_Fields", call["more"]).update(
                    {name: value for name, value in piece.items() if name not in known}
                )

    def answer(self) -> _Fields:
        """Return the completion as the server writes it without streaming."""
        said = {name: "".join(pieces) for name, pieces in self._words.items()}
        message: _Fields = {"role": "assistant", "content": said.pop("content", None) or None}
        message |= said
        if self._calls:
            message["tool_calls"] = [
                {
                    "id": call["id"] or f"call_{uuid4().hex[:24]}",
                    "type": "function",
                    "function": {
                        "name": call["name"],
                        "arguments": "".join(cast("list[str]", call["arguments"])) or "{}",
                    },
                    **cast("_Fields", call["more"]),
                }
                for call in self._calls
            ]
        elif message["content"] is None:
            message["content"] = ""
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        answer: _Fields = {**self._envelope, "object": "chat.completion", "choices": [choice]}
        return {**answer, "usage": self._usage} if self._usage else answer

    def partial(self) -> _Fields | None:
        """Return the words of a completion that was cut off, and the calls that are finished."""
        self._calls = [
            call
            for call in self._calls
            if call["name"] and object_in("".join(cast("list[str]", call["arguments"]))) is not None
        ]
        return self.answer() if self._calls or self._words else None

    def _place(self, piece: Mapping[str, object]) -> int:
        """Return which call a piece belongs to; without index and id it is the newest one."""
        key = piece.get("index")
        if key is None:
            key = piece.get("id")
        if key is None and self._calls:
            return len(self._calls) - 1
        if key not in self._places:
            self._places[key] = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": list[str](), "more": {}})
        return self._places[key]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(text for part in _items(value) if isinstance(text := part.get("text"), str))


def _items(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        return []
    return [fields_of(item) for item in cast("list[object]", value)]
