"""The side of an exchange that faces the client: what it sent, what it is told, whether it waits.

Signs of life are given where an answer takes long, so that nobody gives up on it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.gateway.bodies import too_large

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from holdfast.gateway.upstream import Headers

_BEATS_S = 10.0
_READ = "holdfast.incoming"
"""Under which a scope has what was read of it."""


class Gone(Exception):
    """The client went away before all of its request was here."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """The head of a client's request."""

    method: str
    path: str
    query: str
    headers: Headers
    """With names in lower case."""

    @staticmethod
    def of(scope: Scope) -> Incoming:
        """Read a request, once; an address that names our own host too counts from its path."""
        known = scope.get(_READ)
        if known is not None:
            return cast("Incoming", known)
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        if not path.startswith("/"):
            path = "/" + path.partition("://")[2].partition("/")[2]
        headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in cast("list[tuple[bytes, bytes]]", scope["headers"])
        ]
        query = scope["query_string"].decode("latin-1")
        scope[_READ] = found = Incoming(scope["method"], path, query, headers)
        return found

    def header(self, name: str) -> str:
        """Return a header; empty when there is none."""
        return next((value for each, value in self.headers if each == name), "")

    @property
    def dialect_of_headers(self) -> str:
        """Return whose path it is that is no request to a model, such as a list of models."""
        if self.header("anthropic-version") or self.header("x-api-key"):
            return "anthropic"
        if self.header("x-goog-api-key") or self.path.startswith("/v1beta"):
            return "gemini"
        return "openai"


async def read_body(receive: Receive, incoming: Incoming, limit: int) -> bytes:
    """Return the body of a request.

    Raises:
        HttpRefusal: when it is too large; most of it is not read then.
        Gone: when the client does not send all of it.
    """
    length = incoming.header("content-length")
    if length.isdigit() and int(length) > limit:
        raise too_large(limit)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        if piece := message.get("body", b""):
            size += len(piece)
            if size > limit:
                raise too_large(limit)
            pieces.append(piece)
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


async def gone(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class ClientSide:
    """The answer as the client gets it."""

    __slots__ = ("_send", "begun", "ended", "status")

    def __init__(self, send: Send) -> None:
        """Begin with nothing sent."""
        self._send = send
        self.begun = False
        self.ended = False
        self.status = 0

    async def start(self, status: int, headers: Headers) -> None:
        """Send status and headers."""
        self.begun, self.status = True, status
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, piece: bytes) -> None:
        """Send a piece of the body; waits while the client does not take more."""
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self, piece: bytes = b"") -> None:
        """Send the last piece. An answer without it is cut off, and the client sees that."""
        self.ended = True
        await self._send({"type": "http.response.body", "body": piece, "more_body": False})

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer at once."""
        await self.start(status, [*headers, ("content-length", str(len(body)))])
        await self.end(body)


class Heartbeat:
    """Begins a stream with signs of life when nothing else begins it in time."""

    def __init__(
        self, begin: Callable[[], Awaitable[None]], beat: Callable[[], Awaitable[None]]
    ) -> None:
        """Take what begins the stream and what gives a sign."""
        self._begin, self._beat = begin, beat
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, seconds: float) -> None:
        """Let the stream begin after so many seconds, unless it is stopped."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self._due)

    async def stop(self) -> None:
        """Give no more signs; what was begun stays so."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def _due(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def _live(self) -> None:
        await self._begin()
        while True:
            await self._beat()
            await asyncio.sleep(_BEATS_S)
