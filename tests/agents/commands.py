"""Runs holdfast as a user does, beside agents that `make agents` has installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENTS = "AGENTS"
"""The environment variable that says where the agents are; `make agents` sets it."""


def installed() -> Path:
    """Return where the agents' commands are; skips the tests of a module where there are none."""
    folder = os.environ.get(AGENTS)
    if not folder:
        pytest.skip("the agents are not installed; make agents does", allow_module_level=True)
    return Path(folder).resolve() / "node_modules" / ".bin"


def holdfast(store: Path, *arguments: str, **environ: str) -> str:
    """Return what a command prints; a store is made where there is none."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments],
        env={**os.environ, "HOLDFAST_HOME": str(store), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    # 3 says that nothing had to be done, and the output is there all the same.
    assert done.returncode in (0, 3), (arguments, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout
