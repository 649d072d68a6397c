"""The clients: each has a connection of its own and waits for an answer before it asks again.

`python -m bench.gateway.clients` reads a load as a line of JSON, and writes a line with what was
measured; groups of conversations stay from one load to the next. Without time to think, as many
requests are always under way as there are clients: what is measured then is mostly how long a
request stands in line. With time to think, each client asks so often.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from random import Random
from typing import cast
from urllib.parse import urlsplit

from bench.gateway.conversations import Talk, head
from bench.gateway.upstream import new_loop

_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the clients are to do."""

    url: str
    group: str
    """The name of their conversations, which go on from load to load."""
    clients: int = 1
    kind: str = "20 kB"
    dialect: str = "openai"
    model: str = "bench"
    is_streamed: bool = True
    is_new: bool = False
    """Whether every request begins a conversation, which then belongs to the group."""
    think: float = 0.0
    """Seconds between an answer and the next request, on average."""
    seconds: float = 0.0
    """How long it goes on; 0 for a number of requests."""
    requests: int = 0
    """Of all clients together."""


@dataclass(slots=True)
class Taken:
    """What was measured; times in milliseconds, one for each request."""

    first: list[float] = field(default_factory=list[float])
    """Until the first byte of the answer's body."""
    total: list[float] = field(default_factory=list[float])
    elapsed: float = 0.0
    """Seconds from the first request to the last answer."""
    size: int = 0
    """Bytes of the bodies that were sent, together."""
    events: int = 0
    """Events that came back, where streams were asked for."""
    folded: int = 0
    """Answers of holdfast's for conversations that have been compacted."""
    unrecorded: int = 0
    """Requests that holdfast forwarded without having recorded them."""
    failures: list[str] = field(default_factory=list[str])

    def __iadd__(self, other: Taken) -> Taken:
        """Add another load of the same kind."""
        self.first += other.first
        self.total += other.total
        self.failures += other.failures
        self.elapsed += other.elapsed
        self.size += other.size
        self.events += other.events
        self.folded += other.folded
        self.unrecorded += other.unrecorded
        return self


