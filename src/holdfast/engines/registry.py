"""Finds an engine by its name: a folder of the user's, an installed package, a registration.

Nothing is imported before its name is asked for, and nothing is ever chosen by being there.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import re
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, cast
from zlib import crc32

from holdfast.config.settings import is_profile
from holdfast.engines.contract import ContextEngine, missing_names
from holdfast.errors import ConfigError
from holdfast.keywords import names_checked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from importlib.metadata import EntryPoint

DEFAULT = "compressor"
"""The engine that is used when nothing is configured: nothing may take its name."""
GROUP = "holdfast.engines"
"""The group of entry points in which packages list their engines."""

Offer: TypeAlias = "ContextEngine | type[ContextEngine] | Callable[[], ContextEngine]"

_REGISTERED: dict[str, object] = {}
_TAKEN: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()
"""Engines that cannot be copied, and that a conversation has."""

_ELSEWHERE = "agent.context_engine"
"""Where engines that were written for Hermes import their abstract class from."""
_importing = threading.RLock()


@dataclass(frozen=True, slots=True)
class EngineSource:
    """Where an engine comes from."""

    name: str
    where: str
    make: Callable[[], object]
    """Imports what is needed and returns an engine for one conversation; it may raise anything."""


@names_checked
def register_context_engine(engine: Offer, name: str = "") -> None:
    """Offer an engine under a name; it is used where the name is configured or asked for.

    Args:
        engine: A class or a function that makes one for each conversation, or an object, of
            which each conversation gets a copy.
        name: The name to choose it by; by default the engine's own.

    Raises:
        ConfigError: when there is no name, or it is that of the default engine.
    """
    chosen = name or _own_name(engine)
    if not is_profile(chosen):
        raise ConfigError(
            f"an engine is registered under the name {chosen!r}; allowed: letters, digits, dots, "
            "dashes and underscores. register_context_engine(engine, name=...) sets it"
        )
    if chosen == DEFAULT:
        raise ConfigError(f"{DEFAULT} is the default engine; register yours under another name")
    _REGISTERED[chosen] = engine


def _own_name(offer: object) -> str:
    """Return the name that an engine has of its own; a class may have it only when it is made.

    Raises:
        ConfigError: when the engine does not get as far as to say it.
    """
    try:
        own = getattr(offer, "name", "")
        if inspect.isclass(offer) and not isinstance(own, str):
            own = getattr(offer(), "name", "")
    except Exception as error:
        raise ConfigError(
            f"the engine does not say its name ({type(error).__name__}); "
            "register_context_engine(engine, name=...) sets it"
        ) from error
    return own if isinstance(own, str) else ""


def find_engine(name: str, home: Path | None) -> EngineSource | None:
    """Return where the engine of that name comes from; None if it is not a plug-in's.

    Args:
        name: The engine's name.
        home: The folder in which `plugins/context_engine/<name>/` is looked for.
    """
    if not is_profile(name) or name == DEFAULT:
        return None
    folder = home / "plugins" / "context_engine" / name if home else None
    if folder and (folder / "__init__.py").is_file():
        return EngineSource(name, str(folder), lambda: engine_in(imported(folder)))
    point = next((each for each in _entry_points() if each.name == name), None)
    if point is not None:
        return EngineSource(name, point.value, lambda: engine_in(point.load()))
    if name in _REGISTERED:
        offer = _REGISTERED[name]
        return EngineSource(name, "register_context_engine", lambda: engine_in(offer))
    return None


def known_engines(home: Path | None) -> tuple[str, ...]:
    """Return the names of all plug-ins that could be chosen, without importing any."""
    folder = home / "plugins" / "context_engine" if home else None
    names = {each.parent.name for each in folder.glob("*/__init__.py")} if folder else set[str]()
    names |= {point.name for point in _entry_points()} | _REGISTERED.keys()
    return tuple(sorted(name for name in names if is_profile(name) and name != DEFAULT))


def engine_in(offer: object) -> object:
    """Return an engine for one conversation from whatever a plug-in offers.

    A module has `register(ctx)`, which calls `ctx.register_context_engine(engine)`, or a subclass
    of `ContextEngine`, or `create` or `engine`. Anything else is a class, a function that returns
    an engine, or an engine.

    Raises:
        ConfigError: when there is no engine in it.
    """
    if inspect.ismodule(offer):
        return _engine_of(offer)
    if inspect.isclass(offer) or inspect.isroutine(offer):
        return cast("Callable[[], object]", offer)()
    if callable(offer) and missing_names(offer):
        return offer()
    return _unshared(offer)


def twin(engine: object) -> object:
    """Return a copy of an engine that has counted nothing: two conversations share none.

    An engine that holds what cannot be copied says in `__deepcopy__` what its copy has.

    Raises:
        ConfigError: when it cannot be copied.
    """
    try:
        made = copy.deepcopy(engine)
    except Exception as error:
        raise ConfigError(
            f"the engine cannot be copied for another conversation ({error}); give it a "
            "__deepcopy__, or offer its class"
        ) from error
    reset = getattr(made, "on_session_reset", None)
    if callable(reset):
        reset()
    return made


class _Context:
    """What a plug-in's `register` is handed: it keeps the engine, and lets all else pass."""

    def __init__(self) -> None:
        self.engines: list[object] = []

    def register_context_engine(self, engine: object) -> None:
        """Keep the engine."""
        self.engines.append(engine)

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Accept what a plug-in registers beside its engine; only an engine has a use here."""
        if not name.startswith("register_"):
            raise AttributeError(name)
        return lambda *_args, **_kwargs: None


def _engine_of(module: ModuleType) -> object:
    register = getattr(module, "register", None)
    if callable(register):
        context = _Context()
        register(context)
        if context.engines:
            return engine_in(context.engines[-1])
    classes = list(_engines_defined_in(module))
    if len(classes) > 1:
        found = ", ".join(sorted(each.__name__ for each in classes))
        raise ConfigError(f"it has several engines ({found}); let register(ctx) say which")
    for offer in (*classes, getattr(module, "create", None), getattr(module, "engine", None)):
        if offer is not None:
            return engine_in(offer)
    raise ConfigError(
        "it has no register(ctx) that calls ctx.register_context_engine(engine), no subclass of "
        "ContextEngine, and neither create nor engine"
    )


def _engines_defined_in(module: ModuleType) -> Iterator[type]:
    """Yield the engines that a plug-in brings; those that others derive from are only a basis."""
    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each)
        and issubclass(each, ContextEngine)
        and not inspect.isabstract(each)
    ]
    brought = [each for each in found if each.__module__.startswith(module.__name__)] or found
    unique = list(dict.fromkeys(brought))
    yield from (
        each
        for each in unique
        if not any(other is not each and issubclass(other, each) for other in unique)
    )


def _unshared(engine: object) -> object:
    """Return an engine for one conversation: a copy, or the object itself the first time.

    Raises:
        ConfigError: when another conversation has it, and it cannot be copied.
    """
    try:
        return twin(engine)
    except ConfigError:
        if _TAKEN.get(id(engine)) is engine:
            raise
        _TAKEN[id(engine)] = engine
        return engine


def _entry_points() -> Iterable[EntryPoint]:
    # Imported only here: reading what is installed takes longer than all the rest.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def imported(folder: Path) -> ModuleType:
    """Return the package in a folder, imported once; its own files import each other as usual.

    Raises:
        Exception: whatever the package raises; the next try begins anew.
    """
    # A name that no other folder has, wherever it is.
    plain = re.sub(r"\W", "_", folder.name)
    place = crc32(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    name = f"holdfast_engine_{plain}_{place:08x}"
    with _importing:
        known = sys.modules.get(name)
        if known is not None:
            return known
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{folder / '__init__.py'} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with _contract_elsewhere():
                spec.loader.exec_module(module)
        except BaseException:
            for each in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
                del sys.modules[each]
            raise
        return module


@contextmanager
def _contract_elsewhere() -> Generator[None]:
    """Let the contract be found where another agent has it, unless that agent is installed."""
    package, _, module_name = _ELSEWHERE.partition(".")
    places = _places_of(package)
    if any((place / f"{module_name}.py").is_file() for place in places or ()):
        yield
        return
    stand_in = ModuleType(_ELSEWHERE)
    vars(stand_in)["ContextEngine"] = ContextEngine
    added = {_ELSEWHERE: stand_in}
    if places is None:
        added[package] = ModuleType(package)
    sys.modules.update(added)
    try:
        yield
    finally:
        for each, module in added.items():
            if sys.modules.get(each) is module:
                del sys.modules[each]


def _places_of(package: str) -> list[Path] | None:
    """Return the folders of a package without importing it; None if it is not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    return None if spec is None else [Path(each) for each in spec.submodule_search_locations or ()]
