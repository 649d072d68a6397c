"""An upstream on the loopback that says what a test wants, and a gateway before it."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
from uvicorn import Server

from holdfast.config.settings import GatewaySettings
from holdfast.gateway.app import GatewayApp
from holdfast.gateway.client_side import Incoming
from holdfast.gateway.exchange import TurnTaker
from holdfast.gateway.metrics import Metrics
from holdfast.gateway.proxy import Proxy, Tenant
from holdfast.gateway.server import bound, server_config
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.gateway.upstream import AiohttpClient, upstreams_of
from holdfast.ports import Listing
from holdfast.wiring.registry import Conversations
from tests.agents.answers import Answer, Event, anthropic, chat, gemini, responses

CUT = object()
"""In a script: the connection breaks here."""
Script = Sequence[object]
"""What is written: bytes, seconds of silence, or a cut."""


@dataclass(frozen=True)
class Received:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        return json.loads(self.body)

    def header(self, name: str) -> str:
        return next((value for each, value in self.headers if each.lower() == name), "")


@dataclass
class Upstream:
    """What the server says and what it was asked."""

    scripts: list[Any] = field(default_factory=list[Any])
    """Its answers in turn, or what makes one of a request; the last one stays."""
    requests: list[Received] = field(default_factory=list[Received])
    url: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when a client goes away in the middle of an answer."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = [
                    (name, value.strip())
                    for name, _, value in (line.partition(":") for line in head[1:] if line)
                ]
                sizes = [int(value) for name, value in headers if name.lower() == "content-length"]
                body = await reader.readexactly(sizes[0] if sizes else 0)
                received = Received(method, target, headers, body)
                self.requests.append(received)
                script: Any = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
                said: Any = script(received) if callable(script) else script
                if not await self._play(said, reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _play(
        self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for step in script:
            if step is CUT:
                writer.transport.abort()
                return False
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                assert isinstance(step, float)
                waits = asyncio.ensure_future(reader.read(1))
                done, _ = await asyncio.wait({waits}, timeout=step)
                if done:
                    waits.exception()
                    self.cancelled.set()
                    return False
                waits.cancel()
                await asyncio.wait({waits})
        return True


@contextmanager
def upstream(*scripts: Script | Callable[[Received], Script]) -> Generator[Upstream]:
    """Serve these answers."""
    state = Upstream(list(scripts))
    held: list[Any] = []
    begun = threading.Event()

    async def main() -> None:
        server = await asyncio.start_server(state.serve, "127.0.0.1", 0, limit=1 << 20)
        state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        held.extend((asyncio.get_running_loop(), asyncio.Event()))
        begun.set()
        await held[1].wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    begun.wait(5)
    try:
        yield state
    finally:
        held[0].call_soon_threadsafe(held[1].set)
        thread.join()


def answer(
    body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str
) -> Script:
    """Return a whole answer with its length."""
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}content-length: {len(body)}\r\n\r\n"
    return [head.encode() + body]


def stream(*steps: object, ends: bool = True) -> Script:
    """Return an answer in pieces, each as a chunk of its own."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked"
    pieces = [
        b"%x\r\n%s\r\n" % (len(step), step) if isinstance(step, bytes) else step for step in steps
    ]
    return [f"{head}\r\n\r\n".encode(), *pieces, *([b"0\r\n\r\n"] if ends else [])]


def events(said: Sequence[Event], *, done: bool = False) -> list[bytes]:
    """Return events as they stand in a stream."""
    named = [
        (f"event: {each['type']}\n" if "type" in each else "") + f"data: {json.dumps(each)}\n\n"
        for each in said
    ]
    return [each.encode() for each in [*named, *(["data: [DONE]\n\n"] if done else [])]]


PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m1:streamGenerateContent?alt=sse",
}


def streamed(dialect: str, said: Answer) -> list[bytes]:
    """Return an answer as the events of a dialect."""
    match dialect:
        case "openai":
            return events(chat(said), done=True)
        case "responses":
            return events(responses(said))
        case "anthropic":
            return events(anthropic(said))
        case _:
            return events([gemini(said)])


def question(dialect: str, text: str = "Which port?", **more: object) -> dict[str, object]:
    """Return the first request of a conversation."""
    said = {"role": "user", "content": text}
    match dialect:
        case "openai":
            return {"model": "m1", "stream": True, "messages": [said], **more}
        case "responses":
            item = {"type": "message", "role": "user"}
            content = [{"type": "input_text", "text": text}]
            return {"model": "m1", "stream": True, "input": [{**item, "content": content}], **more}
        case "anthropic":
            return {"model": "m1", "stream": True, "max_tokens": 99, "messages": [said], **more}
        case _:
            return {"contents": [{"role": "user", "parts": [{"text": text}]}], **more}


class Unrecorded:
    """Takes every request and remembers none."""

    chat = None
    how = ""
    recalled = False
    is_as_it_came = False

    async def take(self, _request: object, _body: Mapping[str, object], /) -> "Unrecorded":
        return self

    async def outgoing(self) -> list[object] | None:
        return None

    async def answered(self, _answer: Mapping[str, object], /, *, is_partial: bool) -> None: ...


class Recorded:
    """The store of a gateway, and what takes its turns."""

    def __init__(self, place: str = "memory:", **options: Any) -> None:
        options = {"context_length": 200_000, **options}
        self.conversations = Conversations(place, **options)
        self.turns = TurnKeeper(self.conversations, TreeFile(":memory:"))

    def said(self) -> list[str]:
        """Return the words of everything in the store."""
        store = self.conversations.store
        return [
            entry.message.text
            for session in store.sessions(Listing(limit=100))
            for entry in store.since(session.id, 0)
            if entry.message.text
        ]


@dataclass
class Gateway:
    """A running gateway."""

    url: str
    app: GatewayApp
    client: httpx2.Client

    def post(self, dialect: str, body: object = None, **more: Any) -> httpx2.Response:
        asked = question(dialect) if body is None else body
        return self.client.post(PATHS[dialect], json=asked, **more)

    def metric(self, name: str) -> str:
        text = self.client.get("/metrics").text
        return next(
            line.rpartition(" ")[2]
            for line in text.splitlines()
            if line.startswith(f"holdfast_gateway_{name}")
        )


@contextmanager
def gateway(
    to: Upstream | str, turns: TurnTaker | None = None, **settings: Any
) -> Generator[Gateway]:
    """Serve a gateway before an upstream."""
    url = to if isinstance(to, str) else to.url
    chosen = replace(GatewaySettings(port=0, upstreams=(url,)), **settings)
    tenant = Tenant(turns or Unrecorded())

    async def admit(incoming: Incoming, /) -> Tenant:
        return tenant

    async def nothing() -> None:
        pass

    proxy = Proxy(
        chosen, upstreams_of(chosen.upstreams, {}), AiohttpClient(chosen.silence_seconds), admit,
        Metrics(),
    )  # fmt: skip
    app = GatewayApp(proxy, proxy, nothing, nothing)
    listening = bound(chosen)
    server = Server(server_config(app))
    server.config.timeout_graceful_shutdown = 2
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.005)
    here = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with httpx2.Client(base_url=here, timeout=30) as client:
            yield Gateway(here, app, client)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
