"""A strict provider with a small window, `holdfast serve` before it, and a tap before that.

The provider refuses what is over its window or against its rules, and calls tools until it is told
otherwise. The tap writes down what the agent itself sends.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast.recognition.request import MESSAGES, dialect_of_path
from tests.agents.answering import CHOICE
from tests.agents.answers import Answer, Event, anthropic, chat, gemini, responses
from tests.agents.programs import Program
from tests.agents.strict import refusals
from tests.providers.provider import respond, served

WINDOW = 32_000
LETTERS_A_TOKEN = 4
REFUSAL = "prompt is too long: {size} tokens > {window} maximum"
TAPPED = "x-tapped"
"""The header by which the tap numbers a request; the gateway passes every header on."""
STREAMS: dict[str, Callable[[Answer], list[Event]]] = {
    "anthropic": anthropic,
    "responses": responses,
    "openai": chat,
    "gemini": lambda answer: [gemini(answer)],
}
COMPACTION = re.compile(r"summary|summariz", re.IGNORECASE)
"""A word in every agent's own request for a summary, and in nothing that is asked here."""
ITS_SUMMARY = "Everything was listed."
HELPERS = re.compile(r"Review the conversation above|Managed memory has TWO directories")
"""How Hermes and Qwen ask about all of a conversation beside it."""


@dataclass(frozen=True)
class Taken:
    """A request that reached the provider within its window."""

    tapped: int
    """Which request of the agent it was."""
    kind: str
    body: Mapping[str, Any]
    size: int


@dataclass
class SmallModel:
    """What the provider says, and what it was asked."""

    program: Program
    project: Path
    step_text: Callable[[int], str]
    """What it says at each step."""
    url: str = ""
    came: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """What the agent sent, as the tap saw it."""
    taken: list[Taken] = field(default_factory=list[Taken])
    refused: list[int] = field(default_factory=list[int])
    """How many tokens there were in each request over the window."""
    problems: list[str] = field(default_factory=list[str])
    sealed: dict[str, str] = field(default_factory=dict[str, str])
    steps: int = 0
    left: int = 0
    """Tool steps until the turn ends."""
    reported: int = 0
    """What is reported as the size of requests, until the agent compacts; else what they weigh."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, dialect: str, raw: bytes, tapped: int) -> Answer | None:
        """Take the next step; None where the request is refused."""
        body, size = json.loads(raw), tokens(raw)
        with self.lock:
            number = len(self.taken) + 1
            found = [
                each
                for each in refusals(dialect, body, self.sealed)
                if not any(fault in each for fault in self.program.own_faults)
            ]
            kind = _kind(dialect, self.came[tapped])
            self.taken.append(Taken(tapped, kind, body, size))
            self.problems += [f"{number} ({kind}): {each}" for each in found]
            said = self._said(number, kind, self.reported or size)
            if kind == "compaction":
                self.reported = 0
            self.sealed[said.seal] = said.thought
            return None if found else said

    def _said(self, number: int, kind: str, read: int) -> Answer:
        match kind:
            case "side":
                return Answer(number, "A title", read=read)
            case "compaction":
                return Answer(number, f"<summary>{ITS_SUMMARY}</summary>", read=read)
            case "helper":
                return Answer(number, "Nothing to save.", read=read)
            case _ if self.left == 0:
                return Answer(number, f"Done, say-{number}.", read=read, thought=f"End {number}.")
            case _:
                self.left -= 1
                self.steps += 1
                wanted = commands(self.steps, self.project)
                first, *more = map(self.program.runs, wanted)
                return Answer(
                    number, self.step_text(self.steps), first, read,
                    f"What comes at step {self.steps}?", tuple(more),
                )  # fmt: skip


def commands(step: int, project: Path) -> list[str]:
    """Return what is called at a step: at some two at once, and at one what fails.

    Files are named in full, since OpenClaw works in a folder of its own.
    """
    if step == 7:
        return [f"sh {project}/deploy.sh"]
    file = f"{project}/listing/{step}.txt"
    return [f"cat {file}", f"grep -c line {file}"] if step % 9 == 5 else [f"cat {file}"]


def _kind(dialect: str, body: Mapping[str, Any]) -> str:
    """Return what an agent asks for: the next step, or something beside the conversation."""
    newest = body[MESSAGES[dialect]][-1]
    last = json.dumps(newest)
    if HELPERS.search(last):
        return "helper"
    if newest.get("role") == "user" and COMPACTION.search(last):
        return "compaction"
    return "step" if body.get("tools") else "side"


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
            self._refuse("context_length_exceeded", REFUSAL.format(size=size, window=WINDOW))
        else:
            self._answer(dialect, raw)

    def _answer(self, dialect: str, raw: bytes) -> None:
        config = json.loads(raw).get("generationConfig", {})
        if config.get("responseMimeType") == "application/json":
            self._send(gemini(Answer(0, json.dumps(CHOICE))))
            return
        said = self.state.answer(dialect, raw, int(self.headers[TAPPED]))
        if said is None:
            self._refuse("invalid_request", self.state.problems[-1])
        elif dialect == "gemini" and "stream" not in self.path:
            self._send(gemini(said))
        else:
            lines = [
                (f"event: {each['type']}\n" if "type" in each else "")
                + f"data: {json.dumps(each)}\n\n"
                for each in STREAMS[dialect](said)
            ]
            respond(self, 200, {"content-type": "text/event-stream"}, "".join(lines).encode())

    def _refuse(self, code: str, words: str) -> None:
        error = {"type": "invalid_request_error", "code": code, "message": words}
        respond(self, 400, {}, json.dumps({"type": "error", "error": error}).encode())

    def _send(self, fields: Event) -> None:
        respond(self, 200, {}, json.dumps(fields).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
        """Say nothing: a test's output is its own."""


class _Tap(_Small):
    to: str

    def do_GET(self) -> None:
        self._pass(b"", [])

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.state.lock:
            self.state.came.append(json.loads(raw or b"{}"))
            number = len(self.state.came) - 1
        self._pass(raw, [(TAPPED, str(number))])

    def _pass(self, raw: bytes, more: list[tuple[str, str]]) -> None:
        left_out = ("host", "connection")
        headers = [pair for pair in self.headers.items() if pair[0].lower() not in left_out]
        connection = HTTPConnection(urlsplit(self.to).netloc, timeout=120)
        connection.request(self.command, self.path, raw or None, dict([*headers, *more]))
        answer = connection.getresponse()
        body = answer.read()
        kind = answer.headers.get("content-type", "application/json")
        respond(self, answer.status, {"content-type": kind}, body)
        connection.close()


@contextmanager
def tapped_gateway(model: SmallModel, store: Path) -> Generator[str]:
    """Serve the provider, the gateway and the tap; yields the address for the agent."""
    provider = type("Small", (_Small,), {"state": model})
    with served(provider) as model.url, gateway(store, model.url) as url:
        tap = type("Tap", (_Tap,), {"state": model, "to": url})
        with served(tap) as address:
            yield address


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
