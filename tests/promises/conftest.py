"""Promises that do not speak of files are kept by every store."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store that is not there yet."""
    return f"memory:{tmp_path}" if request.param == "memory" else str(tmp_path / "store.db")
