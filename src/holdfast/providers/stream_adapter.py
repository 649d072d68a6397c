"""Requests to a provider's SDK and the streams that answer them, in the words of the model port.

Blocking and awaiting requests follow the same rules about when one is sent again.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from holdfast.errors import SummarizerMisread
from holdfast.ports.model import Finished, Prompt
from holdfast.providers.provider_errors import (
    FailureKind,
    RequestFailure,
    as_model_error,
    as_summarizer_error,
    failure_of,
)
from holdfast.tokens import window_from_error
from holdfast.wire import Body
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
    from contextlib import AbstractContextManager

    from holdfast.ports.model import Delta
    from holdfast.providers.http_clients import ApiEndpoint
    from holdfast.summary import Ask

__all__ = [
    "Resending",
    "StreamAssembler",
    "adapt_stream",
    "asend_request",
    "event_data",
    "prompt_of",
    "send_request",
    "summarizer_errors",
]

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
