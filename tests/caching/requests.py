"""Requests and books for tests of caching: a session on a real store, counted by one counter."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.caching import Accountant, Sent, Support, Terms, mark, weigh_block
from holdfast.caching.cache_model import Marked
from holdfast.cost import Price
from holdfast.testing.cache_simulator import CacheSimulator
from holdfast.tokens import Counter, Estimator
from holdfast.wire import Body
from holdfast.wire.tool_specs import ToolSpec, write_tools
from holdfast.wiring import Conversation
from tests.promises.conversations import turn

MODEL = "claude-sonnet-4-5"
SONNET = Price(input=3.0, output=15.0, cache_read=0.3, cache_write_5m=3.75, cache_write_1h=6.0)
MINUTE = 60_000
BASH = ToolSpec("bash", "Run a command and return what it prints. " * 40)
READ = ToolSpec("read", "Read a file.")


class Letters:
    """Counts four letters as a token."""

    name = "letters"

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4


@dataclass(frozen=True, slots=True)
class Books:
    """An accountant and a simulator with the same rules and the same counter."""

    accountant: Accountant
    simulator: CacheSimulator

    def send(self, sent: Sent, at: int, **because: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return reads, writes and fresh tokens, as expected and as they came."""
        expected = self.accountant.expect(sent, at, **because)
        usage = self.simulator.answer(wire_request(sent), at)
        self.accountant.report(usage)
        came = (usage.cache_read_tokens, usage.cache_write_tokens, usage.input_tokens)
        return (expected.read, expected.written, expected.fresh), came


def books(support: Support, counter: Counter | None = None, **terms: Any) -> Books:
    counting = counter or Estimator()
    accountant = Accountant(Terms(support=lambda _: support, counter=counting, **terms))
    return Books(accountant, CacheSimulator(support, lambda block: weigh_block(block, counting)))


def wire_request(sent: Sent) -> dict[str, object]:
    """Return the JSON that would be sent."""
    system = {} if sent.body.system is None else {"system": sent.body.system}
    tools = write_tools(sent.tools, sent.dialect)
    request = {"model": sent.model, "tools": tools, **system, "messages": sent.body.messages}
    return json.loads(json.dumps(request))


def plain(sent: Sent) -> str:
    """Return what a cache compares: every block in order, without markers."""
    lines = [json.dumps(tool) for tool in write_tools(sent.tools, sent.dialect)]
    for message in ({"role": "system", "content": sent.body.system}, *sent.body.messages):
        content = message.get("content")
        parts: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
        without = [{**part, "cache_control": None} for part in parts or []]
        lines.append(json.dumps({**message, "cache_control": None, "content": without}))
    return "\n".join(lines)


def said(text: str, words: int = 0) -> str:
    return " ".join([text, *(["word"] * words)])


def talk(*lengths: int, system: str = "Be brief.") -> Body:
    """Return a talk whose messages have so many letters, in Anthropic's layout."""
    roles = ("user", "assistant")
    messages: list[dict[str, object]] = [
        {"role": roles[index % 2], "content": f"{index}".ljust(length, "x")}
        for index, length in enumerate(lengths)
    ]
    return Body(messages, system)


def sent(body: Body, *, ttl: Any = "5m", **fields: Any) -> Sent:
    values: dict[str, Any] = {"model": MODEL, "dialect": "anthropic", **fields}
    return Sent(body=mark(body, ttl=ttl), **values)


@dataclass(frozen=True, slots=True)
class Step:
    """A request of a session, and whether a compaction came right before it."""

    body: Body
    compacted: bool

    def sent(self, dialect: str, support: Support) -> Sent:
        marked = isinstance(support, Marked)
        body = mark(self.body, native=support.native) if marked else self.body
        return Sent(model=MODEL, dialect=dialect, body=body, tools=(BASH,))


def session(path: Path, dialect: str, *, turns: int = 30) -> Iterator[Step]:
    """Yield the requests of a real conversation with tools, as they go out."""
    opening: dict[str, Any] = {"summarizer": None, "counter": "estimate", "active": False}
    with Conversation.open(store=path, context_length=6_000, model=MODEL, **opening) as chat:
        chat.set_system(said("You are a careful engineer.", 1_200))
        passes = 0
        for number in range(turns):
            for message in turn(number):
                if message["role"] == "assistant":
                    body = chat.body(dialect)
                    now = chat.status().compactions
                    yield Step(body, now > passes)
                    passes = now
                chat.add_response(message)
