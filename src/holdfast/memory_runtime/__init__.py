"""Drives memory providers beside a conversation: deadlines, order, and nothing that escapes.

Read in this order: `lane`, `standing`, `offered`, `guarded`, `toolshelf`, `answers`, `federation`.
"""

from holdfast.memory_runtime.federation import Federation, Terms
from holdfast.memory_runtime.guarded import Guarded
from holdfast.memory_runtime.lane import Lane
from holdfast.memory_runtime.standing import MemoryStatus, Standing

__all__ = ["Federation", "Guarded", "Lane", "MemoryStatus", "Standing", "Terms"]
