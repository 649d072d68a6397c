"""A plug-in's code on a thread of its own, and what it offers and answers read with patience.

All calls of one plug-in run on one thread, one after the other: what it opened there it may use
there, and it need not be written for several threads. Whatever it does becomes a value, in time.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.deadline import DedicatedThread, Ending, sentence_of
from holdfast.engines.contract import missing_names
from holdfast.errors import ConfigError
from holdfast.wire.json_text import encodable
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from holdfast.engines.contract import ContextEngine

_REASON_LENGTH = 300

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_TOOLS = 32
_MOST_CHARACTERS = 40_000
"""Of all schemas together: they are sent with every request."""
_LONGEST_ANSWER = 32_000


@dataclass(frozen=True, slots=True)
class Busy:
    """Another call is under way; this one was not made."""


PluginEnding: TypeAlias = Ending | Busy


class PluginThread:
    """Runs what a plug-in brings, and nothing of it in the thread of whoever asks."""

    def __init__(self, name: str, make: Callable[[], object], *, deadline: float) -> None:
        """Hold the plug-in; nothing of it runs before it arrives.

        Args:
            name: The name by which it was chosen.
            make: Imports or builds the engine.
            deadline: Seconds that its slowest call, a compaction, may take.
        """
        self.name = name
        self.deadline = deadline
        self._make = make
        self._engine: object = None
        self._turn = threading.Lock()
        self._thread = DedicatedThread(f"holdfast-engine-{name}")

    def arrive(self) -> PluginEnding:
        """Build the engine, and see whether it has what an engine needs."""
        return self.run(self._built)

    def ask(
        self,
        call: Callable[[ContextEngine], object],
        *,
        seconds: float | None = None,
        patience: float = 0.0,
    ) -> PluginEnding:
        """Return what a call of the engine came to.

        Args:
            call: What to do with the engine.
            seconds: How long it may take; the deadline by default.
            patience: Seconds to wait for a call that is under way.
        """
        if not self._turn.acquire(timeout=patience):
            return Busy()
        try:
            engine = cast("ContextEngine", self._engine)
            return self.run(lambda: call(engine), seconds)
        finally:
            self._turn.release()

    def _built(self) -> object:
        engine = self._make()
        if missing := missing_names(engine):
            *others, last = missing
            lacks = f"{', '.join(others)} and {last}" if others else last
            raise ConfigError(f"a {type(engine).__name__} is no engine: it lacks {lacks}")
        self._engine = engine
        return engine

    def run(self, call: Callable[[], object], seconds: float | None = None) -> Ending:
        """Return what a piece of code came to on the plug-in's thread, within the deadline."""
        return self._thread.call_within(seconds or self.deadline, lambda: _failing_in_words(call))


class _Said(Exception):
    """What a plug-in's error said."""


def _failing_in_words(call: Callable[[], object]) -> object:
    """Call, and raise an error whose words are ours to read: even those are foreign code."""
    try:
        return call()
    except BaseException as error:  # noqa: BLE001 - foreign code: even its exit is only a failure
        said, kind = encodable(sentence_of(error)[:_REASON_LENGTH]), type(error).__name__
        if not isinstance(error, ConfigError):
            said = f"{kind}: {said}"[:_REASON_LENGTH] if said else kind
        raise _Said(said or kind) from None


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of an engine that a model can be offered, and why others cannot."""

    specs: tuple[ToolSpec, ...] = ()
    troubles: tuple[str, ...] = ()


def call_offered(
    engine: object, method: str, *arguments: object, details: Mapping[str, object]
) -> object:
    """Call a method that an engine may have, with as much as it takes; None if it has none."""
    offered = cast("object", getattr(engine, method, None))
    return offered(*arguments, **suited(offered, details)) if callable(offered) else None


def suited(function: Callable[..., object], details: Mapping[str, object]) -> dict[str, object]:
    """Return those of the details that a function takes: older engines know fewer of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return dict(details)
    named = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    return {key: value for key, value in details.items() if key in named}


def plain_json(value: object) -> object:
    """Return a value as JSON has it, with nothing of the plug-in's own classes left in it.

    It runs on the plug-in's thread: what its classes do when they are read, they do there.

    Raises:
        ConfigError: when it is no JSON.
    """
    try:
        return encodable(cast("object", json.loads(json.dumps(value))))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"what it hands out is no JSON: {error}") from None


def tools_of(schemas: object, reserved: Collection[str] = ()) -> Tools:
    """Return the tools that an engine offers; their schemas may be bare or as OpenAI wraps them.

    A tool that a provider would refuse, or whose name is taken, is left out: it would cost the
    conversation every request.

    Args:
        schemas: What `get_tool_schemas` returned.
        reserved: Names that other tools of the conversation have.
    """
    if schemas is None:
        return Tools()
    if not isinstance(schemas, list | tuple):
        kind = type(schemas).__name__
        return Tools(troubles=(f"get_tool_schemas returned a {kind}, and no list",))
    taken, room = set(reserved), _MOST_CHARACTERS
    specs: list[ToolSpec] = []
    troubles: list[str] = []
    for schema in cast("list[object]", schemas):
        try:
            spec, size = _spec(schema)
            _check(spec, taken, len(specs), room - size)
        except ConfigError as error:
            troubles.append(str(error))
        else:
            specs.append(spec)
            taken.add(spec.name)
            room -= size
    return Tools(tuple(specs), tuple(troubles))


def answer_of(value: object) -> str:
    """Return what a tool answered as JSON text, whatever it returned; too long, it is cut."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(value)
    if len(text) > _LONGEST_ANSWER:
        cut = f"cut to {_LONGEST_ANSWER:,} of {len(text):,} characters"
        shown = encodable(text[:_LONGEST_ANSWER])
        return json.dumps({"result": shown, "note": cut}, ensure_ascii=False)
    text = encodable(text)
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps({"result": text}, ensure_ascii=False)
    return text


def _spec(schema: object) -> tuple[ToolSpec, int]:
    """Return a tool and what its schema takes, in characters."""
    fields = _fields(plain_json(schema))
    fields = _fields(fields.get("function", fields))
    name, parameters = fields.get("name"), fields.get("parameters", fields.get("input_schema"))
    if not isinstance(name, str) or not name:
        raise ConfigError(f"get_tool_schemas has a tool without a name: {schema!r:.80}")
    described = fields.get("description")
    description = described if isinstance(described, str) else ""
    size = len(json.dumps(fields, ensure_ascii=False))
    if parameters is None:
        return ToolSpec(name, description), size
    if not isinstance(parameters, dict):
        raise ConfigError(f"the parameters of the tool {name:.80} are no JSON schema")
    return ToolSpec(name, description, cast("dict[str, object]", parameters)), size


def _fields(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _check(spec: ToolSpec, taken: Collection[str], count: int, left: int) -> None:
    """Refuse a tool that cannot be offered beside the others."""
    if not _NAME.fullmatch(spec.name):
        raise ConfigError(
            f"a tool is called {spec.name!r:.80}; providers allow up to 64 letters, digits, dashes "
            "and underscores"
        )
    if spec.name in taken:
        raise ConfigError(f"there is another tool called {spec.name}")
    if count >= _MOST_TOOLS:
        raise ConfigError(f"{spec.name} is one tool too many; {_MOST_TOOLS} are allowed")
    if left < 0:
        raise ConfigError(
            f"the schema of the tool {spec.name} is too long; all together may have "
            f"{_MOST_CHARACTERS:,} characters"
        )
