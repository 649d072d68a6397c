"""Joins the parts: the one package that knows which concrete class stands behind each port.

Read in this order: `assembly`, `models`, `engines`, `stores`, `conversations`, `searching`, then
`asynchronous`, which is imported by its own name because event loops are slow to load.

Each name is loaded when it is first used: a command that lists sessions needs no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.wiring.assembly import Knobs, counter_of, engine_of, policy_of
    from holdfast.wiring.conversations import Conversation, ConversationOptions
    from holdfast.wiring.engines import Compressor, compact, compress, estimate_tokens
    from holdfast.wiring.models import Endpoint, summarizer_of
    from holdfast.wiring.searching import search_in, session_search
    from holdfast.wiring.stores import open_store, profile_names, store_file, store_of

__all__ = [
    "Compressor",
    "Conversation",
    "ConversationOptions",
    "Endpoint",
    "Knobs",
    "compact",
    "compress",
    "counter_of",
    "engine_of",
    "estimate_tokens",
    "open_store",
    "policy_of",
    "profile_names",
    "search_in",
    "session_search",
    "store_file",
    "store_of",
    "summarizer_of",
]

_HOMES = {
    "engines": ("Compressor", "compact", "compress", "estimate_tokens"),
    "assembly": ("Knobs", "counter_of", "engine_of", "policy_of"),
    "conversations": ("Conversation", "ConversationOptions"),
    "searching": ("search_in", "session_search"),
    "stores": ("open_store", "profile_names", "store_file", "store_of"),
    "models": ("Endpoint", "summarizer_of"),
}
"""The names that each module defines."""


def __getattr__(name: str) -> object:
    """Load a name from the module that defines it."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
