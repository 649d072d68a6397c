"""Killed at any moment, a chat goes on with the same conversation."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from holdfast.agent.turn import CUT_OFF
from holdfast.ports.store import Listing
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.wire import DIALECTS
from holdfast.wiring import Conversation
from tests.cli.chat.slow import slow_provider
from tests.promises.killing import SOAKS
from tests.providers.provider import Provider

KILLS = 60 if SOAKS else 2
WORDS = tuple(f"word{number} " for number in range(25))
ANSWER = "".join(WORDS).strip()
SAID = [f"Question {number}" for number in range(1, 30)]


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_chat_is_resumed_as_it_was(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "profiles" / "default" / "holdfast.db"
    with slow_provider(*WORDS, pause=0.02) as server:
        moment = Random(seed).uniform(0.0, 1.5)
        seen = killed(server, tmp_path, after=lambda: time.sleep(moment))
        with closing(SqliteStore(file)) as store:
            assert store.check().problems == ()
            before = said(store)
        assert_conversation(before, seen)
        assert said_after_resuming(server, tmp_path, file)[: len(before)] == before


def killed(server: Provider, home: Path, *, after: Callable[[], None]) -> str:
    """Kill a chat some time after its first question was asked; return what it had shown."""
    with chat(server, home) as process:
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write("\n".join(SAID).encode() + b"\n")
            process.stdin.flush()
            while not server.requests:
                assert process.poll() is None
                time.sleep(0.01)
            after()
        finally:
            process.kill()
        return process.stdout.read().decode()


def said_after_resuming(server: Provider, home: Path, file: Path) -> list[tuple[str, str]]:
    """Go on with the conversation for a turn, and return everything that was said in it."""
    with chat(server, home, "--resume", "last") as process:
        output, _ = process.communicate(b"And now?\n", timeout=60)
    assert process.returncode == 0, output.decode()
    with closing(SqliteStore(file)) as store:
        everything = said(store)
        body = Conversation.open(only(store).id, store=store, active=False).body()
    assert DIALECTS["openai"].validate(body) == ()
    assert everything[-2:] == [("user", "And now?"), ("assistant", ANSWER)]
    return everything


def assert_conversation(found: list[tuple[str, str]], seen: str) -> None:
    """Check that all whole answers that were shown are stored, each after its question."""
    questions = [text for role, text in found if role == "user"]
    answers = [text for role, text in found if role == "assistant"]
    assert questions == SAID[: len(questions)]
    assert answers == [ANSWER] * len(answers)
    assert len(questions) - len(answers) in (0, 1)
    # The status line is shown once an answer is stored.
    assert seen.count(" tokens (") <= len(answers)


def test_what_had_been_heard_of_an_answer_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "profiles" / "default" / "holdfast.db"
    # So slow that the answer cannot be over before its first words are seen in the store.
    with slow_provider(*WORDS, pause=1.1) as server:
        killed(server, tmp_path, after=lambda: wait_for_draft(file))
    with closing(SqliteStore(file)) as store:
        assert said(store) == [("user", "Question 1")]
    with slow_provider(*WORDS, pause=0.0) as server:
        everything = said_after_resuming(server, tmp_path, file)
    role, draft = everything[1]
    assert role == "assistant"
    assert draft.endswith(f"\n{CUT_OFF}")
    heard = draft.removesuffix(f"\n{CUT_OFF}").strip()
    assert heard
    assert ANSWER.startswith(heard)


def wait_for_draft(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        name = f"draft:{only(store).id}"
        while not store.remembered(name):
            time.sleep(0.01)


def chat(server: Provider, home: Path, *flags: str) -> subprocess.Popen[bytes]:
    known = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
    command = ["chat", "--model", "m", "--base-url", f"{server.url}/v1", *flags]
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**known, "HOLDFAST_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        cwd=home,
    )


def only(store: SqliteStore) -> Session:
    (session,) = store.sessions(Listing())
    return session


def said(store: SqliteStore) -> list[tuple[str, str]]:
    log = store.since(only(store).id, 0)
    return [(each.message.role.value, each.message.text.strip()) for each in log[1:]]
