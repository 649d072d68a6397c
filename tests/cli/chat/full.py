"""A chat whose window fills, and whose summary model is down when it is to be folded."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.cli.chat.talking import says
from tests.providers.provider import Provider, error, provider

TURNS = tuple(f"Turn {number}: {'some words of a long document ' * 40}" for number in range(6))
FULL = ("--context-length", "8200", "--summarizer", "s")
_PAUSE = 2.0
"""Seconds of the answer after the turns: by then the pass in the background has ended."""


@contextmanager
def full_chat() -> Generator[Provider]:
    """Serve answers whose usage fills the window, and for the summaries nothing but errors."""
    filling = [says("Yes.", tokens=950 * number) for number in range(1, len(TURNS) + 1)]
    later = [replace(says("Yes.", tokens=2_000), delay=_PAUSE), says("Yes.", tokens=2_000)]
    with (
        provider(error(503, "overloaded")) as summarizer,
        provider(*filling, *later, whole=error(503, "overloaded")) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL", f"{summarizer.url}/v1")
        yield server
