"""Work beside the conversation: one at a time, and it never reaches the turn."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest

from holdfast.conversation.waiting import (
    PASS_THREADS,
    STORE_THREADS,
    Background,
    Join,
    Sleep,
    Steps,
    start_in_store,
)
from holdfast.errors import StoreError
from holdfast.wiring.asynchronous import AsyncConversation
from holdfast.wiring.conversations import Conversation
from holdfast.wiring.registry import Conversations
from tests.conversation.talking import begun, talk
from tests.promises.conversations import record, turn


def unheard(error: BaseException) -> None:
    raise AssertionError(error)


def nothing() -> Steps[None]:
    yield Sleep(0)


def test_one_job_runs_at_a_time() -> None:
    work, gate = Background(unheard), Future[None]()

    def behind_the_gate() -> Steps[None]:
        yield Join(gate)

    assert work.wait()
    assert work.start(behind_the_gate)
    assert not work.start(behind_the_gate)
    assert not work.wait(0.01)
    gate.set_result(None)
    assert work.wait()
    assert not work.is_running
    assert work.start(nothing)
    assert work.wait()


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ValueError("the disk is full")])
def test_a_failure_is_told_and_the_next_job_runs(error: Exception) -> None:
    def fail() -> Steps[None]:
        yield Sleep(0)
        raise error

    told: list[BaseException] = []
    work = Background(told.append)
    work.start(fail)
    work.wait()
    assert ["the disk is full" in str(each) for each in told] == [True]
    assert work.start(nothing)
    work.wait()
    assert len(told) == 1


def test_a_summarizer_that_exits_is_told_of_and_others_are_compacted(tmp_path: Path) -> None:
    def leave(prompt: str) -> str:
        raise SystemExit(len(prompt))

    for name, writer, outcome in (("a", leave, "SystemExit"), ("b", None, "")):
        chat = Conversation.open(
            store=tmp_path / name, context_length=20_000, summarizer=writer, background=True
        )
        talk(chat, range(75))
        assert chat.wait(20)
        assert outcome in str(chat.status().troubles)
        assert bool(chat.compactions()) is (writer is None)
        chat.close()


def test_a_pass_that_is_cancelled_twice_frees_its_lease_and_the_next_one_runs(
    tmp_path: Path,
) -> None:
    entered, go = threading.Event(), threading.Event()

    def slow(_: object) -> str:
        entered.set()
        go.wait(10)
        return ""

    async def cancelled() -> str:
        async with await AsyncConversation.open(
            store=tmp_path / "store.db", context_length=20_000, before_folding=slow
        ) as chat:
            talk(chat.sync, range(60))
            task = asyncio.create_task(chat.compact())
            await asyncio.to_thread(entered.wait, 10)
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0.01)
            go.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await asyncio.wait_for(chat.compact(), 10)).outcome

    assert asyncio.run(cancelled()) == "folded"


@pytest.mark.parametrize("kind", ["awaiting", "background"])
def test_many_passes_with_a_blocking_summarizer_share_a_few_threads(
    tmp_path: Path, kind: str
) -> None:
    most = 0

    def write(_: str) -> str:
        nonlocal most
        most = max(most, threading.active_count())
        time.sleep(0.05)
        return record(critical=("Nothing.",))

    with Conversations(
        tmp_path / "store.db", context_length=6_000, summarizer=write, automatic=False
    ) as conversations:
        chats = [conversations.open(str(number)) for number in range(80)]
        for chat in chats:
            chat.add([message for number in range(12) for message in turn(number)])

        async def compact_all() -> None:
            await asyncio.gather(*(AsyncConversation(each).compact() for each in chats))

        before = threading.active_count()
        if kind == "awaiting":
            asyncio.run(compact_all())
        else:
            assert all(each.compactor.background.start(each.compactor.compact) for each in chats)
            assert all(each.wait(60) for each in chats)
        assert [len(each.compactions()) for each in chats] == [1] * 80
    # Calls of the function, computing, the store, leases and the loop.
    assert most - before <= 32 + PASS_THREADS + STORE_THREADS + 3


@pytest.mark.filterwarnings("ignore")
def test_a_pass_whose_event_loop_was_closed_holds_up_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def think(prompt: str) -> str:
        await asyncio.sleep(1_000)
        return prompt

    async def begin() -> AsyncConversation:
        chat = await AsyncConversation.open(
            store=tmp_path / "store.db", context_length=20_000, summarizer=think, background=True
        )
        await asyncio.to_thread(talk, chat.sync, range(65))
        await asyncio.sleep(0.2)
        assert chat.sync.compactor.background.is_running
        return chat

    loop = asyncio.new_event_loop()
    chat = loop.run_until_complete(begin()).sync
    loop.close()
    assert not chat.status().compacting
    assert chat.wait(5)
    job = threading.Thread(target=lambda: chat.compactor.background.start(nothing), daemon=True)
    job.start()
    job.join(10)
    assert chat.wait(10)
    steps = chat.compactor.compact()
    assert not isinstance(next(steps), Join)
    steps.close()
    chat.close()
    # What asyncio says of the task is the only thing that is said.
    gc.collect()
    assert [each.name for each in caplog.records if each.name != "asyncio"] == []


def test_a_program_that_ends_during_a_pass_says_nothing(tmp_path: Path) -> None:
    program = f"""
