"""The agents themselves work through the gateway, far beyond what their provider takes.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from holdfast.formats.documents.container import SYSTEM_KEYS
from holdfast.ports import Listing
from holdfast.recognition.request import MESSAGES, dialect_of_path
from holdfast.session import Kind
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.registry import Conversations
from tests.agents.answering import CHOICE
from tests.agents.answers import Answer, Event, anthropic, chat, gemini, responses
from tests.agents.commands import installed
from tests.agents.programs import PROGRAMS, Desk, Program
from tests.providers.provider import respond, served

BIN = installed()
pytestmark = pytest.mark.timeout(900)
WINDOW = 32_000
STEPS = 34
"""Tool steps of each of the two turns."""
FACT = "the release is called Osprey-4711"
LETTERS_A_TOKEN = 4
THEIR_OWN = {("gemini", "pairing")}
"""After a resume Gemini CLI sends results twice, which goes on as it came in."""
STREAMS: dict[str, Callable[[Answer], list[Event]]] = {
    "anthropic": anthropic,
    "responses": responses,
    "openai": chat,
    "gemini": lambda answer: [gemini(answer)],
}
REFUSAL = "prompt is too long: {size} tokens > {window} maximum"


@dataclass
class SmallModel:
    """A provider that refuses what is over its window, and calls a tool until told otherwise."""

    program: Program
    url: str = ""
    taken: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    refused: list[int] = field(default_factory=list[int])
    """How many tokens there were in each request over the window."""
    problems: list[str] = field(default_factory=list[str])
    steps: int = 0
    left: int = 0
    """Tool steps until the turn ends."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, raw: bytes) -> Answer:
        """Take the next step."""
        body, read = json.loads(raw), tokens(raw)
        with self.lock:
            self.taken.append(body)
            number = len(self.taken)
            self.problems += [f"{number}: {each}" for each in problems(self.program.dialect, body)]
            if not body.get("tools"):
                return Answer(number, "A title", read=read)
            if self.left == 0:
                return Answer(number, f"Done, say-{number}.", read=read)
            self.left -= 1
            self.steps += 1
            # Qwen loses what a command writes at its very end.
            shown = f"seq -f 'out-{self.steps} line %g of the listing' 40; sleep 0.1"
            return Answer(number, f"Step {self.steps}.", self.program.runs(shown), read)


def problems(dialect: str, body: Mapping[str, Any]) -> list[str]:
    """Return what a provider would refuse in a request."""
    beside = next((body[name] for name in SYSTEM_KEYS[dialect] if body.get(name)), None)
    found = DIALECTS[dialect].validate(Body(body[MESSAGES[dialect]], beside))
    return [str(each) for each in found if (dialect, each.rule) not in THEIR_OWN]


def tokens(body: bytes) -> int:
    """Return what a request weighs, roughly."""
    return len(body) // LETTERS_A_TOKEN


class _Small(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: SmallModel

    def do_GET(self) -> None:
        respond(self, 200, {}, b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        dialect = dialect_of_path(self.path)
        if "count_tokens" in self.path or not dialect:
            respond(self, 200, {}, json.dumps({"input_tokens": tokens(raw)}).encode())
        elif (size := tokens(raw)) > WINDOW:
            self.state.refused.append(size)
            words = REFUSAL.format(size=size, window=WINDOW)
            error = {"type": "invalid_request_error", "code": "context_length_exceeded"}
            told = {"type": "error", "error": {**error, "message": words}}
            respond(self, 400, {"content-type": "application/json"}, json.dumps(told).encode())
        else:
            self._answer(dialect, raw)

    def _answer(self, dialect: str, raw: bytes) -> None:
        body = json.loads(raw)
        if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            self._send(gemini(Answer(0, json.dumps(CHOICE))))
        elif dialect == "gemini" and "stream" not in self.path:
            self._send(gemini(self.state.answer(raw)))
        else:
            lines = [
                (f"event: {each['type']}\n" if "type" in each else "")
                + f"data: {json.dumps(each)}\n\n"
                for each in STREAMS[dialect](self.state.answer(raw))
            ]
            respond(self, 200, {"content-type": "text/event-stream"}, "".join(lines).encode())

    def _send(self, fields: Event) -> None:
        respond(self, 200, {"content-type": "application/json"}, json.dumps(fields).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
        """Say nothing: a test's output is its own."""


@contextmanager
def gateway(store: Path, upstream: str) -> Generator[str]:
    """Run `holdfast serve` as a user does; yields its address."""
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--json"]
    environ = {
        "HOLDFAST_HOME": str(store),
        "HOLDFAST_MODEL_CONTEXT_LENGTH": str(WINDOW),
    }
    with (
        (store.parent / "gateway.log").open("w") as log,
        subprocess.Popen(
            [*command, "--upstream", upstream],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as serving,
    ):
        assert serving.stdout is not None
        written = "".join(iter(serving.stdout.readline, "}\n")) + "}"
        try:
            yield json.loads(written)["url"]
        finally:
            serving.terminate()
            assert serving.wait(60) in (0, -signal.SIGTERM)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_a_task_far_over_the_window_completes_with_everything_kept(
    program: Program, tmp_path: Path
) -> None:
    model, store = SmallModel(program), tmp_path / "store"
    handler = type("Small", (_Small,), {"state": model})
    began = time.monotonic()
    with served(handler) as model.url, gateway(store, model.url) as url:
        desk = Desk(program, tmp_path / "home", tmp_path / "project", url, BIN)
        desk.prepare()
        model.left = STEPS
        desk.ask(f"Keep in mind that {FACT}, ask-1. Then list what is there.")
        model.left = STEPS
        desk.ask_again("List the rest as well, ask-2.")
    largest = max(tokens(json.dumps(each).encode()) for each in model.taken)
    print(
        program.name, f"{len(model.taken)} requests, {model.steps} steps, largest {largest},",
        f"refused {model.refused}, {time.monotonic() - began:.0f} s",
    )  # fmt: skip
    assert model.steps == 2 * STEPS
    assert model.refused == []
    assert model.problems == []
    last = json.dumps([each for each in model.taken if each.get("tools")][-1])
    assert "ask-2" in last
    assert FACT in last
    kept = "\n".join(stored(store))
    missing = [
        n for n in range(1, model.steps + 1) if f"out-{n} line 40 of the listing" not in kept
    ]
    assert missing == []


def stored(home: Path) -> Iterator[str]:
    """Return everything that the store has, as it was said."""
    place = home / "profiles" / "default" / "holdfast.db"
    with Conversations(str(place)) as conversations:
        store = conversations.store
        for session in store.sessions(Listing(limit=100)):
            for entry in store.since(session.id, 0):
                if entry.kind is Kind.SAID:
                    yield entry.message.text
                    yield from (result.text for result in entry.message.results)
