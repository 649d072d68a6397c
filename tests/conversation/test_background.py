"""Work beside the conversation: one at a time, and it never reaches the turn."""

import threading
from pathlib import Path

import pytest

from holdfast.conversation.background import Background
from holdfast.errors import HoldfastError, StoreError
from tests.conversation.talking import begun, talk


def unheard(error: HoldfastError) -> None:
    raise AssertionError(error)


def test_one_job_runs_at_a_time() -> None:
    work, gate = Background(unheard), threading.Event()
    assert work.wait()
    assert work.start(gate.wait)
    assert not work.start(gate.wait)
    assert not work.wait(0.01)
    gate.set()
    assert work.wait()
    assert not work.is_running
    assert work.start(lambda: None)
    assert work.wait()


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ValueError("the disk is full")])
def test_a_failure_is_told_and_the_next_job_runs(error: Exception) -> None:
    def fail() -> None:
        raise error

    told: list[HoldfastError] = []
    work = Background(told.append)
    work.start(fail)
    work.wait()
    assert ["the disk is full" in str(each) for each in told] == [True]
    assert work.start(lambda: None)
    work.wait()
    assert len(told) == 1


def test_what_is_said_during_a_compaction_ahead_of_time_follows_it(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", ahead_of_time=True)
    said: list[str] = []
    for number in range(40):
        talk(chat, [number])
        text = f"Meanwhile {number}."
        chat.user(text)
        chat.assistant("Yes.")
        said.append(text)
    assert chat.wait(30)
    assert {each.trigger for each in chat.compactions} >= {"ahead_of_time"}
    log = [entry.message.text for entry in chat.log]
    assert [text for text in log if text.startswith("Meanwhile")] == said
    assert "Meanwhile 39." in str(chat.window())
    chat.parts.store.close()
