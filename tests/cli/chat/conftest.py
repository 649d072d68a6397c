"""Keeps a chat in a folder that is no project."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder; return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
