"""The settings of this version, as frozen values, and where each came from.

Only keys that do something are here: a key that is read and ignored would be a lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Auxiliary",
    "CompressionSettings",
    "ContextSettings",
    "Default",
    "Environment",
    "FileOrigin",
    "Flag",
    "GatewaySettings",
    "MemorySettings",
    "ModelSettings",
    "Origin",
    "RedactionSettings",
    "Setting",
    "Settings",
    "StoreSettings",
    "SummaryModel",
    "assemble",
    "flatten",
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The model of the conversation."""

    name: str | None = None
    provider: str = "auto"
    base_url: str | None = None
    context_length: int | None = None
    cache_ttl: str = "5m"
    merge_roles: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionSettings:
    """When compaction is due, and what it keeps."""

    enabled: bool = True
    threshold: float = 0.50
    target_ratio: float = 0.20
    protect_first_n: int = 3
    protect_last_n: int = 20
    strategy: str = "in_place"
    ahead_of_time: bool = False
    abort_on_summary_failure: bool = False
    hygiene_threshold: float = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryModel:
    """The model that writes summaries."""

    model: str | None = None
    provider: str = "auto"
    base_url: str | None = None
    context_length: int | None = None
    timeout: float = 120.0

    @property
    def separate(self) -> str | None:
        """Return the model that is asked before the conversation's own, if there is one."""
        return None if self.provider in ("main", "none") else self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class Auxiliary:
    """Models that work beside the conversation."""

    compression: SummaryModel = SummaryModel()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """Who compacts, and what tools may put into the window."""

    engine: str = "compressor"
    tool_limits: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What is remembered beyond the files, and where."""

    provider: str | None = None
    base_url: str | None = None
    user: str | None = None
    deadline: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where sessions are kept."""

    url: str = "sqlite"
    profile: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionSettings:
    """What counts as a secret beyond the built-in rules."""

    extra_patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Where the gateway listens, to whom it forwards, and what it lets through."""

    host: str = "127.0.0.1"
    port: int = 8787
    upstreams: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    context_length: int | None = None
    max_body_bytes: int = 64 << 20
    requests_per_minute: int = 0
    concurrent_requests: int = 0
    first_byte_seconds: float = 50.0
    silence_seconds: float = 600.0
    strict: bool = False
    log_requests: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be configured."""

    model: ModelSettings = ModelSettings()
    compression: CompressionSettings = CompressionSettings()
    auxiliary: Auxiliary = Auxiliary()
    context: ContextSettings = ContextSettings()
    memory: MemorySettings = MemorySettings()
    store: StoreSettings = StoreSettings()
    redaction: RedactionSettings = RedactionSettings()
    gateway: GatewaySettings = GatewaySettings()


def flatten(settings: object, above: str = "") -> dict[str, object]:
    """Return each value under its whole key, such as `auxiliary.compression.model`."""
    found: dict[str, object] = {}
    for each in fields(cast("Settings", settings)):
        value: object = getattr(settings, each.name)
        path = f"{above}{each.name}"
        if is_dataclass(value):
            found |= flatten(value, f"{path}.")
        else:
            found[path] = value
    return found


def assemble(values: Mapping[str, object]) -> Settings:
    """Return the settings that the checked values make; what is absent has its default."""
    return cast("Settings", _assembled(Settings(), values, ""))


def _assembled(defaults: object, values: Mapping[str, object], above: str) -> object:
    chosen: dict[str, object] = {}
    for each in fields(cast("Settings", defaults)):
        value: object = getattr(defaults, each.name)
        path = f"{above}{each.name}"
        if is_dataclass(value):
            chosen[each.name] = _assembled(value, values, f"{path}.")
        else:
            chosen[each.name] = values.get(path, value)
    return type(defaults)(**chosen)
