"""How values of each kind are read, checked and shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeAlias, cast
from urllib.parse import urlsplit

__all__ = [
    "UPSTREAM",
    "Test",
    "are_upstreams",
    "converted",
    "is_profile",
    "is_url",
    "parsed",
    "shown",
    "within",
]

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
