"""The context layer under an agent: endless conversations in a finite window.

Importing holdfast does nothing and costs next to nothing: each name is loaded when it is first
used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast import trajectories as trajectories
    from holdfast.compaction import (
        Abandoned,
        CompactionReport,
        Folded,
        LiveState,
        PlanItem,
        Policy,
        Pruned,
        Unchanged,
    )
    from holdfast.conversation import SessionSearch, SessionStamp, Status, current_session
    from holdfast.engines import Compaction
    from holdfast.engines.contract import ContextEngine
    from holdfast.engines.registry import register_context_engine
    from holdfast.errors import HoldfastError
    from holdfast.recall.arguments import session_search_tool
    from holdfast.redaction import Redactor, redact
    from holdfast.session import Usage
    from holdfast.wiring import Compressor, compact, compress, estimate_tokens
    from holdfast.wiring.asynchronous import AsyncConversation
    from holdfast.wiring.calling import is_context_overflow
    from holdfast.wiring.conversations import Conversation
    from holdfast.wiring.engines import load_engine
    from holdfast.wiring.registry import Conversations
    from holdfast.wiring.searching import session_search
    from holdfast.wiring.sessions import sessions as sessions

__all__ = [
    "Abandoned",
    "AsyncConversation",
    "Compaction",
    "CompactionReport",
    "Compressor",
    "ContextEngine",
    "Conversation",
    "Conversations",
    "Folded",
    "HoldfastError",
    "LiveState",
    "PlanItem",
    "Policy",
    "Pruned",
    "Redactor",
    "SessionSearch",
    "SessionStamp",
    "Status",
    "Unchanged",
    "Usage",
    "compact",
    "compress",
    "current_session",
    "estimate_tokens",
    "is_context_overflow",
    "load_engine",
    "redact",
    "register_context_engine",
    "session_search",
    "session_search_tool",
]

__version__ = "0.1.0"

_HOMES = {
    "holdfast.compaction": (
        "Abandoned",
        "CompactionReport",
        "Folded",
        "LiveState",
        "PlanItem",
        "Policy",
        "Pruned",
        "Unchanged",
    ),
    "holdfast.conversation": ("SessionSearch", "SessionStamp", "Status", "current_session"),
    "holdfast.engines": ("Compaction",),
    "holdfast.engines.contract": ("ContextEngine",),
    "holdfast.engines.registry": ("register_context_engine",),
    "holdfast.errors": ("HoldfastError",),
    "holdfast.recall.arguments": ("session_search_tool",),
    "holdfast.redaction": ("Redactor", "redact"),
    "holdfast.session": ("Usage",),
    "holdfast.wiring": ("Compressor", "compact", "compress", "estimate_tokens"),
    "holdfast.wiring.asynchronous": ("AsyncConversation",),
    "holdfast.wiring.calling": ("is_context_overflow",),
    "holdfast.wiring.conversations": ("Conversation",),
    "holdfast.wiring.engines": ("load_engine",),
    "holdfast.wiring.registry": ("Conversations",),
    "holdfast.wiring.searching": ("session_search",),
}


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name == "trajectories":
        return import_module("holdfast.trajectories")
    if name == "sessions":
        return import_module("holdfast.wiring.sessions").sessions
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
