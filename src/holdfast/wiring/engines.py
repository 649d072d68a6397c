"""Engines by name: the built-in ones and plug-ins, for a conversation or to hold oneself."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Unpack, cast

from holdfast.config import Settings, home
from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.contract_adapter import ContractAdapter, Truncating
from holdfast.engines.plugin_engine import PluginEngine
from holdfast.engines.plugin_thread import PluginEnding, PluginThread, call_offered
from holdfast.engines.registry import DEFAULT, EngineSource, find_engine, known_engines, twin
from holdfast.errors import ConfigError
from holdfast.keywords import check_names
from holdfast.redaction import Redactor
from holdfast.wiring.assembly import Assembly, EngineOptions, Knobs
from holdfast.wiring.compressor import Compressor

if TYPE_CHECKING:
    from holdfast.engines import Engine
    from holdfast.engines.contract import ContextEngine
    from holdfast.ports import WindowEngine
    from holdfast.tokens import Counter
    from holdfast.wiring.summarizers import Writer

__all__ = [
    "BUILT_IN",
    "EngineFactory",
    "EngineKnobs",
    "engine_names",
    "engine_trouble",
    "engines_for",
    "load_engine",
]

BUILT_IN = (DEFAULT, "truncate")
"""The engines that are always there, the default first."""

_log = logging.getLogger(__name__)
_QUICK = 5.0
"""Seconds that a plug-in has where somebody only looks at it."""
_SHARED_KNOBS = {
    "threshold": "threshold_percent",
    "protect_first_n": "protect_first_n",
    "protect_last_n": "protect_last_n",
}
"""Knobs that the contract knows too, and what it calls them."""


class EngineKnobs(Knobs, total=False):
    """What an engine may be loaded with; a plug-in takes those that the contract knows."""

    summarizer: Writer
    client: object
    redactor: Redactor
    counter: Counter | Literal["estimate", "exact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """What engines of a conversation are made with."""

    default: Callable[[], Engine]
    truncating: Callable[[], Engine]
    model: str = ""
    deadline: float = Settings().auxiliary.compression.timeout
    """Seconds that a plug-in's compaction may take."""
    redact: Callable[[str], str] = str


def engine_names() -> tuple[str, ...]:
    """Return the names of all engines that could be chosen: the built-in ones, then plug-ins."""
    plugins = known_engines(home(os.environ))
    return (*BUILT_IN, *(name for name in plugins if name not in BUILT_IN))


def load_engine(
    name: str = DEFAULT,
    *,
    model: str = "",
    context_length: int | None = None,
    **knobs: Unpack[EngineKnobs],
) -> ContextEngine:
    """Return an engine by its name, to be used through the contract.

    A plug-in that cannot be loaded is a warning in the log, and the default engine comes back.

    Args:
        name: `compressor`, `truncate`, or the name of a plug-in.
        model: The conversation's model.
        context_length: What the model accepts, in tokens; by default as configured or known.
        knobs: Thresholds and budgets, and for the built-in engines summarizer, client, redactor
            and counter, as a `Compressor` takes them.

    Raises:
        ConfigError: when there is no engine of that name, or it has no such knob.
    """
    source = _source(name)
    if source is None:
        return _built_in(name, model, context_length, knobs)
    tuned = _shared(name, knobs)

    def make() -> object:
        engine = source.make()
        for knob, value in tuned.items():
            setattr(engine, knob, value)
        window = Assembly().window(model, context_length)
        call_offered(engine, "update_model", model, window, details={})
        return engine

    ending = PluginThread(name, make, deadline=Settings().auxiliary.compression.timeout).arrive()
    if isinstance(ending, Returned):
        return cast("ContextEngine", ending.value)
    _log.warning("The engine %s could not be loaded: %s; %s is used.", name, _why(ending), DEFAULT)
    return _built_in(DEFAULT, model, context_length, knobs)


