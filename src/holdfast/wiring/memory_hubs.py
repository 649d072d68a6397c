"""Memory for a conversation, put together as the settings say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.memory_runtime import MemoryHub, MemoryTerms
from holdfast.redaction import Redactor
from holdfast.wiring.memories import memory_of
from holdfast.wiring.remembered import memory_files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from holdfast.config import Settings

__all__ = ["memory_hub_of"]


def memory_hub_of(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    project: Path | None = None,
    reserved: Iterable[str] = (),
) -> MemoryHub:
    """Return the files of the profile joined with the external provider, if one is configured.

    Args:
        settings: What is configured.
        environ: The environment variables.
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
