"""The same conversation for event loops."""

import asyncio
from pathlib import Path

import pytest

from holdfast.conversation import SESSION_VARIABLE, SessionStamp, current_session
from holdfast.wiring.asynchronous import AsyncConversation


def test_it_does_what_the_blocking_one_does(tmp_path: Path) -> None:
    async def talked() -> None:
        async with await AsyncConversation.open(
            store=tmp_path / "store.db", context_length=6_000, active=False
        ) as chat:
            await chat.system("Be careful.")
            for number in range(30):
                await chat.user(f"Question {number}: " + "word " * 60)
                await chat.record({"role": "assistant", "content": f"Answer {number}."})
            before = await chat.window()
            assert (await chat.compress()).outcome == "folded"
            assert await chat.undo()
            assert await chat.window() == before == chat.sync.window()
            branch = await chat.branch()
            assert branch.id != chat.id
            assert (await (await branch.new()).status()).messages == 0

    asyncio.run(talked())


def test_two_tasks_each_have_their_own_current_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SESSION_VARIABLE, "")
    monkeypatch.setattr(SessionStamp, "session", None)

    async def work(ready: asyncio.Barrier) -> bool:
        async with await AsyncConversation.open(store=tmp_path / "store.db") as chat:
            await ready.wait()
            await chat.user("one")
            return current_session() == chat.id

    async def both() -> tuple[bool, bool]:
        ready = asyncio.Barrier(2)
        return await asyncio.gather(work(ready), work(ready))

    assert tuple(asyncio.run(both())) == (True, True)
