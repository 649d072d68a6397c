"""Settings and fixtures that every test may use."""

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent

# No deadline: two busy cores make wall time a poor judge, and pytest-timeout catches a hang.
settings.register_profile("default", max_examples=60, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, print_blob=True)
settings.register_profile(
    "soak",
    max_examples=400,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# No test signs summaries with the key of whoever runs it, or makes one in their home folder.
os.environ["HOLDFAST_SUMMARY_KEY"] = "a key that only tests use, and that they all share"

# A shell lets its background jobs ignore Ctrl-C, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: what is made then stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the root of this repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real sessions, which is not part of the repository."""
    folder = Path(os.environ.get("HOLDFAST_SHARED") or REPOSITORY.parent / "shared")
    if not folder.is_dir():
        pytest.skip("no real sessions here; HOLDFAST_SHARED names their folder")
    return folder
