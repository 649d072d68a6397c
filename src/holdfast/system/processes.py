"""How other processes of Python are started: split off where that is safe, and never led astray.

The folder that a person works in may be somebody else's. A process that looks for modules there
would run whatever lies in it under the name of one, so none of ours does.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import active_count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

_SAFE_PATH = "PYTHONSAFEPATH"
_PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of holdfast itself."""


def can_fork() -> bool:
    """Say whether this process may be split: other threads would be lost with what they hold."""
    return sys.platform == "linux" and active_count() == 1


def isolated_python(module: str) -> list[str]:
    """Return the command that runs a module of ours, wherever it is run."""
    return [sys.executable, "-P", "-m", module]


def isolated_environment() -> dict[str, str]:
    """Return the environment with the way to us, and without what leads Python elsewhere.

    Where this process looks for modules others do too, but for the folder that it is in.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    here = os.path.realpath(os.curdir)
    known = [path for path in sys.path if os.path.isabs(path) and os.path.realpath(path) != here]
    return {**kept, "PYTHONPATH": os.pathsep.join([str(_PACKAGE.parent), *known])}


@contextmanager
def safe_path() -> Generator[None]:
    """Let processes that are started meanwhile find no module in the folder that this one is in."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE_PATH, None)
        else:
            os.environ[_SAFE_PATH] = before
