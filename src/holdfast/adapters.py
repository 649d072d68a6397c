"""The former home of the adapters: the names that the documentation used still work here."""

from __future__ import annotations

import warnings
from importlib import import_module

_MOVED = {
    "AnthropicSummarizer": "holdfast.providers",
    "CallableSummarizer": "holdfast.providers",
    "ExactCounter": "holdfast.providers",
    "OpenAISummarizer": "holdfast.providers",
    "SystemClock": "holdfast.system",
}


def __getattr__(name: str) -> object:
    """Return a name from where it is now, with a warning."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _MOVED[name]
    warnings.warn(
        f"holdfast.adapters.{name} is now {home}.{name}", DeprecationWarning, stacklevel=2
    )
    return getattr(import_module(home), name)
