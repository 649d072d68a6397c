"""Clients that ask a gateway as agents do, a provider with a small window, and what they were told.

Everything that is said has a mark that is said once, so that the store can be searched for what
is missing and for what is there twice. A client sends its whole history with every request, never
compacts, and sends a request again whose answer did not come to its end.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Any

from holdfast.formats.documents import SYSTEM_KEYS
from holdfast.ports import Listing
from holdfast.recognition.request import MESSAGES, dialect_of_path
from holdfast.session import Kind
from holdfast.stores.sqlite import SqliteStore
from holdfast.wire import DIALECTS, Body
from holdfast.wire.markers import END
from holdfast.wiring.calling import StreamRecorder
from tests.agents.answers import Answer, Call
from tests.gateway.scripted import PATHS, Received, Script, answer, question, stream, streamed
from tests.promises.killing import REPOSITORY

WINDOW = 32_000
LETTERS_A_TOKEN = 4
LISTED = 6_000
"""Letters of what a tool answers."""
MARK = re.compile(r"\b(?:ask|out|say)-[a-z]*\d+(?:-\d+)?\b")
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: Mapping[str, list[object]] = {
    "openai": [{"type": "function", "function": {"name": "read", "parameters": TOOL}}],
    "responses": [{"type": "function", "name": "read", "parameters": TOOL}],
    "anthropic": [{"name": "read", "input_schema": TOOL}],
    "gemini": [{"functionDeclarations": [{"name": "read"}]}],
}
IDS = {"openai": "x-session-id", "responses": "thread-id", "anthropic": "x-claude-code-session-id"}
"""Where agents name their session; Gemini CLI does not."""


@dataclass
class SmallProvider:
    """Refuses what is over its window or not valid, and answers with a tool call or a last word."""

    answered: int = 0
    forwarded: set[str] = field(default_factory=set[str])
    """The newest mark of each request that came here."""
    problems: list[str] = field(default_factory=list[str])
    refused: int = 0
    folded: int = 0
    pause: float = 0.004
    """Seconds between two events of a stream."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, received: Received) -> Script:
        dialect, fields = dialect_of_path(received.target), received.fields
        said = json.dumps(fields[MESSAGES[dialect]])
        with self.lock:
            self.answered += 1
            number = self.answered
            if len(received.body) > WINDOW * LETTERS_A_TOKEN:
                self.refused += 1
                told = f"prompt is too long: {len(received.body) // LETTERS_A_TOKEN} tokens"
                error = {"type": "invalid_request_error", "code": "context_length_exceeded"}
                words = {"type": "error", "error": {**error, "message": told}}
                return answer(json.dumps(words).encode(), "400 Bad Request")
            self.look(dialect, fields)
            beside = next((fields[each] for each in SYSTEM_KEYS[dialect] if fields.get(each)), None)
            found = DIALECTS[dialect].validate(Body(fields[MESSAGES[dialect]], beside))
            self.problems += [f"{number} ({dialect}): {each}" for each in found]
            self.folded += END in said
            call = self.next_call(fields, json.dumps(fields[MESSAGES[dialect]][-1]))
        read = len(received.body) // LETTERS_A_TOKEN
        pieces = streamed(dialect, Answer(number, f"say-{number} is what I think.", call, read))
        if fields.get("stream") or ":streamGenerate" in received.target:
            return stream(*(each for piece in pieces for each in (piece, self.pause)))
        return [self.pause, *answer(json.dumps(assembled(pieces)).encode())]

    def look(self, dialect: str, fields: Mapping[str, Any]) -> None:
        """Remember the newest mark, which the client said last."""
        newest = MARK.findall(json.dumps(fields[MESSAGES[dialect]][-1]))
        if not newest or newest[-1].startswith("say-"):
            self.problems.append(f"{self.answered} ({dialect}): what was said last is missing")
        self.forwarded.update(newest[-1:])

    def next_call(self, _fields: Mapping[str, Any], last: str, /) -> Call | None:
        """Return what the model calls next, after the last message."""
        done = "nothing is left" in last
        return None if done else Call("read", {"path": f"part_{self.answered}.py"})


