"""The store: appending, bytes on disk, search, a million messages, whole compactions.

Read in this order: `words`, `corpus`, `filling`, `queries`, `searching`, `discovering`,
`appending`, `compacting`, `disk`, `large`, `tables`, `measure`.
"""

from bench.store.measure import run

__all__ = ["run"]
