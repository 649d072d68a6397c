"""Reads settings from environment variables such as `HOLDFAST_COMPRESSION_THRESHOLD`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holdfast.config.keys import FORMER, KEYS, LATER, read_text, unknown
from holdfast.config.origin import Environment, Setting
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_environment"]

_PREFIX = "HOLDFAST_"
_NEAR = 0.75
"""Stricter than elsewhere, since all names share their beginning."""
_OTHERS = frozenset(
    {
        "HOLDFAST_API_KEY",
        "HOLDFAST_HOME",
        "HOLDFAST_DEBUG",
        "HOLDFAST_SESSION_ID",
        "HOLDFAST_SHARED",
        "HOLDFAST_SUMMARY_KEY",
    }
)
"""Variables of ours that are no settings: `HOLDFAST_SHARED` names the material of the tests."""
_VARIABLES = {key.variable: key for key in KEYS.values()}


def read_environment(environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return the settings that the environment makes; an empty variable sets nothing.

    A variable with our prefix that is no setting is an error, as it would be in the file.
    """
    found: list[Setting] = []
    for variable in sorted(environ):
        if not variable.startswith(_PREFIX) or variable in _OTHERS:
            continue
        if not environ[variable].strip():
            continue
        origin = Environment(variable)
        key = _VARIABLES.get(variable)
        if key is None:
            raise _unknown(variable, origin)
        found.append(Setting(key.path, read_text(key, environ[variable], origin), origin))
    return tuple(found)


def _unknown(variable: str, origin: Environment) -> ConfigError:
    later = {f"{_PREFIX}{path.upper().replace('.', '_')}": path for path in LATER}
    for start, path in later.items():
        if variable == start or variable.startswith(f"{start}_"):
            return unknown(path, origin, spelled=path)
    former = {f"{_PREFIX}{old.upper().replace('.', '_')}": new for old, new in FORMER.items()}
    if variable in former:
        return ConfigError(f"{origin} is now called {KEYS[former[variable]].variable}; rename it")
    close = difflib.get_close_matches(variable, _VARIABLES, 1, _NEAR)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(_VARIABLES)}"
    return ConfigError(f"there is no setting behind the {origin}; {hint}")
