"""Tells whether an engine keeps the contract, defect by defect, for people who write one.

```python
assert check_engine(MyEngine) == ()
```
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.contract import ATTRIBUTES, ContextEngine
from holdfast.engines.plugin_messages import as_handed, borrowed, faults, read_back, shown_to_plugin
from holdfast.engines.plugin_thread import PluginThread, call_offered, tools_of
from holdfast.errors import DecodeError
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS, Body

Wire: TypeAlias = list[dict[str, Any]]

_PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="


def long_talk(turns: int = 36) -> Wire:
    """Return a conversation of many turns with tools, far over any threshold of a small window."""
    talk: Wire = [_said("system", "You are careful. Never touch the schema.")]
    for number in range(turns):
        talk.append(_said("user", f"Please look into part {number} of the billing service."))
        talk += _exchange(f"call_{number}", 1 + number % 3)
        talk.append(_said("assistant", f"Part {number} is fine. " + "It was read in full. " * 20))
    return [*talk, _said("user", "Now write down what port 8099 is for.")]


def _said(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


def _exchange(mark: str, calls: int) -> Wire:
    """Return parallel calls and their results."""
    ids = [f"{mark}_{index}" for index in range(calls)]
    asked = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path": "src/{id_}.py"}}'},
        }
        for id_ in ids
    ]
    answers = [
        {"role": "tool", "tool_call_id": id_, "content": f"line of {id_}\n" * 60} for id_ in ids
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]


SHORT: Final[Wire] = [_said("system", "Be brief."), _said("user", "Hello")]

TALKS: Final[dict[str, Wire]] = {
    "a long conversation": long_talk(),
    "a short conversation": SHORT,
    "a conversation without a system prompt": long_talk()[1:],
    "one request and many steps": [
        _said("user", "Build everything."),
        *(message for number in range(60) for message in _exchange(f"step_{number}", 1)),
    ],
    "a call that still waits": [*long_talk(), _exchange("waiting", 1)[0]],
    "pictures": [
        *long_talk()[:-1],
        _said(
            "user",
            [
                {"type": "text", "text": "What is on this picture?"},
                {"type": "image_url", "image_url": {"url": _PIXEL}},
            ],
        ),
    ],
    "texts of every script": [*long_talk(), _said("user", "修复 src/支付.py 🙂 \u202e naïve \x00")],
    "a user who said the same thing twice": [
        *long_talk(12),
        _said("assistant", "Done."),
        *long_talk(12)[1:],
    ],
}
"""By what they show."""


def offers(engine: object, method: str) -> bool:
    """Say whether an engine has a method that it may have."""
    return callable(getattr(engine, method, None))


def _answered(engine: ContextEngine, name: str, arguments: dict[str, Any]) -> object:
    answer = call_offered(engine, "handle_tool_call", name, arguments, details={})
    try:
        return cast("object", json.loads(answer)) if isinstance(answer, str) else None
    except ValueError:
        return None


_WINDOW = 8_000
_SECONDS = 60.0
_USAGE = {"prompt_tokens": 1_000, "completion_tokens": 20, "total_tokens": 1_020}


@dataclass(frozen=True, slots=True)
class Defect:
    """A promise that an engine breaks."""

    name: str
    """Which promise, by a stable name such as `mutation`."""
    message: str


Check: TypeAlias = "Callable[[], Iterator[str | Defect]]"


def check_engine(factory: Callable[[], Any], *, seconds: float = _SECONDS) -> tuple[Defect, ...]:
    """Return the promises that an engine breaks, the first breach of each; empty if it keeps all.

    Args:
        factory: Returns an engine that nobody has used: a class, or a function.
        seconds: How long one check may take; an engine that hangs is a defect.
    """
    arrived = PluginThread("checked", factory, deadline=seconds).arrive()
    if isinstance(arrived, Raised | Hung):
        return (Defect("shape", arrived.reason),)

    def make() -> ContextEngine:
        engine = cast("ContextEngine", factory())
        call_offered(engine, "update_model", "a-model", _WINDOW, details={})
        return engine

    found: dict[str, Defect] = {}
    for name, check in _Checks(make).by_promise().items():
        for defect in _breaches(name, check, seconds):
            found.setdefault(defect.name, defect)
    return tuple(found.values())


def _breaches(name: str, check: Check, seconds: float) -> Iterator[Defect]:
    ending = PluginThread(name, object, deadline=seconds).run(lambda: list(check()))
    match ending:
        case Returned(found):
            for each in cast("list[str | Defect]", found):
                yield each if isinstance(each, Defect) else Defect(name, each)
        case Raised(reason=reason) | Hung(reason=reason):
            yield Defect(name, reason)


class _Checks:
    """Looks for breaches of each promise, in engines that nobody has used."""

    def __init__(self, make: Callable[[], ContextEngine]) -> None:
        self._make = make

    def by_promise(self) -> dict[str, Check]:
        """Return the checks by the names of the promises; the last ones are of what is optional."""
        return {
            "attributes": self.attributes,
            "separate": self.separate,
            "model": self.model,
            "usage": self.usage,
            "threshold": self.threshold,
            "result": self.result,
            "provenance": self.provenance,
            "progress": self.progress,
            "mutation": self.mutation,
            "idempotence": self.idempotence,
            "arguments": self.arguments,
            "optional": self.optional,
            "lifecycle": self.lifecycle,
            "reset": self.reset,
            "tools": self.tools,
            "tool-errors": self.tool_errors,
            "status": self.status,
        }

    def attributes(self) -> Iterator[str]:
        engine = self._make()
        for name in ATTRIBUTES:
            value: object = getattr(engine, name, None)
            allowed = float | int if name == "threshold_percent" else int
            if not isinstance(value, allowed) or isinstance(value, bool) or value < 0:
                yield f"{name} is {value!r}, and no number from 0 up"
        if not 0 < engine.threshold_percent <= 1:
            yield f"threshold_percent is {engine.threshold_percent!r}; it is a share, up to 1"

    def separate(self) -> Iterator[str]:
        one, other = self._make(), self._make()
        one.update_from_response(dict(_USAGE))
        if one is other or other.last_prompt_tokens:
            yield "two engines share what they count; each conversation needs its own"

    def model(self) -> Iterator[str]:
        engine = self._make()
        for window in (_WINDOW, 200_000) if offers(engine, "update_model") else ():
            engine.update_model("another-model", window)
            if engine.context_length != window:
                yield f"context_length is {engine.context_length} after update_model with {window}"
            if not 0 < engine.threshold_tokens <= window:
                yield f"threshold_tokens is {engine.threshold_tokens} in a window of {window}"

    def usage(self) -> Iterator[str]:
        engine = self._make()
        engine.update_from_response({**_USAGE, "cache_read_tokens": 7})
        shown = (engine.last_prompt_tokens, engine.last_completion_tokens, engine.last_total_tokens)
        if shown != (1_000, 20, 1_020):
            yield f"after usage of 1000, 20 and 1020 tokens the attributes show {shown}"
        engine.update_from_response(dict.fromkeys(_USAGE, 0))
        if engine.last_prompt_tokens:
            yield "usage of zero tokens is not taken note of"

    def threshold(self) -> Iterator[str]:
        engine = self._make()
        for tokens, wanted in ((0, False), (1, False), (engine.context_length * 2, True)):
            said: object = engine.should_compress(tokens)
            if said is not wanted:
                yield f"should_compress({tokens}) is {said!r}"
        if engine.should_compress(engine.threshold_tokens) is not True:
            yield "should_compress says no at threshold_tokens"
        if engine.should_compress(prompt_tokens=max(engine.threshold_tokens // 2, 1)) is not False:
            yield "should_compress says yes at half of threshold_tokens"
        if engine.should_compress() is not False:
            yield "should_compress without tokens says yes before anything was reported"

    def result(self) -> Iterator[Defect]:
        """Yield what is wrong with what `compress` returns, by the name of the rule it breaks."""
        for shown, talk in TALKS.items():
            sheet = shown_to_plugin(DIALECTS["openai"].decode(Body(deepcopy(talk))))
            handed = cast("object", self._make().compress(deepcopy(talk)))
            try:
                after = read_back(sheet, handed)
            except DecodeError as error:
                yield Defect("result", f"{shown}: {error}")
                continue
            for fault in faults(sheet, after, cast("Wire", handed), Scale().total):
                yield Defect(fault.rule, f"{shown}: {fault.message}")

    def provenance(self) -> Iterator[str]:
        """Yield what the engine wrote as if the user had: a model would take it for a request."""
        for shown, talk in TALKS.items():
            sheet = shown_to_plugin(DIALECTS["openai"].decode(Body(deepcopy(talk))))
            try:
                after = as_handed(sheet, self._make().compress(deepcopy(talk)))
            except DecodeError:
                continue
            for text in borrowed(sheet.transcript, after):
                yield (
                    f"{shown}: a user message that the user did not write begins with "
                    f"{text[:40]!r}; begin it with a mark such as [Summary]"
                )

    def progress(self) -> Iterator[str]:
        talk, engine = long_talk(), self._make()
        smaller = engine.compress(deepcopy(talk))
        before, after = _weight(talk), _weight(smaller)
        if after > engine.context_length:
            yield f"{before:,} tokens become {after:,}, more than the window of {_WINDOW:,}"
        if engine.compression_count != 1:
            yield f"compression_count is {engine.compression_count} after one pass"

    def mutation(self) -> Iterator[str]:
        for shown, talk in TALKS.items():
            handed = deepcopy(talk)
            self._make().compress(handed)
            if handed != talk:
                yield f"{shown}: the list that came in, or a message in it, was changed"

    def idempotence(self) -> Iterator[str]:
        for shown, talk in TALKS.items():
            engine = self._make()
            once = engine.compress(deepcopy(talk))
            if engine.compress(deepcopy(once)) != once:
                yield f"{shown}: a second pass with nothing new changes the messages again"

    def arguments(self) -> Iterator[str]:
        for given in (
            {"current_tokens": 9_000},
            {"focus_topic": "port 8099"},
            {"focus_topic": None},
        ):
            if not _is_list(self._make().compress(long_talk(), **cast("Any", given))):
                yield f"compress with {given} returns no list"
        if not _is_list(self._make().compress(long_talk(), 9_000, "port 8099")):
            yield "compress takes its arguments by name only"

    def optional(self) -> Iterator[str]:
        engine = self._make()
        for method in ("should_compress_preflight", "has_content_to_compress"):
            if not offers(engine, method):
                continue
            said = call_offered(engine, method, deepcopy(SHORT), details={})
            if not isinstance(said, bool):
                yield f"{method} returns {said!r}, and neither True nor False"

    def lifecycle(self) -> Iterator[str]:
        engine = self._make()
        for id_, details in (
            ("20260101_000000_abcdef", {"model": "a-model", "platform": "test"}),
            ("20260101_000000_fedcba", {"boundary_reason": "compression"}),
        ):
            call_offered(engine, "on_session_start", id_, details=details)
        call_offered(engine, "on_session_end", id_, deepcopy(SHORT), details={})
        yield from ()

    def reset(self) -> Iterator[str]:
        engine = self._make()
        if not offers(engine, "on_session_reset"):
            return
        first = self._make().compress(deepcopy(SHORT))
        engine.update_from_response(dict(_USAGE))
        engine.compress(long_talk())
        engine.on_session_reset()
        for name in ATTRIBUTES:
            if name.startswith("last_") or name == "compression_count":
                value: object = getattr(engine, name)
                if value != 0:
                    yield f"{name} is {value!r} after on_session_reset"
        if engine.compress(deepcopy(SHORT)) != first:
            yield "after on_session_reset something of the old conversation is in the new one"

    def tools(self) -> Iterator[str]:
        tools = tools_of(call_offered(self._make(), "get_tool_schemas", details={}))
        yield from tools.troubles
        for spec in tools.specs:
            if not spec.description or spec.parameters.get("type") != "object":
                yield f"the tool {spec.name} needs a description and parameters of type object"

    def tool_errors(self) -> Iterator[str]:
        engine = self._make()
        specs = tools_of(call_offered(engine, "get_tool_schemas", details={})).specs
        if not offers(engine, "handle_tool_call"):
            if specs:
                yield "get_tool_schemas offers tools, and there is no handle_tool_call"
            return
        answer = _answered(engine, "no_such_tool", {})
        if not isinstance(answer, dict) or "error" not in answer:
            yield "an unknown tool is not answered with JSON that has an error"
        for spec in specs:
            for arguments in ({}, {"odd": [None, -1]}):
                if _answered(engine, spec.name, dict(arguments)) is None:
                    yield f"the tool {spec.name} does not answer {arguments} with JSON"

    def status(self) -> Iterator[str]:
        engine = self._make()
        if not offers(engine, "get_status"):
            return
        status = call_offered(engine, "get_status", details={})
        if not isinstance(status, dict):
            yield f"get_status returns a {type(status).__name__}, and no dict"
        json.dumps(status)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _weight(messages: Wire) -> int:
    return Scale().total(DIALECTS["openai"].decode(Body(list(messages))))
