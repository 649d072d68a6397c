"""A provider on the loopback: a real HTTP server whose answers a test chooses."""

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT_PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer; `cut` closes the connection after that many bytes of the body.

    With `keeps` the connection stays open for another request; without an answer (`drops`) it is
    closed as soon as the request was read. A body may hold bytes that are no
    text, written as Python's escaped surrogates.
    """

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cut: int | None = None
    delay: float = 0.0
    keeps: bool = False
    drops: bool = False


@dataclass(frozen=True)
class Request:
    path: str
    fields: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Provider:
    """What the server says and what it was asked."""

    url: str
    replies: list[Reply] = field(default_factory=list[Reply])
    requests: list[Request] = field(default_factory=list[Request])
    connections: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """The addresses of the clients' sockets."""
    whole: Reply | None = None
    """What is answered where no stream is asked for, such as a record; by default the next."""

    def next_reply(self) -> Reply:
        """Return the next answer; the last one repeats."""
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def provider(*replies: Reply, whole: Reply | None = None) -> Generator[Provider]:
    """Serve these answers, the last one for ever."""
    state = Provider("", list(replies), whole=whole)

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", 0))
            fields = json.loads(self.rfile.read(size))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.requests.append(Request(self.path, fields, headers))
            state.connections.add(self.client_address)
            whole = None if fields.get("stream") else state.whole
            send(self, whole or state.next_reply())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
            """Say nothing: a test's output is its own."""

    with served(Answering) as state.url:
        yield state


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """Serve on the loopback, and return under which address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(connection: BaseHTTPRequestHandler, reply: Reply) -> None:
    time.sleep(reply.delay)
    if reply.drops:
        connection.close_connection = True
        return
    body = reply.body.encode("utf-8", "surrogateescape")
    respond(connection, reply.status, reply.headers, body, cut=reply.cut, keep=reply.keeps)


def respond(
    connection: BaseHTTPRequestHandler,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    cut: int | None = None,
    keep: bool = False,
) -> None:
    """Send an answer, of which the body may be cut, and close unless the connection is kept."""
    connection.close_connection = not keep
    try:
        connection.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            connection.send_header(name, value)
        connection.send_header("content-length", str(len(body)))
        # Said, not only done: a client that is not told may send its next request into the close.
        if not keep:
            connection.send_header("connection", "close")
        connection.end_headers()
        connection.wfile.write(body[:cut])
    except ConnectionError:
        pass  # the client has given up waiting


def chat(content: object, *, finish: str = "stop", refusal: str | None = None) -> Reply:
    """Return a chat completion with this content."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return Reply(body=json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}))


def message(*blocks: Mapping[str, object], stop: str = "end_turn") -> Reply:
    """Return an Anthropic message with these blocks."""
    fields = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    return Reply(body=json.dumps({**fields, "content": blocks, "stop_reason": stop}))


def error(status: int, sentence: str, **headers: str) -> Reply:
    """Return an error body as both providers write it."""
    body = json.dumps({"type": "error", "error": {"type": "problem", "message": sentence}})
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, body, names)


def outcome(write: Callable[[], str]) -> str | Exception:
    """Return the text or the error, so that both can be compared."""
    try:
        return write()
    except Exception as raised:  # noqa: BLE001 - which one it is, is the question
        return raised
