"""Conversations of agents as the requests that they send: each turn repeats all that was said.

Every message of every conversation is unlike any other, so that nothing is known twice.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from bench.transcripts import transcript
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench.transcripts import Chat

ANSWER = (
    "The totals differ by one because the nightly job reads the ledger before the lock is taken. "
    "I move the read behind the lock and run the tests of the billing package again."
)
"""What the scripted upstream says to everything, short streams and whole answers alike."""
KINDS = {"2 kB": (6, 100), "20 kB": (50, 300), "100 kB": (200, 520), "1 MB": (2_000, 520)}
"""How many messages a conversation has when it begins, and their longest text in characters."""
PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/{model}:{verb}",
}
_MESSAGES = {"openai": "messages", "responses": "input", "anthropic": "messages"}
_UNIQUE = "zqxjkvwy"
"""Stands in all texts and ids for what tells conversations apart."""
_QUESTION = (
    "Go on with step {}, and say why the totals of yesterday's run differ from the ledger's."
)
_TOOL = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "A file of the project."}},
}
_numbers = count(0x10000000)


class Talk:
    """One conversation; `body` is its next request, `go_on` adds the answer and a new question."""

    def __init__(self, kind: str, dialect: str = "openai", model: str = "bench") -> None:
        """Begin a conversation that is like no other."""
        unique = f"{next(_numbers):x}".encode()
        said, asking, self._tail = (
            text.replace(_UNIQUE.encode(), unique) for text in _template(kind, dialect)
        )
        self._head = asking.replace(b"the-model", model.encode())
        self._said = bytearray(said)
        self._unique, self._dialect, self._model = unique.decode(), dialect, model
        self.turns = 0
        self.session = b""
        """As which conversation a gateway knows it."""

    def body(self, *, stream: bool) -> bytes:
        """Return the request that asks the newest question."""
        wish = b"" if self._dialect == "gemini" else b',"stream":true' if stream else b""
        return b"".join((self._head, self._said, self._tail, wish, b"}"))

    def path(self, *, stream: bool) -> str:
        """Return where it is sent."""
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return PATHS[self._dialect].format(model=self._model, verb=verb)

    def go_on(self) -> None:
        """Take the answer and ask again."""
        self.turns += 1
        question = f"[{self._unique}] {_QUESTION.format(self.turns)}"
        for role, text in (("assistant", ANSWER), ("user", question)):
            self._said += b"," + _json(_spoken(self._dialect, role, text))


def head(dialect: str, path: str, length: int) -> bytes:
    """Return the head of a request over HTTP, with the headers that its dialect wants."""
    own = {
        "anthropic": "x-api-key: sk-bench\r\nanthropic-version: 2023-06-01\r\n",
        "gemini": "x-goog-api-key: sk-bench\r\n",
    }.get(dialect, "authorization: Bearer sk-bench\r\n")
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{own}content-type: application/json\r\n"
        f"content-length: {length}\r\n\r\n"
    ).encode()


@cache
def _template(kind: str, dialect: str) -> tuple[bytes, bytes, bytes]:
    """Return the messages without their brackets, and what stands before and behind them."""
    number, longest = KINDS[kind]
    system, *said = _marked(transcript(number, verbosity=0.3), longest)
    rules = str(system["content"])
    wire = DIALECTS[dialect]
    messages = wire.encode(DIALECTS["openai"].decode(Body(list(said)))).messages
    last = _spoken(dialect, "user", f"[{_UNIQUE}] Begin.")
    written = b",".join(map(_json, [*messages, last]))
    before, after = _beside(dialect, rules)
    return written, before, after


def _marked(messages: Sequence[Chat], longest: int) -> Iterator[Chat]:
    """Yield messages of this length at most, with a place for what makes them unique."""
    for message in messages:
        text = f"[{_UNIQUE}] {str(message['content'])[:longest]}"
        marked: Chat = {**message, "content": text}
        if "tool_call_id" in message:
            marked["tool_call_id"] = f"{message['tool_call_id']}{_UNIQUE}"
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            marked["tool_calls"] = [_call(each, longest) for each in calls]
        yield marked


def _call(call: Mapping[str, object], longest: int) -> Mapping[str, object]:
    function = call["function"]
    if not isinstance(function, dict):
        raise TypeError(function)
    short = {
        name: str(value)[:longest] for name, value in json.loads(function["arguments"]).items()
    }
    written = {**function, "arguments": json.dumps(short)}
    return {**call, "id": f"{call['id']}{_UNIQUE}", "function": written}


def _beside(dialect: str, rules: str) -> tuple[bytes, bytes]:
    """Return what a request has beside its messages: the model, the system prompt, the tools."""
    names = ("read_file", "search", "shell", "edit_file", "fetch")
    about = [(name, f"Runs {name} in the project.") for name in names]
    match dialect:
        case "openai":
            functions = [{"name": n, "description": d, "parameters": _TOOL} for n, d in about]
            tools = [{"type": "function", "function": each} for each in functions]
            prompt = _json({"role": "system", "content": rules})
            return b'{"model":"the-model","messages":[' + prompt + b",", _closing("tools", tools)
        case "responses":
            tools = [
                {"type": "function", "name": n, "description": d, "parameters": _TOOL}
                for n, d in about
            ]
            start = {"model": "the-model", "instructions": rules}
            return _json(start)[:-1] + b',"input":[', _closing("tools", tools)
        case "anthropic":
            tools = [{"name": n, "description": d, "input_schema": _TOOL} for n, d in about]
            start = {"model": "the-model", "max_tokens": 4096, "system": rules}
            return _json(start)[:-1] + b',"messages":[', _closing("tools", tools)
        case _:
            declared = [{"name": n, "description": d, "parameters": _TOOL} for n, d in about]
            start = {"systemInstruction": {"parts": [{"text": rules}]}}
            tools = [{"functionDeclarations": declared}]
            return _json(start)[:-1] + b',"contents":[', _closing("tools", tools)


def _closing(name: str, value: object) -> bytes:
    return b'],"' + name.encode() + b'":' + _json(value)


def _spoken(dialect: str, role: str, text: str) -> Mapping[str, object]:
    """Return what somebody said, as a client of the dialect repeats it."""
    match dialect:
        case "responses":
            kind = "output_text" if role == "assistant" else "input_text"
            content = [{"type": kind, "text": text}]
            return {"type": "message", "role": role, "content": content}
        case "anthropic":
            return {"role": role, "content": [{"type": "text", "text": text}]}
        case "gemini":
            return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
        case _:
            return {"role": role, "content": text}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