import atexit, time
from holdfast import Conversation
from tests.conversation.talking import talk
chat = Conversation.open(store={str(tmp_path / "store.db")!r}, context_length=20_000,
    summarizer=lambda prompt: time.sleep(0.3) or "", background=True)
talk(chat, range(65))
assert chat.status().compacting
atexit.register(time.sleep, 1)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_what_is_said_during_a_compaction_ahead_of_time_follows_it(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", ahead_of_time=True)
    said: list[str] = []
    for number in range(40):
        talk(chat, [number])
        text = f"Meanwhile {number}."
        chat.add_user(text)
        chat.add_assistant("Yes.")
        said.append(text)
    assert chat.wait(30)
    assert {each.trigger for each in chat.compactions()} >= {"ahead_of_time"}
    log = [entry.message.text for entry in chat.log]
    assert [text for text in log if text.startswith("Meanwhile")] == said
    assert "Meanwhile 39." in str(chat.messages())
    chat.store.close()


def threads_of(*calls: Callable[[], None]) -> list[str]:
    """Return the threads on which calls are made that are begun one when the other has ended."""
    made: list[str] = []
    for call in calls:
        done = threading.Event()

        def make(call: Callable[[], None] = call, done: threading.Event = done) -> None:
            made.append(f"{threading.current_thread().name} {threading.get_ident()}")
            # What comes after the end of a call takes its thread a moment.
            threading.Timer(0.02, done.set).start()
            call()

        start_in_store(make)
        assert done.wait(5)
    return made


def test_calls_that_nobody_waits_for_stay_on_the_thread_that_was_idle_last() -> None:
    made = threads_of(*[lambda: None] * 5)
    assert len(set(made)) == 1
    assert made[0].startswith("holdfast-store-worker")


def test_a_call_that_fails_does_not_end_its_thread() -> None:
    def fail() -> None:
        raise ValueError

    assert len(set(threads_of(fail, lambda: None))) == 1


def test_no_more_calls_are_made_at_once_than_there_are_threads_and_none_is_lost() -> None:
    gate, most = threading.Event(), STORE_THREADS
    begun = threading.Semaphore(0)
    made: list[int] = []

    def hold(number: int) -> None:
        begun.release()
        gate.wait(5)
        made.append(number)
        begun.release()

    for number in range(2 * most):
        start_in_store(partial(hold, number))
    for _ in range(most):
        assert begun.acquire(timeout=5)
    assert not begun.acquire(timeout=0.05)
    gate.set()
    for _ in range(3 * most):
        assert begun.acquire(timeout=5)
    assert sorted(made) == [*range(2 * most)]
