"""A live session that is closed after the test, with all that came of it."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from holdfast.conversation import LiveSession
from tests.conversation.talking import another, begun


@pytest.fixture
def chat(tmp_path: Path) -> Generator[LiveSession]:
    made = begun(tmp_path / "store.db", automatic=False)
    yield made
    made.wait()
    made.parts.store.close()


@pytest.fixture
def beside(chat: LiveSession) -> Generator[Callable[[], LiveSession]]:
    """Return a way to open the same session as another process would."""
    opened: list[LiveSession] = []

    def open_another() -> LiveSession:
        opened.append(another(chat, automatic=False))
        return opened[-1]

    yield open_another
    for each in opened:
        each.wait()
        each.parts.store.close()
