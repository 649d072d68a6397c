"""A live session that is closed after the test, with all that came of it."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from holdfast.conversation import StoredConversation
from tests.conversation.talking import another, begun


@pytest.fixture
def chat(tmp_path: Path) -> Generator[StoredConversation]:
    made = begun(tmp_path / "store.db", automatic=False)
    yield made
    made.wait()
    made.store.close()


@pytest.fixture
def beside(chat: StoredConversation) -> Generator[Callable[[], StoredConversation]]:
    """Return a way to open the same session as another process would."""
    opened: list[StoredConversation] = []

    def open_another() -> StoredConversation:
        opened.append(another(chat, automatic=False))
        return opened[-1]

    yield open_another
    for each in opened:
        each.wait()
        each.store.close()