def engine_trouble(name: str, *, seconds: float = _QUICK) -> str:
    """Return why an engine cannot be used, found out by loading it; nothing when it can.

    Args:
        name: The engine's name, as it is configured.
        seconds: How long a plug-in may take to arrive.
    """
    source = _source(name, must_exist=False)
    if source is None:
        return ""
    ending = PluginThread(name, source.make, deadline=seconds).arrive()
    return "" if isinstance(ending, Returned) else _why(ending)


def _why(ending: PluginEnding) -> str:
    return ending.reason if isinstance(ending, Raised | Hung) else "it is busy"


def engines_for(
    choice: str | ContextEngine, hosting: EngineFactory, *, must_exist: bool
) -> Callable[[], WindowEngine]:
    """Return what makes the engine of each session of a conversation.

    Args:
        choice: An engine's name, or an engine, of which every session after the first has a copy.
        hosting: What engines are made with.
        must_exist: Whether a name that nobody knows is an error, and not a warning.

    Raises:
        ConfigError: when the name must exist and does not.
    """
    if not isinstance(choice, str):
        return _guests(choice, hosting)
    if choice == DEFAULT:
        # It has no plug-ins to look for.
        return hosting.default
    source = _source(choice, must_exist=must_exist)
    if source is None:
        return hosting.truncating
    return lambda: _hosted(PluginThread(choice, source.make, deadline=hosting.deadline), hosting)


def _guests(engine: ContextEngine, hosting: EngineFactory) -> Callable[[], WindowEngine]:
    unused = [engine]

    def make() -> object:
        # The caller holds the first: a copy would leave its counters at nothing.
        return unused.pop() if unused else twin(engine)

    name = _name_of(engine)
    return lambda: _hosted(PluginThread(name, make, deadline=hosting.deadline), hosting)


def _name_of(engine: object) -> str:
    """Return what an engine calls itself, or what its class is called where it does not say."""
    kind = type(engine).__name__

    def ask() -> str:
        return "".join(str(getattr(engine, "name", kind)))

    ending = PluginThread(kind, lambda: engine, deadline=_QUICK).run(ask)
    return cast("str", ending.value) if isinstance(ending, Returned) else kind


def _hosted(guest: PluginThread, hosting: EngineFactory) -> PluginEngine:
    return PluginEngine(hosting.default(), guest, model=hosting.model, redact=hosting.redact)


def _source(name: str, *, must_exist: bool = True) -> EngineSource | None:
    """Return where a plug-in comes from; nothing for an engine of our own.

    Raises:
        ConfigError: when the name must exist and nobody knows it.
    """
    # A caller without types may pass anything: that names no engine.
    name = str(name)
    found = find_engine(name, home(os.environ))
    if found is not None or name in BUILT_IN:
        return found
    missing = _unknown(name)
    if must_exist:
        raise missing

    def refuse() -> object:
        raise missing

    return EngineSource(name, "nowhere", refuse)


def _unknown(name: str) -> ConfigError:
    names = engine_names()
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    return ConfigError(f"there is no engine {name!r}; {hint}")


def _built_in(
    name: str, model: str, context_length: int | None, knobs: EngineKnobs
) -> ContextEngine:
    known = ("model", "context_length", *EngineKnobs.__annotations__)
    check_names(knobs, known, f"The engine {name}")
    if name == DEFAULT:
        return ContractAdapter(
            name, lambda: Compressor(context_length=context_length, model=model, **knobs)
        )
    parts = ("summarizer", "client", "redactor", "counter")
    budgets = cast("Knobs", {key: value for key, value in knobs.items() if key not in parts})
    options = EngineOptions(
        model=model,
        context_length=context_length,
        counter=knobs.get("counter", "estimate"),
        redactor=knobs.get("redactor"),
        knobs=budgets,
    )
    return Truncating(name, lambda: Assembly().truncating(options))


def _shared(name: str, knobs: EngineKnobs) -> dict[str, object]:
    """Return the knobs that a plug-in takes, under the names of the contract."""
    check_names(knobs, _SHARED_KNOBS, f"The engine {name}")
    return {_SHARED_KNOBS[key]: value for key, value in knobs.items()}
