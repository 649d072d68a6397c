"""The same conversation for event loops."""

import asyncio
from pathlib import Path

import pytest

from holdfast.conversation import SESSION_VARIABLE, SessionStamp, current_session
from holdfast.wiring.asynchronous import AsyncConversation
from tests.promises.conversations import record, session


def test_it_does_what_the_blocking_one_does(tmp_path: Path) -> None:
    async def talked() -> None:
        async with await AsyncConversation.open(
            store=tmp_path / "store.db", context_length=6_000, active=False
        ) as chat:
            await chat.set_system("Be careful.")
            for number in range(30):
                await chat.add_user(f"Question {number}: " + "word " * 60)
                await chat.add_response({"role": "assistant", "content": f"Answer {number}."})
            before = await chat.messages()
            assert (await chat.compress()).outcome == "folded"
            assert await chat.undo()
            assert await chat.messages() == before == chat.sync.messages()
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
        async with await AsyncConversation.open(store=tmp_path / "store.db", active=True) as chat:
            await ready.wait()
            await chat.add_user("one")
            return current_session() == chat.id

    async def both() -> tuple[bool, bool]:
        ready = asyncio.Barrier(2)
        return await asyncio.gather(work(ready), work(ready))

    assert tuple(asyncio.run(both())) == (True, True)


def test_a_pass_without_its_model_is_in_the_status_until_one_goes_well(tmp_path: Path) -> None:
    is_down = True

    async def write(prompt: str) -> str:
        if is_down:
            raise ConnectionError("no route")
        return record(critical=(f"Read {len(prompt)} characters.",))

    async def talked() -> tuple[str, str]:
        nonlocal is_down
        async with await AsyncConversation.open(
            store=tmp_path / "store.db", context_length=6_000, active=False, summarizer=write
        ) as chat:
            for message in session(30):
                await chat.add([message])
            await chat.messages()
            failed = (await chat.status()).warning
            is_down = False
            for message in session(4):
                await chat.add([message])
            assert (await chat.compress()).outcome == "folded"
            return failed, (await chat.status()).warning

    failed, cured = asyncio.run(talked())
    assert "write failed: ConnectionError: no route" in failed
    assert cured == ""


def test_a_model_may_be_called_by_a_plain_function_too() -> None:
    answer = {"role": "assistant", "content": "Aye."}

    async def talked() -> list[str]:
        async with await AsyncConversation.open(store="memory:", context_length=6_000) as chat:
            await chat.add_user("Port?")
            assert await chat.call(lambda _: answer) is answer
            return [entry.message.text for entry in await chat.log()]

    assert asyncio.run(talked()) == ["Port?", "Aye."]
