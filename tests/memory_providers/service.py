"""A memory service on the loopback: a real HTTP server whose answers a test chooses by path."""

import json
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.providers.provider import respond, served


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; a body that is text goes out as it is, anything else as JSON."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0


@dataclass(frozen=True)
class Asked:
    """What the server was asked."""

    method: str
    path: str
    fields: Any
    headers: Mapping[str, str] = field(compare=False, default_factory=dict[str, str])


@dataclass
class Service:
    """The answers by path; a path that has none is answered with 404."""

    answers: dict[str, Answer]
    url: str = ""
    asked: list[Asked] = field(default_factory=list[Asked])

    def requests(self, path: str) -> list[Any]:
        """Return the bodies that came to this path."""
        return [each.fields for each in self.asked if each.path == path]


@contextmanager
def service(answers: Mapping[str, Answer]) -> Generator[Service]:
    """Serve these answers until the end of the block."""
    state = Service(dict(answers))

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            size = int(self.headers.get("content-length", 0))
            fields = json.loads(self.rfile.read(size) or b"null")
            path = self.path.partition("?")[0]
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.asked.append(Asked(str(self.command), path, fields, headers))
            send(self, state.answers.get(path, Answer({"detail": "Not found."}, 404)))

        do_GET = do_POST = do_PUT = _answer  # noqa: N815 - the server's own names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
            """Say nothing: a test's output is its own."""

    with served(Answering) as state.url:
        yield state


def send(connection: BaseHTTPRequestHandler, answer: Answer) -> None:
    time.sleep(answer.delay)
    text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
    respond(connection, answer.status, answer.headers, text.encode())


FAILURES = {
    "401": (Answer({"detail": "bad key"}, 401), r"refused the credential; check \w+_API_KEY"),
    "403": (Answer({"detail": "not yours"}, 403), "refused the credential"),
    "429": (
        Answer({"detail": "slow down"}, 429, {"Retry-After": "7"}),
        r"too many requests; it can be asked again in 7 s \(HTTP 429: slow down\)",
    ),
    "500": (Answer({"detail": "oops"}, 500), r"did not do it \(HTTP 500: oops\)"),
    "502 in HTML": (
        Answer("<html>bad gateway", 502, {"content-type": "text/html"}),
        r"did not do it \(HTTP 502",
    ),
    "garbage": (Answer("{nope"), "answered what cannot be read"),
    "no body": (Answer(""), "answered what cannot be read"),
    "a page": (
        Answer("<html>welcome", 200, {"content-type": "text/html"}),
        "answered what cannot be read",
    ),
    "a number": (Answer(5), "answered what cannot be read"),
    "silence": (Answer({}, delay=2.0), "gave no answer within 1 s"),
}
"""What can go wrong on the wire, and what must be said of it, the same for every service."""

PATIENCE = {"silence": 1.0}
"""How long a client waits where it waits in vain; elsewhere a busy machine gets its time."""
