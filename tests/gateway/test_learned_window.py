"""A window that a refusal taught is that of every request since, also after a restart."""

import json
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.wiring.assembly import WINDOW
from holdfast.wiring.models import say_assumed
from holdfast.wiring.registry import Conversations
from tests.gateway.scripted import Gateway, Received, answer, gateway, upstream

LIMIT = 8_000
PROSE = "The component reads orders, checks them and writes to the ledger. " * 14


class Small:
    """An upstream whose window is smaller than its model's name says."""

    def __init__(self) -> None:
        self.refused: list[int] = []

    def __call__(self, received: Received) -> list[Any]:
        tokens = len(received.body) // 4
        if tokens > LIMIT:
            self.refused.append(tokens)
            words = f"This model's maximum context length is {LIMIT} tokens."
            error = {"error": {"message": words, "code": "context_length_exceeded"}}
            return [*answer(json.dumps(error).encode(), "400 Bad Request")]
        said = {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 2},
        }
        return [*answer(json.dumps(said).encode())]


def talk(here: Gateway, messages: list[dict[str, str]], turns: int) -> str:
    """Take turns as a client that sends all it has; return the id of the session."""
    session = ""
    for _ in range(turns):
        words = f"Turn {len(messages)}. {PROSE}"
        messages.append({"role": "user", "content": words})
        found = here.post("openai", {"model": "m1", "messages": messages})
        assert found.status_code == 200
        session = found.headers["x-holdfast-session"]
        messages.append({"role": "assistant", "content": "Done."})
    return session


def keeper(folder: Path) -> TurnKeeper:
    conversations = Conversations(str(folder / "store.db"), summarizer=None, ahead_of_time=True)
    return TurnKeeper(conversations, TreeFile(str(folder / "tree.db")))


def test_one_refusal_teaches_the_window_of_a_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small, first, second = Small(), list[dict[str, str]](), list[dict[str, str]]()
    with upstream(small) as up:
        turns = keeper(tmp_path)
        with gateway(up, turns) as here:
            # Another conversation is open when the window is learned.
            talk(here, second, 26)
            session = talk(here, first, 60)
            assert len(small.refused) == 1
            assert turns.conversations.store.session(session).context_length == LIMIT
            talk(here, second, 12)
        turns.conversations.close()
        say_assumed.cache_clear()
        caplog.clear()
        with caplog.at_level(logging.WARNING), gateway(up, turns := keeper(tmp_path)) as here:
            assert talk(here, first, 30) == session
            talk(here, [], 40)
        assert turns.conversations.store.session(session).context_length == LIMIT
        turns.conversations.close()
    assert len(small.refused) == 1
    assert not [each for each in caplog.records if "assumed" in each.message]


def test_a_learned_window_is_forgotten_as_the_page_says(tmp_path: Path) -> None:
    small, messages = Small(), list[dict[str, str]]()
    with upstream(small) as up, gateway(up, turns := keeper(tmp_path)) as here:
        session = talk(here, messages, 32)
        assert turns.conversations.store.session(session).context_length == LIMIT
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
            connection.execute("DELETE FROM meta WHERE key = 'window::m1'")
        talk(here, messages, 1)
        assert turns.conversations.store.session(session).context_length == WINDOW
        turns.conversations.close()
