"""A store in memory: for tests, and for hosts that keep nothing.

Read in this order: `tables`, `changes`, `store`.
"""

from holdfast.stores.memory.store import MemoryStore, open_memory

__all__ = ["MemoryStore", "open_memory"]