class _Connection(asyncio.Protocol):
    """Sends one request at a time and notes when the answer came."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.first = self.last = 0.0
        self.head = b""
        self.pieces: list[bytes] = []
        self._missing = -1
        self._tail = b""
        self._answered: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(ConnectionError("the connection was closed"))

    async def ask(self, request: tuple[bytes, bytes]) -> float:
        """Send a request, wait for the whole answer and return when it was sent."""
        assert self.transport is not None
        self.first, self.head, self.pieces = 0.0, b"", []
        self._missing, self._tail = -1, b""
        self._answered = asyncio.get_running_loop().create_future()
        sent = time.perf_counter()
        self.transport.writelines(request)
        await asyncio.wait_for(self._answered, _PATIENCE_S)
        return sent

    def header(self, name: bytes) -> bytes:
        """Return a header of the answer, if it has it."""
        return self.head.partition(b"\r\n%s:" % name)[2].partition(b"\r\n")[0].strip()

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        if not self.pieces:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0 or end + 4 == len(self.head):
                return
            self.head, data = self.head[:end].lower(), self.head[end + 4 :]
            self.first = now
            length = self.header(b"content-length")
            self._missing = int(length) if length else -1
        self.pieces.append(data)
        if self._missing >= 0:
            self._missing -= len(data)
            is_whole = self._missing <= 0
        else:
            self._tail = (self._tail + data)[-7:] if len(data) < 7 else data[-7:]
            is_whole = self._tail == b"\r\n0\r\n\r\n"
        if is_whole and self._answered is not None and not self._answered.done():
            self.last = now
            self._answered.set_result(None)


@dataclass(slots=True)
class _Crowd:
    """The clients of one load."""

    load: Load
    talks: list[Talk]
    taken: Taken = field(default_factory=Taken)
    dice: Random = field(default_factory=lambda: Random(7))
    free: asyncio.Queue[Talk] = field(default_factory=asyncio.Queue[Talk])
    """Conversations that no client is busy with; each client goes on with the first of them."""
    left: int = 0
    ends: float = 0.0

    async def run(self) -> Taken:
        load = self.load
        if not load.is_new and not self.talks:
            self.talks += [Talk(load.kind, load.dialect, load.model) for _ in range(load.clients)]
        for talk in () if load.is_new else self.talks:
            self.free.put_nowait(talk)
        self.left = load.requests or sys.maxsize
        try:
            connections = [await self._connected() for _ in range(load.clients)]
        except OSError as error:
            self.taken.failures.append(f"{load.url}: {error}")
            return self.taken
        gc.collect()
        began = time.perf_counter()
        self.ends = began + load.seconds if load.seconds else float("inf")
        await asyncio.gather(*map(self._client, connections))
        self.taken.elapsed = time.perf_counter() - began
        if not load.is_new:
            # Those that have waited longest are the first in the next load.
            self.talks[:] = [self.free.get_nowait() for _ in self.talks]
        return self.taken

    async def _connected(self) -> _Connection:
        host, _, port = urlsplit(self.load.url).netloc.partition(":")
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(_Connection, host, int(port)))[1]

    async def _client(self, connection: _Connection) -> None:
        load = self.load
        await self._thought(load.think * self.dice.random())
        while self.left > 0 and time.perf_counter() < self.ends and not self.taken.failures:
            self.left -= 1
            talk = await self._talk()
            body = talk.body(stream=load.is_streamed)
            line = head(load.dialect, talk.path(stream=load.is_streamed), len(body))
            if connection.transport is None or connection.transport.is_closing():
                connection = await self._connected()
            try:
                sent = await connection.ask((line, body))
            except (OSError, TimeoutError) as error:
                self.taken.failures.append(f"{load.url}: {type(error).__name__} {error}")
            else:
                self._note(connection, talk, sent, len(body))
            talk.go_on()
            if not load.is_new:
                self.free.put_nowait(talk)
            await self._thought(load.think * (0.5 + self.dice.random()))
        if connection.transport is not None:
            connection.transport.close()

    async def _thought(self, seconds: float) -> None:
        """Wait before the next request, but no longer than the load goes on.

        Timers may go off early: without the last bit all clients would ask once more, at once.
        """
        if seconds:
            left = self.ends - time.perf_counter()
            await asyncio.sleep(min(seconds, max(left + 0.01, 0)))

    async def _talk(self) -> Talk:
        """Return what a client says next to: a new conversation, or one of those begun before."""
        if not self.load.is_new:
            return await self.free.get()
        talk = Talk(self.load.kind, self.load.dialect, self.load.model)
        self.talks.append(talk)
        return talk

    def _note(self, connection: _Connection, talk: Talk, sent: float, size: int) -> None:
        taken, answer = self.taken, b"".join(connection.pieces)
        if b" 200" not in connection.head[:14]:
            said = connection.head.partition(b"\r\n")[0] + b" " + answer[:300]
            taken.failures.append(f"{self.load.url}: {said.decode('utf-8', 'replace')}")
        taken.first.append(round(1000 * (connection.first - sent), 3))
        taken.total.append(round(1000 * (connection.last - sent), 3))
        taken.size += size
        if self.load.is_streamed:
            taken.events += answer.count(b"data: ")
        taken.folded += int(connection.header(b"x-holdfast-compactions") or 0) > 0
        session = connection.header(b"x-holdfast-session")
        if session and talk.session not in (b"", session):
            taken.failures.append(f"{self.load.url}: a conversation was not known again")
        talk.session = session or talk.session
        taken.unrecorded += connection.header(b"x-holdfast-warning") != b""


def main() -> None:
    """Do what each line asks for, until there are no more."""
    groups: dict[str, list[Talk]] = {}
    with asyncio.Runner(loop_factory=new_loop()) as runner:
        # A pause of ours would be taken for one of the server's.
        gc.disable()
        for line in sys.stdin:
            load = Load(**json.loads(line))
            talks = groups.setdefault(load.group, [])
            taken = runner.run(_Crowd(load, talks).run())
            sys.stdout.write(json.dumps(asdict(taken)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
