"""What every store must do, as a test class that anybody can run against their own."""

from __future__ import annotations

from holdfast.testing.store_additions import AdditionCases
from holdfast.testing.store_care import CareCases
from holdfast.testing.store_lineage import LineageCases
from holdfast.testing.store_log import LogCases
from holdfast.testing.store_sessions import SessionCases
from holdfast.testing.store_windows import WindowCases

__all__ = ["StoreSuite"]


class StoreSuite(SessionCases, AdditionCases, LogCases, WindowCases, LineageCases, CareCases):
    """Subclass as `TestMine(StoreSuite)` and implement `make`; pytest does the rest.

    Every test opens a store in a directory of its own, and closes it.
    """
