"""What the layers above need from the world, as protocols with a suite for implementers.

The counter is a port too; it lives with the arithmetic that uses it, in `holdfast.tokens`.
"""

from holdfast.ports.clock import Clock
from holdfast.ports.engine import ContextEngine
from holdfast.ports.store import (
    Amendment,
    Health,
    Index,
    Lease,
    Leases,
    Listing,
    SessionLog,
    Store,
    Upkeep,
)
from holdfast.ports.summarizer import Summarizer

__all__ = [
    "Amendment",
    "Clock",
    "ContextEngine",
    "Health",
    "Index",
    "Lease",
    "Leases",
    "Listing",
    "SessionLog",
    "Store",
    "Summarizer",
    "Upkeep",
]
