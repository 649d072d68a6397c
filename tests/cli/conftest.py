"""Keeps the settings of whoever runs the tests out of them."""

import os
import sys
from pathlib import Path

import pytest

_OUTSIDE = ("HOLDFAST_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "OPENAI_", "ANTHROPIC_")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home directory that every command of the test uses."""
    for variable in os.environ:
        if variable.startswith(_OUTSIDE):
            monkeypatch.delenv(variable)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOLDFAST_HOME", str(folder))
    # Where `holdfast` is on the path, advice calls it by that name.
    here = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([here, os.environ.get("PATH", os.defpath)]))
    return folder
