"""Tells whether an engine keeps the contract, defect by defect, for people who write one.

```python
assert check_engine(MyEngine) == ()
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.contract import ATTRIBUTES
from holdfast.engines.plugin_messages import as_handed, borrowed, faults, read_back, shown_to_plugin
from holdfast.engines.plugin_thread import PluginThread, call_offered
from holdfast.errors import DecodeError
from holdfast.testing.check_engine_options import OPTIONS, offers
from holdfast.testing.engine_talks import TALKS, long_talk
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from holdfast.engines.contract import ContextEngine
    from holdfast.testing.engine_talks import Wire

__all__ = ["Defect", "check_engine"]

_WINDOW = 8_000
_SECONDS = 60.0
_USAGE = {"prompt_tokens": 1_000, "completion_tokens": 20, "total_tokens": 1_020}


@dataclass(frozen=True, slots=True)
class Defect:
    """A promise that an engine breaks."""

    name: str
    """Which promise, by a stable name such as `mutation`."""
    message: str


Check: TypeAlias = "Callable[[Callable[[], ContextEngine]], Iterator[str | Defect]]"


def check_engine(factory: Callable[[], Any], *, seconds: float = _SECONDS) -> tuple[Defect, ...]:
    """Return the promises that an engine breaks, the first breach of each; nothing is good.

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
    for name, check in _CHECKS.items():
        for defect in _breaches(name, partial(check, make), seconds):
            found.setdefault(defect.name, defect)
    return tuple(found.values())


def _breaches(
    name: str, check: Callable[[], Iterator[str | Defect]], seconds: float
) -> Iterator[Defect]:
    ending = PluginThread(name, object, deadline=seconds).run(lambda: list(check()))
    match ending:
        case Returned(found):
            for each in cast("list[str | Defect]", found):
                yield each if isinstance(each, Defect) else Defect(name, each)
        case Raised(reason=reason) | Hung(reason=reason):
            yield Defect(name, reason)


def _attributes(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    for name in ATTRIBUTES:
        value: object = getattr(engine, name, None)
        allowed = float | int if name == "threshold_percent" else int
        if not isinstance(value, allowed) or isinstance(value, bool) or value < 0:
            yield f"{name} is {value!r}, and no number from 0 up"
    if not 0 < engine.threshold_percent <= 1:
        yield f"threshold_percent is {engine.threshold_percent!r}; it is a share, up to 1"


def _separate(make: Callable[[], ContextEngine]) -> Iterator[str]:
    one, other = make(), make()
    one.update_from_response(dict(_USAGE))
    if one is other or other.last_prompt_tokens:
        yield "two engines share what they count; each conversation needs its own"


def _model(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    for window in (_WINDOW, 200_000) if offers(engine, "update_model") else ():
        engine.update_model("another-model", window)
        if engine.context_length != window:
            yield f"context_length is {engine.context_length} after update_model with {window}"
        if not 0 < engine.threshold_tokens <= window:
            yield f"threshold_tokens is {engine.threshold_tokens} in a window of {window}"


def _usage(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    engine.update_from_response({**_USAGE, "cache_read_tokens": 7})
    shown = (engine.last_prompt_tokens, engine.last_completion_tokens, engine.last_total_tokens)
    if shown != (1_000, 20, 1_020):
        yield f"after usage of 1000, 20 and 1020 tokens the attributes show {shown}"
    engine.update_from_response(dict.fromkeys(_USAGE, 0))
    if engine.last_prompt_tokens:
        yield "usage of zero tokens is not taken note of"


def _threshold(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
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


def _result(make: Callable[[], ContextEngine]) -> Iterator[Defect]:
    """Yield what is wrong with what `compress` returns, under the name of the rule it breaks."""
    for shown, talk in TALKS.items():
        sheet = shown_to_plugin(DIALECTS["openai"].decode(Body(deepcopy(talk))))
        handed = cast("object", make().compress(deepcopy(talk)))
        try:
            after = read_back(sheet, handed)
        except DecodeError as error:
            yield Defect("result", f"{shown}: {error}")
            continue
        for fault in faults(sheet, after, cast("Wire", handed), Scale().total):
            yield Defect(fault.rule, f"{shown}: {fault.message}")


def _provenance(make: Callable[[], ContextEngine]) -> Iterator[str]:
    """Yield what the engine wrote as if the user had: a model would take it for a request."""
    for shown, talk in TALKS.items():
        sheet = shown_to_plugin(DIALECTS["openai"].decode(Body(deepcopy(talk))))
        try:
            after = as_handed(sheet, make().compress(deepcopy(talk)))
        except DecodeError:
            continue
        for text in borrowed(sheet.transcript, after):
            yield (
                f"{shown}: a user message that the user did not write begins with {text[:40]!r}; "
                "begin it with a mark such as [Summary]"
            )


def _progress(make: Callable[[], ContextEngine]) -> Iterator[str]:
    talk, engine = long_talk(), make()
    smaller = engine.compress(deepcopy(talk))
    before, after = _weight(talk), _weight(smaller)
    if after > engine.context_length:
        yield f"{before:,} tokens become {after:,}, more than the window of {_WINDOW:,}"
    if engine.compression_count != 1:
        yield f"compression_count is {engine.compression_count} after one pass"


def _mutation(make: Callable[[], ContextEngine]) -> Iterator[str]:
    for shown, talk in TALKS.items():
        handed = deepcopy(talk)
        make().compress(handed)
        if handed != talk:
            yield f"{shown}: the list that came in, or a message in it, was changed"


def _idempotence(make: Callable[[], ContextEngine]) -> Iterator[str]:
    for shown, talk in TALKS.items():
        engine = make()
        once = engine.compress(deepcopy(talk))
        if engine.compress(deepcopy(once)) != once:
            yield f"{shown}: a second pass with nothing new changes the messages again"


def _arguments(make: Callable[[], ContextEngine]) -> Iterator[str]:
    for given in ({"current_tokens": 9_000}, {"focus_topic": "port 8099"}, {"focus_topic": None}):
        if not _is_list(make().compress(long_talk(), **cast("Any", given))):
            yield f"compress with {given} returns no list"
    if not _is_list(make().compress(long_talk(), 9_000, "port 8099")):
        yield "compress takes its arguments by name only"


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _weight(messages: Wire) -> int:
    return Scale().total(DIALECTS["openai"].decode(Body(list(messages))))


_CHECKS: dict[str, Check] = {
    "attributes": _attributes,
    "separate": _separate,
    "model": _model,
    "usage": _usage,
    "threshold": _threshold,
    "result": _result,
    "provenance": _provenance,
    "progress": _progress,
    "mutation": _mutation,
    "idempotence": _idempotence,
    "arguments": _arguments,
    **OPTIONS,
}
