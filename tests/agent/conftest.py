"""What every test of the agent stands on: a home of its own, and a conversation in a file."""

from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.wiring import Conversation


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))


@pytest.fixture
def chat(tmp_path: Path) -> Generator[Conversation]:
    with Conversation.open(
        store=tmp_path / "chat.db", model="m", context_length=8_000, active=False
    ) as opened:
        yield opened
