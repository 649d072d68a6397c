"""Which external memory provider stands behind a name in the settings."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from holdfast.config import home
from holdfast.errors import ConfigError, HoldfastError
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import Redactor
from holdfast.wiring.remembered import memory_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from holdfast.config import Settings

    _Maker: TypeAlias = Callable[[Settings, Mapping[str, str]], MemoryProvider]

__all__ = ["ENTRY_POINTS", "memory_names", "memory_of"]

ENTRY_POINTS = "holdfast.memory"
"""The group in which packages offer providers.

Each entry names a class or a function that is called with the folder of the profile's memories.
"""
_FILE = "vectors.db"


def memory_of(settings: Settings, environ: Mapping[str, str]) -> MemoryProvider | None:
    """Return the external provider that the settings name; None when they name none.

    Nothing is sent, and no service's client is imported, before the provider is used.

    Raises:
        ConfigError: when there is no such provider, or what it needs is not set.
        MissingExtra: when its package is not installed.
        ModelMissing: when its model is not on this machine.
    """
    name = settings.memory.provider
    if name is None:
        return None
    maker = _MAKERS.get(name)
    if maker is not None:
        return maker(settings, environ)
    return _offered(name, memory_folder(settings.store.profile, environ))


def memory_names() -> tuple[str, ...]:
    """Return every provider that can be named: ours, then those of installed packages."""
    offered = sorted(each.name for each in entry_points(group=ENTRY_POINTS))
    return tuple(dict.fromkeys([*_MAKERS, *offered]))


def _mem0(settings: Settings, environ: Mapping[str, str]) -> MemoryProvider:
    from holdfast.memory_providers.mem0_memory import KEY_VARIABLE, Mem0Account, Mem0Memory

    return Mem0Memory(
        Mem0Account(
            key=environ.get(KEY_VARIABLE, "").strip(),
            user=_user(settings),
            host=settings.memory.base_url,
            folder=memory_folder(settings.store.profile, environ) / "mem0",
            redact=_redactor(settings),
        )
    )


def _hindsight(settings: Settings, environ: Mapping[str, str]) -> MemoryProvider:
    from holdfast.memory_providers.hindsight_memory import (
        KEY_VARIABLE,
        HindsightBank,
        HindsightMemory,
    )

    return HindsightMemory(
        HindsightBank(
            base_url=settings.memory.base_url or "",
            bank=_user(settings),
            key=environ.get(KEY_VARIABLE, "").strip() or None,
            redact=_redactor(settings),
        )
    )


def _vector(settings: Settings, environ: Mapping[str, str]) -> MemoryProvider:
    from holdfast.memory_providers.embedding import Embedder
    from holdfast.memory_providers.vector_file import VectorFile
    from holdfast.memory_providers.vector_memory import VectorMemory
    from holdfast.providers.model_files import require
    from holdfast.system.system_clock import SystemClock

    embedder = Embedder(require("minilm", home(environ)).folder)
    file = VectorFile(memory_folder(settings.store.profile, environ) / _FILE)
    return VectorMemory(file, embedder, SystemClock(), redact=_redactor(settings))


_MAKERS: dict[str, _Maker] = {"mem0": _mem0, "hindsight": _hindsight, "vector": _vector}


def _user(settings: Settings) -> str:
    return settings.memory.user or settings.store.profile


def _redactor(settings: Settings) -> Callable[[str], str]:
    return Redactor(settings.redaction.extra_patterns).redact


def _offered(name: str, folder: Path) -> MemoryProvider:
    for each in entry_points(group=ENTRY_POINTS, name=name):
        return _made(each, folder)
    raise ConfigError(
        f"memory.provider is {name}; allowed: {', '.join(memory_names())}, or what a package "
        f"offers among the entry points {ENTRY_POINTS}"
    )


def _made(offer: EntryPoint, folder: Path) -> MemoryProvider:
    """Return the provider that a package makes; its code may raise anything."""
    try:
        made: object = offer.load()(folder)
    except HoldfastError:
        raise
    except Exception as error:
        raise ConfigError(
            f"the memory provider {offer.name} ({offer.value}) cannot be made: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(made, MemoryProvider):
        raise ConfigError(
            f"the memory provider {offer.name} ({offer.value}) is a {type(made).__name__}, "
            "not a MemoryProvider"
        )
    return made
