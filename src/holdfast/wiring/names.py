"""Names of options that are not checked by Python itself, because they come as a mapping."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_names"]

_MEANT = {"context_window": "context_length", "dialect": "format", "max_tokens": "fit"}
"""What others call a thing, and what it is called here."""


def check_names(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse an option that does not exist: a misspelled one would silently do nothing.

    Raises:
        ConfigError: for the first of them, with the nearest name that exists.
    """
    allowed = list(known)
    for name in given:
        if name not in allowed:
            close = [_MEANT[name]] if _MEANT.get(name) in allowed else []
            close = close or difflib.get_close_matches(name, allowed, 1)
            hint = f"did you mean {close[0]}?" if close else f"it takes: {', '.join(allowed)}"
            raise ConfigError(f"{where} has no option {name}; {hint}")
