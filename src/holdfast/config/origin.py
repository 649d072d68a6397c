"""Where a setting came from, as a value: every message about a setting can say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Default", "Environment", "FileOrigin", "Flag", "Origin", "Setting"]


@dataclass(frozen=True, slots=True)
class Default:
    """Nobody set it."""

    kind = "default"

    def __str__(self) -> str:
        return "default"


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """The configuration file says so."""

    path: Path
    line: int
    kind = "file"

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment variable says so."""

    variable: str
    kind = "environment"

    def __str__(self) -> str:
        return f"environment variable {self.variable}"


@dataclass(frozen=True, slots=True)
class Flag:
    """The command line says so."""

    name: str
    kind = "flag"

    def __str__(self) -> str:
        return f"flag {self.name}"


Origin: TypeAlias = Default | FileOrigin | Environment | Flag


@dataclass(frozen=True, slots=True)
class Setting:
    """A value for a key, and who gave it."""

    path: str
    """The key with its sections, such as `compression.threshold`."""
    value: object
    origin: Origin
