"""The store on SQLite: one file, any number of threads and processes.

Read in this order: `schema`, `opening`, `connection`, `rows`, `log`, `windows`, `views`, `store`.
"""

from holdfast.adapters.sqlite.opening import PATIENCE, Patience
from holdfast.adapters.sqlite.salvage import salvage
from holdfast.adapters.sqlite.store import SqliteStore

__all__ = ["PATIENCE", "Patience", "SqliteStore", "salvage"]
