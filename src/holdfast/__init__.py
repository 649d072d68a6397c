"""The context layer under an agent: endless conversations in a finite window.

Importing holdfast does nothing and costs next to nothing: each name is loaded when it is first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.compaction import (
        Abandoned,
        Folded,
        LiveState,
        PlanItem,
        Policy,
        Pruned,
        Unchanged,
    )
    from holdfast.engines import Compaction, CompactionReport
    from holdfast.errors import HoldfastError
    from holdfast.redaction import Redactor, redact
    from holdfast.wiring import Compressor, compress, estimate_tokens

__all__ = [
    "Abandoned",
    "Compaction",
    "CompactionReport",
    "Compressor",
    "Folded",
    "HoldfastError",
    "LiveState",
    "PlanItem",
    "Policy",
    "Pruned",
    "Redactor",
    "Unchanged",
    "compress",
    "estimate_tokens",
    "redact",
]

__version__ = "0.1.0"

_HOMES = {
    "holdfast.compaction": (
        "Abandoned",
        "Folded",
        "LiveState",
        "PlanItem",
        "Policy",
        "Pruned",
        "Unchanged",
    ),
    "holdfast.engines": ("Compaction", "CompactionReport"),
    "holdfast.errors": ("HoldfastError",),
    "holdfast.redaction": ("Redactor", "redact"),
    "holdfast.wiring": ("Compressor", "compress", "estimate_tokens"),
}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
