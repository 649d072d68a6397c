"""Where a profile's memory is, the built-in provider over it, and how much a prompt shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.memory import FENCE_END, FENCE_START
from holdfast.memory_providers.memory_files import MemoryFiles
from holdfast.redaction import Redactor
from holdfast.tokens import Estimator
from holdfast.wiring.stores import store_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holdfast.config import Settings

__all__ = ["fitted", "memory_files_of", "memory_folder"]

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
        settings: What is configured.
        environ: The environment variables.
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

    Args:
        block: What stands in the prompt.
        window: What the model takes, in tokens.
    """
    room = window // _BLOCK_SHARE
    if Estimator().count(block) <= room:
        return block
    kept = block[: room * _CHARACTERS].rpartition("\n")[0]
    is_open = kept.rfind(f"\n{FENCE_START}") > kept.rfind(f"\n{FENCE_END}")
    return "\n".join((kept, *((FENCE_END,) * is_open), _NOTE))
