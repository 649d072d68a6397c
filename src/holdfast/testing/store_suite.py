"""What every store must do, as a test class that anybody can run against their own."""

from __future__ import annotations

from holdfast.testing.store_care import (
    BackupCases,
    DurableCases,
    HealthCases,
    LeaseCases,
    RepairCases,
    TrashCases,
)
from holdfast.testing.store_log import LineageCases, LogCases
from holdfast.testing.store_sessions import AdditionCases, SearchCases, SessionCases
from holdfast.testing.store_windows import WindowCases


class StoreSuite(
    SessionCases,
    AdditionCases,
    LogCases,
    WindowCases,
    LineageCases,
    SearchCases,
    LeaseCases,
    TrashCases,
    HealthCases,
    DurableCases,
    RepairCases,
    BackupCases,
):
    """Subclass as `TestMine(StoreSuite)` and implement `make`; pytest does the rest.

    Every test opens a store at a place of its own, and closes it. Each is about one capability; a
    store that does not claim it skips the test. `store_report` tells what a store has.
    """