def assembled(pieces: list[bytes]) -> dict[str, Any]:
    """Return the answer that the events of a stream make up."""
    whole = StreamRecorder()
    for line in b"".join(pieces).splitlines():
        if line.startswith(b"data: {"):
            whole.take(json.loads(line.removeprefix(b"data: ")))
    assert whole.is_whole
    found: Any = whole.answer
    return found


class Unanswered(Exception):
    """No answer came to its end."""


@dataclass
class Talk:
    """One conversation of a client."""

    name: str
    dialect: str
    random: Random
    streams: bool = True
    is_named: bool = True
    messages: list[Any] = field(default_factory=list[Any])
    marks: list[str] = field(default_factory=list[str])
    """What was said, as the client has it."""
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Ids and names of the calls that wait for their results."""
    said: int = 0
    cut: int = 0
    """Answers that had begun and did not end."""

    def turn(self, port: int, steps: int) -> None:
        """Ask for something, and use tools until the model is done."""
        self.say("ask")
        for step in range(1, steps):
            self.take(self._answered(port))
            self.say("out", "nothing is left" if step == steps - 1 else "go on")
        self.take(self._answered(port))

    def request(self) -> tuple[str, bytes, dict[str, str]]:
        """Return path, body and headers of what is asked now."""
        body = question(self.dialect, "", tools=TOOLS[self.dialect])
        body[MESSAGES[self.dialect]] = self.messages
        path = PATHS[self.dialect]
        if not self.streams:
            body.pop("stream", None)
            path = path.replace(":streamGenerateContent?alt=sse", ":generateContent")
        headers = {"content-type": "application/json", "authorization": "Bearer k"}
        if self.is_named and self.dialect in IDS:
            headers[IDS[self.dialect]] = self.name
        return path, json.dumps(body).encode(), headers

    def once(self, port: int) -> tuple[int, bytes]:
        """Send the request; return status and answer.

        Raises:
            Unanswered: when the gateway was not there, or went away.
        """
        path, body, headers = self.request()
        has_begun = False
        try:
            with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("POST", path, body, headers)
                got = connection.getresponse()
                has_begun = True
                assert got.getheader("x-holdfast-warning") is None, got.getheaders()
                return got.status, got.read()
        except (OSError, HTTPException) as error:
            self.cut += has_begun
            raise Unanswered from error

    def read(self, raw: bytes) -> dict[str, Any]:
        """Return what an answer says."""
        return assembled([raw]) if self.streams else json.loads(raw)

    def _answered(self, port: int) -> dict[str, Any]:
        end = time.monotonic() + 120
        while True:
            try:
                status, raw = self.once(port)
            except Unanswered:
                assert time.monotonic() < end, "the gateway does not come back"
                time.sleep(self.random.uniform(0.01, 0.1))
                continue
            assert status == 200, (self.name, status, raw[:500])
            return self.read(raw)

    def take(self, got: dict[str, Any]) -> None:
        """Take an answer into the history, as the SDK of its provider shows it."""
        match self.dialect:
            case "anthropic":
                said = [{"role": "assistant", "content": got["content"]}]
                calls = [each for each in got["content"] if each["type"] == "tool_use"]
                self.calls = [(each["id"], each["name"]) for each in calls]
            case "openai":
                said = [{"role": "assistant", **got["choices"][0]["message"]}]
                calls = got["choices"][0]["message"].get("tool_calls") or []
                self.calls = [(each["id"], each["function"]["name"]) for each in calls]
            case "responses":
                said = got["output"]
                calls = [each for each in said if each["type"] == "function_call"]
                self.calls = [(each["call_id"], each["name"]) for each in calls]
            case _:
                said = [got["candidates"][0]["content"]]
                calls = [each for each in said[0]["parts"] if "functionCall" in each]
                self.calls = [("", each["functionCall"]["name"]) for each in calls]
        self.messages += said
        self.marks += dict.fromkeys(MARK.findall(json.dumps(said)))

    def say(self, kind: str, end: str = "") -> None:
        """Add what the user or a tool says next."""
        self.said += 1
        mark = f"{kind}-{self.name}-{self.said}"
        self.marks.append(mark)
        lines = f"line {self.random.random()} of the listing; "
        text = f"{mark} {lines * (LISTED // len(lines))}{end}" if end else f"{mark} Look at it."
        if kind == "ask":
            self.messages += question(self.dialect, text)[MESSAGES[self.dialect]]  # type: ignore[operator]
            return
        ((id_, name),) = self.calls
        match self.dialect:
            case "anthropic":
                block = {"type": "tool_result", "tool_use_id": id_, "content": text}
                self.messages.append({"role": "user", "content": [block]})
            case "openai":
                self.messages.append({"role": "tool", "tool_call_id": id_, "content": text})
            case "responses":
                item = {"type": "function_call_output", "call_id": id_, "output": text}
                self.messages.append(item)
            case _:
                part = {"functionResponse": {"name": name, "response": {"output": text}}}
                self.messages.append({"role": "user", "parts": [part]})


@dataclass
class Clients:
    """Some clients, each of which has one conversation after the other until it is to stop."""

    port: int
    random: Random
    number: int = 4
    turns: int = 2
    steps: int = 18
    talks: list[Talk] = field(default_factory=list[Talk])
    failures: list[str] = field(default_factory=list[str])
    stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])

    def begin(self) -> None:
        """Let every client begin."""
        for number in range(self.number):
            thread = threading.Thread(target=self._work, args=(number,))
            self._threads.append(thread)
            thread.start()

    def end(self) -> None:
        """Let every client finish what it has begun."""
        self.stop.set()
        for thread in self._threads:
            thread.join()
        assert self.failures == []

    def _work(self, number: int) -> None:
        random = Random(self.random.random())
        dialects = [*PATHS]
        count = 0
        while not self.stop.is_set() and not self.failures:
            kind, count = number + count, count + 1
            talk = Talk(
                f"{chr(ord('a') + number)}{count}",
                dialects[kind % len(dialects)],
                random,
                streams=random.random() < 0.6,
                is_named=random.random() < 0.5,
            )
            self.talks.append(talk)
            try:
                for _ in range(self.turns):
                    talk.turn(self.port, self.steps)
            except Exception as error:  # noqa: BLE001 - told by the test's own thread
                self.failures.append(f"{talk.name} ({talk.dialect}): {type(error)} {error}")


@dataclass
class ServedGateway:
    """`holdfast serve` as a process, started again on the same store and port after its death."""

    home: Path
    upstream: str
    flags: tuple[str, ...] = ()
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def file(self) -> Path:
        """Return where the store is."""
        return self.home / "profiles" / "default" / "holdfast.db"

    @property
    def log(self) -> str:
        """Return what was written to standard error."""
        return (self.home / "log").read_text()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.home.mkdir(exist_ok=True)
        known = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
        flags = ("--port", str(self.port), "--upstream", self.upstream, *self.flags)
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "holdfast", "serve", *flags],
                stderr=log,
                cwd=REPOSITORY,
                env={
                    **known,
                    "HOLDFAST_HOME": str(self.home),
                    "HOLDFAST_MODEL_CONTEXT_LENGTH": str(WINDOW),
                    "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}",
                },
            )
        end = time.monotonic() + 60
        while self.get("/readyz") != 200:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.02)

    def get(self, path: str) -> int:
        """Return the status of an answer; 0 without one."""
        with (
            suppress(OSError, HTTPException),
            closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection,
        ):
            connection.request("GET", path)
            return connection.getresponse().status
        return 0

    def kill(self) -> None:
        """Kill it as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def terminate(self, seconds: float = 60) -> float:
        """Ask it to end; return after how many seconds it did."""
        assert self.process is not None
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(seconds)
        return time.monotonic() - began


@contextmanager
def served_gateway(home: Path, upstream: str, *flags: str) -> Generator[ServedGateway]:
    """Serve a gateway until the test has ended."""
    gateway = ServedGateway(home, upstream, flags)
    gateway.start()
    try:
        yield gateway
    finally:
        if gateway.process is not None and gateway.process.poll() is None:
            gateway.terminate()


def stored_marks(file: Path) -> Counter[str]:
    """Return how often each mark was said, after a look at the store's health."""
    found: Counter[str] = Counter()
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        for session in store.sessions(Listing(limit=None)):
            for entry in store.since(session.id, 0):
                if entry.kind is Kind.SAID:
                    results = " ".join(each.text for each in entry.message.results)
                    found.update(set(MARK.findall(f"{entry.message.text} {results}")))
    return found
