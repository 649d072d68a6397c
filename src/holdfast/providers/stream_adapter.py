"""Requests to a provider's SDK and the streams that answer them, in the words of the model port.

Blocking and awaiting requests follow the same rules about when one is sent again. Streams of the
Responses API and of Gemini, which callers hand over to be recorded, are put together here too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, cast

from holdfast.errors import SummarizerMisread
from holdfast.ports.model import Delta, Finished, Prompt, Spoken, Thought
from holdfast.providers.provider_errors import (
    FailureKind,
    RequestFailure,
    as_model_error,
    as_summarizer_error,
    failure_of,
    fields_of,
)
from holdfast.tokens import window_from_error
from holdfast.wire import Body
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from holdfast.providers.http_clients import ApiEndpoint
    from holdfast.summary import Ask

_Answer = TypeVar("_Answer")
_STALE = frozenset({"ReadError", "WriteError"})
_NO_RESPONSE = "without sending a response"


class StreamAssembler(Protocol):
    """Puts an answer together from the pieces of a stream."""

    def take(self, fields: Mapping[str, object], /) -> Iterable[Delta]:
        """Take a piece, and return what it lets a listener hear."""
        ...

    @property
    def is_whole(self) -> bool:
        """Say whether the end has come."""
        ...

    def answer(self) -> dict[str, object]:
        """Return the answer as the provider writes it without streaming."""
        ...

    def partial(self) -> dict[str, object] | None:
        """Return what is finished of an answer that was cut off, and all of its words."""
        ...


def prompt_of(ask: Ask) -> Prompt:
    """Return the request for a summary: one message of a user, in either dialect."""
    return Prompt(body=Body([{"role": "user", "content": ask.prompt}]), max_tokens=ask.max_tokens)


class _LearnsWindow(Protocol):
    name: str
    window: int | None


@contextmanager
def summarizer_errors(summarizer: _LearnsWindow, timeout: float) -> Generator[None]:
    """Raise what an SDK raises as a summarizer's error, and learn the window that it states."""
    try:
        yield
    except SummarizerMisread:
        raise
    except Exception as error:
        failure = failure_of(error, timeout)
        if failure is None:
            raise
        if failure.kind in (FailureKind.TOO_LARGE, FailureKind.REJECTED):
            stated = window_from_error(f"{failure.message} {failure.details}")
            summarizer.window = stated or summarizer.window
        raise as_summarizer_error(failure, summarizer.name) from error


def adapt_stream(
    begin: Callable[[], AbstractContextManager[Iterable[Mapping[str, object]]]],
    assembler: StreamAssembler,
    model: str,
    endpoint: ApiEndpoint,
    variable: str,
) -> Generator[Delta]:
    """Yield an answer as it comes, then the whole of it.

    Args:
        begin: Begins the request; what it opens is closed at the end, or when the listener goes.
        assembler: Puts the answer together.
        model: Who is asked, for errors.
        endpoint: Where it is asked.
        variable: Where the SDK looks for the provider's own credential.
    """
    try:
        with begin() as pieces:
            for piece in pieces:
                yield from assembler.take(piece)
    except Exception as error:
        # The SDK lets its HTTP library's errors through.
        failure = failure_of(error, endpoint.timeout)
        if failure is None:
            raise
        raise as_model_error(failure, model, endpoint, variable) from error
    if not assembler.is_whole:
        cut = RequestFailure(FailureKind.CUT_OFF, "the stream ended in the middle")
        raise as_model_error(cut, model, endpoint, variable)
    yield Finished(assembler.answer())


def event_data(pieces: Iterable[bytes]) -> Generator[str]:
    """Yield the data of each server-sent event; one that was cut off is left out."""
    rest, data = b"", list[bytes]()
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line.strip() and data:
                yield b"\n".join(data).decode()
                data.clear()


class Resending:
    """Decides whether a request that failed is sent again at once, for each reason only once."""

    def __init__(
        self,
        fields: Callable[[], dict[str, object]],
        *,
        is_reused: bool,
        learn: Callable[[Exception], str | None] = lambda _: None,
    ) -> None:
        """Describe the request.

        Args:
            fields: Returns the fields of the request, as they have to be written by now.
            is_reused: Whether the client has served requests before.
            learn: Changes how fields are written after a refusal; returns what was learned.
        """
        self._fields = fields
        self._learn = learn
        self._is_reused = is_reused
        self._reasons: set[str] = set()

    def fields(self) -> dict[str, object]:
        """Return the fields of the next try."""
        fields = self._fields()
        return encodable(fields) if "encoding" in self._reasons else fields

    def again(self, error: Exception) -> bool:
        """Say whether the request is worth another try after this error."""
        cause = error.__cause__ or error
        is_broken = type(cause).__name__ in _STALE or _NO_RESPONSE in str(cause)
        if isinstance(error, UnicodeEncodeError):
            # One sign that UTF-8 cannot hold must not end a conversation. Looking at every word
            # before each request would cost more than the one in thousands that is not sent.
            reason = "encoding"
        elif self._is_reused and is_broken:
            # The server closed a kept connection in the moment in which it was used again.
            reason = "connection"
        else:
            reason = self._learn(error)
        if reason is None or reason in self._reasons:
            return False
        self._reasons.add(reason)
        return True


