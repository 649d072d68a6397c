"""Drives memory providers beside a conversation: deadlines, order, and nothing that escapes.

Read in this order: `lane`, `standing`, `offered`, `guarded`, `toolshelf`, `answers`, `federation`.
"""

from holdfast.remembering.federation import Federation, Terms
from holdfast.remembering.guarded import Guarded
from holdfast.remembering.lane import Lane
from holdfast.remembering.standing import MemoryStatus, Standing

__all__ = ["Federation", "Guarded", "Lane", "MemoryStatus", "Standing", "Terms"]
