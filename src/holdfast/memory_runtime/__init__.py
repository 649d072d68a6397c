"""Drives memory providers beside a conversation: deadlines, order, and nothing that escapes.

Read in this order: `timeout_provider`, `memory_hub`.
"""

import warnings

from holdfast.memory_runtime.memory_hub import MemoryHub, MemoryTerms
from holdfast.memory_runtime.timeout_provider import (
    MemoryStatus,
    ProviderStatus,
    SerialExecutor,
    TimeoutProvider,
)

__all__ = [
    "MemoryHub",
    "MemoryStatus",
    "MemoryTerms",
    "ProviderStatus",
    "SerialExecutor",
    "TimeoutProvider",
]


def __getattr__(name: str) -> object:
    """Return the hub by the name that the documentation used before, with a warning."""
    if name != "Federation":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "holdfast.memory_runtime.Federation is now MemoryHub", DeprecationWarning, stacklevel=2
    )
    return MemoryHub
