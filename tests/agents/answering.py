"""A provider on the loopback that speaks what agents speak, and says what the test wants.

Whatever is said has a mark that is said once. What an agent sends with its next request shows by
the marks, and by their order, what its model sees.
"""

import json
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import groupby
from typing import Any

from tests.agents.answers import Answer, Call, Event, anthropic, chat, gemini, responses
from tests.providers.provider import respond, served

MARK = re.compile(r"(?:ask|out|say)-\d+")
_DIALECTS = {"/messages": anthropic, "/responses": responses, "/chat/completions": chat}
_LISTS = ("messages", "input", "contents")
CHOICE = {"reasoning": "It is simple.", "complexity_score": 1, "complexity_reasoning": "Simple."}
"""What Gemini CLI wants to hear when it asks which model is to answer."""


@dataclass(frozen=True)
class Request:
    """What an agent asked, and the mark of what it was told."""

    body: Mapping[str, Any]
    mark: str

    @property
    def marks(self) -> list[str]:
        """Return what its messages say, in the order in which the model reads it."""
        return marks_of(next((self.body[name] for name in _LISTS if name in self.body), []))

    @property
    def is_turn(self) -> bool:
        """Say whether an agent asks for the next step, and not for a title or a summary."""
        return bool(self.body.get("tools"))


@dataclass
class Model:
    """What the server says and what it was asked."""

    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    wanted: Call | None = None
    """What the model calls in its next turn, once."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def shown(self, mark: str) -> Request:
        """Return the first turn in which the model saw a mark."""
        return next(each for each in self.requests if each.is_turn and mark in each.marks)

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Return the next answer."""
        with self.lock:
            number = len(self.requests)
            request = Request(body, f"say-{number}")
            self.requests.append(request)
            if self.wanted is None or not request.is_turn:
                return Answer(number, f"Done, {request.mark}.")
            call, self.wanted = self.wanted, None
            return Answer(number, "Let me look.", call)


def marks_of(messages: Sequence[object]) -> list[str]:
    """Return the marks in messages of any provider.

    One that comes twice in a row is one: a call and its result have the same, and Gemini CLI sends
    some results twice.
    """
    return [mark for mark, _ in groupby(MARK.findall(json.dumps(messages)))]


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Model

    def do_GET(self) -> None:
        self._send({"data": [], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        stream = next((_DIALECTS[end] for end in _DIALECTS if path.endswith(end)), None)
        if stream is not None:
            self._stream(stream(self.state.answer(body)))
        elif "enerateContent" in path:
            self._gemini(body)
        else:
            self._send({"input_tokens": 100})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
        """Say nothing: a test's output is its own."""

    def _gemini(self, body: Mapping[str, Any]) -> None:
        if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            self._send(gemini(Answer(0, json.dumps(CHOICE))))
        elif "stream" in self.path:
            self._stream([gemini(self.state.answer(body))])
        else:
            self._send(gemini(self.state.answer(body)))

    def _send(self, fields: Event) -> None:
        respond(self, 200, {}, json.dumps(fields).encode())

    def _stream(self, events: Sequence[Event]) -> None:
        lines = [f"data: {json.dumps(each)}\n\n" for each in events]
        names = [f"event: {each['type']}\n" if "type" in each else "" for each in events]
        body = "".join(name + line for name, line in zip(names, lines, strict=True))
        respond(self, 200, {"content-type": "text/event-stream"}, body.encode())


@contextmanager
def model() -> Generator[Model]:
    """Serve until the test has ended."""
    state = Model()
    handler = type("Answering", (_Answering,), {"state": state})
    with served(handler) as state.url:
        yield state
