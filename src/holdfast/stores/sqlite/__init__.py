"""The store on SQLite: one file, any number of threads and processes.

Read in this order: `schema`, `opening`, `connection`, `rows`, `log`, `views`, `store`.
"""

from holdfast.stores.sqlite.opening import PATIENCE, LockPatience
from holdfast.stores.sqlite.salvage import salvage
from holdfast.stores.sqlite.store import SqliteStore

__all__ = ["PATIENCE", "LockPatience", "SqliteStore", "salvage"]