def send_request(create: Callable[[dict[str, object]], _Answer], resending: Resending) -> _Answer:
    """Send a request, as often as it takes."""
    while True:
        try:
            return create(resending.fields())
        except Exception as error:
            if not resending.again(error):
                raise


async def asend_request(
    create: Callable[[dict[str, object]], Awaitable[_Answer]], resending: Resending
) -> _Answer:
    """Send a request without blocking the event loop, as often as it takes."""
    while True:
        try:
            return await create(resending.fields())
        except Exception as error:
            if not resending.again(error):
                raise


_Fields: TypeAlias = dict[str, object]
_Value = TypeVar("_Value")
_PLAIN = frozenset({"text", "thought"})


class ResponsesStream:
    """Takes the events of a response; most say what the last one says as a whole."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._response: _Fields = {}
        self._items: dict[object, _Fields] = {}
        self._words: dict[object, list[str]] = {}
        self._is_whole = False

    @property
    def is_whole(self) -> bool:
        """Say whether the end has come; an answer at its limit of tokens is whole."""
        return self._is_whole

    def take(self, event: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next event in, and yield what it says."""
        place = event.get("output_index")
        match event.get("type"):
            case "response.output_item.done":
                self._items[place] = _fields(event.get("item"))
                self._words.pop(place, None)
            case "response.output_text.delta" | "response.refusal.delta":
                text = str(event.get("delta") or "")
                self._words.setdefault(place, []).append(text)
                yield Spoken(text)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield Thought(str(event.get("delta") or ""))
            case "response.created":
                self._response = _fields(event.get("response"))
            case "response.completed" | "response.incomplete":
                self._response = _fields(event.get("response"))
                self._is_whole = True
            case _:
                pass

    def answer(self) -> _Fields:
        """Return the response; some servers leave the items out of its last event."""
        output = self._response.get("output") or self._finished()
        return {**self._response, "object": "response", "output": output}

    def partial(self) -> _Fields | None:
        """Return the items that are finished, and the words of those that are not."""
        content = [
            {"type": "output_text", "text": "".join(words), "annotations": list[object]()}
            for words in _in_order(self._words)
        ]
        cut = {"type": "message", "role": "assistant", "status": "incomplete", "content": content}
        output = [*self._finished(), *([cut] if content else [])]
        return {**self._response, "object": "response", "output": output} if output else None

    def _finished(self) -> list[_Fields]:
        return _in_order(self._items)


class GeminiStream:
    """Takes the pieces of a Gemini answer; each is an answer with the next parts."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._answer: _Fields = {}
        self._candidate: _Fields = {}
        self._parts: list[_Fields] = []

    @property
    def is_whole(self) -> bool:
        """Say whether it was said why the answer ended."""
        return bool(self._candidate.get("finishReason")) or "promptFeedback" in self._answer

    def take(self, piece: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next piece in, and yield what it says."""
        self._answer |= {name: value for name, value in piece.items() if name != "candidates"}
        candidates = piece.get("candidates")
        for candidate in cast("list[object]", candidates or [])[:1]:
            fields = _fields(candidate)
            content = _fields(fields.pop("content", None))
            self._candidate |= fields
            parts = content.get("parts")
            for part in map(
                _fields, cast("list[object]", parts) if isinstance(parts, list) else []
            ):
                # Add a part; words go on where words of the same kind ended, unless one is signed.
                last = self._parts[-1] if self._parts else {}
                is_plain = part.keys() <= _PLAIN and last.keys() <= _PLAIN and "text" in last
                if is_plain and last.get("thought") == part.get("thought"):
                    last["text"] = f"{last['text']}{part.get('text') or ''}"
                else:
                    self._parts.append(part)
                if text := part.get("text"):
                    yield Thought(str(text)) if part.get("thought") else Spoken(str(text))

    def answer(self) -> _Fields:
        """Return the answer as the server gives it without streaming."""
        content = {"role": "model", "parts": self._parts}
        return {**self._answer, "candidates": [{**self._candidate, "content": content}]}

    def partial(self) -> _Fields | None:
        """Return the parts that have come: each comes whole, but for words."""
        return self.answer() if self._parts else None


def _fields(value: object) -> _Fields:
    return dict(fields_of(value))


def _in_order(found: Mapping[object, _Value]) -> list[_Value]:
    return [found[place] for place in sorted(found, key=lambda place: cast("int", place or 0))]
