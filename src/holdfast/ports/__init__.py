"""What the layers above need from the world, as protocols with a suite for implementers.

The counter is a port too; it lives with the arithmetic that uses it, in `holdfast.tokens`.
"""

from holdfast.ports.engine import Blocking, Clock, EnginePass, WindowEngine, arun, run
from holdfast.ports.memory import MemoryProvider
from holdfast.ports.model import ChatModel, Delta, Finished, Prompt, Spoken, Summarizer, Thought
from holdfast.ports.store import (
    REQUIRED,
    Amendment,
    Capability,
    FileUpkeep,
    Health,
    Index,
    Lease,
    Leases,
    Listing,
    SessionLog,
    Store,
    Trash,
    file_upkeep,
)

__all__ = [
    "REQUIRED",
    "Amendment",
    "Blocking",
    "Capability",
    "ChatModel",
    "Clock",
    "Delta",
    "EnginePass",
    "FileUpkeep",
    "Finished",
    "Health",
    "Index",
    "Lease",
    "Leases",
    "Listing",
    "MemoryProvider",
    "Prompt",
    "SessionLog",
    "Spoken",
    "Store",
    "Summarizer",
    "Thought",
    "Trash",
    "WindowEngine",
    "arun",
    "file_upkeep",
    "run",
]
