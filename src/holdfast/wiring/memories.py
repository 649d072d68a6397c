"""Memory for a conversation as the settings say: the built-in one, and a provider by name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from holdfast.config import home
from holdfast.errors import ConfigError, HoldfastError
from holdfast.memory import FENCE_END, FENCE_START
from holdfast.memory_providers.memory_files import MemoryFiles
from holdfast.memory_runtime import MemoryHub, MemoryTerms
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import Redactor
from holdfast.tokens import Estimator
from holdfast.wiring.stores import store_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from holdfast.config import Settings

    _Maker: TypeAlias = Callable[[Settings, Mapping[str, str]], MemoryProvider]

_FOLDER = "memories"
_BLOCK_SHARE = 4
"""What memory and project files may take of the window: a quarter."""
_CHARACTERS = 3
"""To a token, on the safe side of most texts."""
_NOTE = "[The rest of memory and project files does not fit into this model's window.]"


def memory_folder(profile: str, environ: Mapping[str, str]) -> Path:
    """Return the folder of a profile's memory, which lies beside its sessions.

    Raises:
        ConfigError: when the profile's name could lead out of its folder.
    """
    return store_file("sqlite", profile, environ).parent / _FOLDER


def memory_files_of(
    settings: Settings, environ: Mapping[str, str], *, project: Path | None = None
) -> MemoryFiles:
    """Return the built-in memory of the profile that the settings name.

    Args:
        project: The working directory, if its project files are to be in the prompt.
    """
    return MemoryFiles(
        memory_folder(settings.store.profile, environ),
        project=project,
        redactor=Redactor(settings.redaction.extra_patterns).redact,
    )


def fitted(block: str, window: int) -> str:
    """Return memory and project files within their share of the window.

    A file that is cut ends where the next words begin: they would seem to be its own.
    """
    room = window // _BLOCK_SHARE
    if Estimator().count(block) <= room:
        return block
    kept = block[: room * _CHARACTERS].rpartition("\n")[0]
    is_open = kept.rfind(f"\n{FENCE_START}") > kept.rfind(f"\n{FENCE_END}")
    return "\n".join((kept, *((FENCE_END,) * is_open), _NOTE))


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
    for offer in entry_points(group=ENTRY_POINTS, name=name):
        try:
            made: object = offer.load()(memory_folder(settings.store.profile, environ))
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
    raise ConfigError(
        f"memory.provider is {name}; allowed: {', '.join(memory_names())}, or what a package "
        f"offers among the entry points {ENTRY_POINTS}"
    )


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
    from holdfast.memory_providers.vector_memory import VectorFile, VectorMemory
    from holdfast.providers.local_model import require
    from holdfast.system import SystemClock

    embedder = Embedder(require("minilm", home(environ)).folder)
    file = VectorFile(memory_folder(settings.store.profile, environ) / _FILE)
    return VectorMemory(file, embedder, SystemClock(), redact=_redactor(settings))


_MAKERS: dict[str, _Maker] = {"mem0": _mem0, "hindsight": _hindsight, "vector": _vector}


def _user(settings: Settings) -> str:
    return settings.memory.user or settings.store.profile


def _redactor(settings: Settings) -> Callable[[str], str]:
    return Redactor(settings.redaction.extra_patterns).redact


def memory_hub_of(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    project: Path | None = None,
    reserved: Iterable[str] = (),
) -> MemoryHub:
    """Return the files of the profile joined with the external provider, if one is configured.

    Args:
        project: The working directory, if its project files are to be in the prompt.
        reserved: The names of the agent's own tools.

    Raises:
        ConfigError: when the provider cannot be made, or a tool of it has the name of another.
        MissingExtra: when its package is not installed.
        ModelMissing: when its model is not on this machine.
    """
    return MemoryHub(
        memory_files_of(settings, environ, project=project),
        memory_of(settings, environ),
        deadline=settings.memory.deadline,
        reserved=reserved,
        terms=MemoryTerms(redactor=Redactor(settings.redaction.extra_patterns).redact),
    )
