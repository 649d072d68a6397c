"""The settings of this version, as frozen values, how each is read, and where it came from.

Only keys that do something are here: a key that is read and ignored would be a lie.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pathlib import Path


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


_LONGEST_SHOWN = 80
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
UPSTREAM = re.compile(
    r"(?:(?P<dialect>openai|responses|anthropic|gemini)(?:/(?P<pattern>[^=]+))?=)?"
    r"(?P<url>https?://.+)"
)
"""An upstream of the gateway: whose requests, for which models, and where they go."""

Test: TypeAlias = Callable[[object], bool]


def converted(kind: type, value: object) -> object | None:
    """Return the value as the kind, or None when it is of another kind."""
    if kind is tuple:
        items = cast("list[object]", value) if isinstance(value, list | tuple) else None
        texts = items is not None and all(isinstance(item, str) for item in items)
        return tuple(items or ()) if texts else None
    if kind is dict:
        pairs = cast("dict[object, object]", value) if isinstance(value, dict) else None
        counts = pairs is not None and all(
            isinstance(name, str) and converted(int, number) is not None
            for name, number in pairs.items()
        )
        return dict(pairs or {}) if counts else None
    if isinstance(value, bool):
        return value if kind is bool else None
    if kind is float and isinstance(value, int | float):
        return float(value)
    return value if isinstance(value, kind) else None


def parsed(kind: type, text: str) -> object:
    """Return what a text spells; a text that spells nothing of the kind stays a text."""
    stripped = text.strip()
    try:
        if kind in (tuple, dict):
            return cast("object", json.loads(stripped))
        if kind is int:
            return int(stripped)
        if kind is float:
            return float(stripped)
    except ValueError:
        return text
    if kind is bool:
        return {"true": True, "false": False}.get(stripped.lower(), text)
    return text


def shown(value: object) -> str:
    """Return a value as an error message shows it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        return "a number with too many digits"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def within(least: float, most: float, *, open_below: bool = False) -> Test:
    """Return the test for a number between two bounds; the lower one may be left out."""

    def holds(value: object) -> bool:
        number = cast("float", value)
        return (least < number if open_below else least <= number) and number <= most

    return holds


def is_url(value: object) -> bool:
    """Say whether a value is an address of the web, with a host and no impossible port."""
    try:
        parts = urlsplit(str(value))
        # A port that is none raises when it is looked at.
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def are_upstreams(value: object) -> bool:
    """Say whether each of several texts names an upstream."""
    found = [UPSTREAM.fullmatch(text) for text in cast("tuple[str, ...]", value)]
    return all(each is not None and is_url(each["url"]) for each in found)


def is_profile(value: object) -> bool:
    """Say whether a name may be that of a profile: it becomes a folder, and never leads out."""
    name = str(value)
    return _PROFILE.fullmatch(name) is not None and ".." not in name
