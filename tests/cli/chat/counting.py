"""A provider that says the same each time, and counts the tokens of what it was sent."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.cli.chat.talking import says
from tests.providers.provider import Provider, Request, send, served

CHARACTERS_A_TOKEN = 3.55
"""As the model on this machine counts the rehearsal, with its template."""


@contextmanager
def counting_provider(answer: str) -> Generator[Provider]:
    """Serve this answer with the usage of each request."""
    state = Provider("")

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            fields = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append(Request(self.path, fields, {}))
            said = sum(len(message["content"]) for message in fields["messages"])
            send(self, says(answer, tokens=int(said / CHARACTERS_A_TOKEN)))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
            """Say nothing: a test's output is its own."""

    with served(Answering) as state.url:
        yield state
