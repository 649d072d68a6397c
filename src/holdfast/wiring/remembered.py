"""Where a profile's memory is, and the built-in provider over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.adapters.memory_files import MemoryFiles
from holdfast.redaction import Redactor
from holdfast.wiring.stores import store_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holdfast.config import Settings

__all__ = ["memory_files_of", "memory_folder"]

_FOLDER = "memories"


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
