"""Requests of many clients at once are recorded, each as if it were alone."""

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.errors import StoreBusy, StoreError
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.recognition.matching import Continuity
from holdfast.session import Draft, Entry, Usage
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.wiring.registry import Conversations
from tests.gateway.test_turns import ClientTurn, log_of, request, said, taken

MANY = 20


class Choosy(SqliteStore):
    """A store that refuses some words."""

    refused = ""

    def append(
        self,
        id_: str,
        drafts: Sequence[Draft],
        usage: Usage = Usage(),  # noqa: B008 - a frozen value
        *,
        size: int | None = None,
    ) -> tuple[Entry, ...]:
        if self.refused and any(self.refused in each.message.text for each in drafts):
            raise StoreError("these words are refused")
        return super().append(id_, drafts, usage, size=size)


def keeper(path: Path) -> tuple[TurnKeeper, Choosy]:
    store = Choosy(path / "store.db")
    return TurnKeeper(Conversations(store), TreeFile(str(path / "tree.db")), 200_000), store


def first(number: int) -> list[dict[str, object]]:
    return [said("user", f"Task {number}: read the file.")]


def later(number: int) -> list[dict[str, object]]:
    return [*first(number), said("assistant", f"Answer {number}."), said("user", "Go on.")]


async def answered(turn: ClientTurn, number: int) -> None:
    answer = {"choices": [{"message": said("assistant", f"Answer {number}.")}]}
    await turn.answered(answer, is_partial=False)


def test_many_at_once_are_recorded_once_each_and_known_again(tmp_path: Path) -> None:
    async def run() -> None:
        turns, store = keeper(tmp_path)
        begun = await asyncio.gather(*(taken(turns, request(*first(n))) for n in range(MANY)))
        await asyncio.gather(*(answered(turn, n) for n, turn in enumerate(begun)))
        goes_on = await asyncio.gather(*(taken(turns, request(*later(n))) for n in range(MANY)))
        assert {turn.found.how for turn in goes_on} == {Continuity.EXTENDS}
        for one, two in zip(begun, goes_on, strict=True):
            assert one.chat is not None
            assert two.chat is not None
            assert one.chat.id == two.chat.id
            assert await log_of(two) == ["user", "assistant", "user"]
        assert store.check().problems == ()

    asyncio.run(run())


def test_the_same_request_many_times_at_once_is_recorded_once(tmp_path: Path) -> None:
    async def run() -> None:
        turns, _ = keeper(tmp_path)
        same = await asyncio.gather(*(taken(turns, request(*first(1))) for _ in range(MANY)))
        assert len({turn.conversation.id for turn in same if turn.conversation}) == 1
        assert await log_of(same[0]) == ["user"]

    asyncio.run(run())


def test_one_that_cannot_be_recorded_does_the_others_no_harm(tmp_path: Path) -> None:
    async def run() -> None:
        turns, store = keeper(tmp_path)
        begun = await asyncio.gather(*(taken(turns, request(*first(n))) for n in range(MANY)))
        await asyncio.gather(*(answered(turn, n) for n, turn in enumerate(begun)))
        store.refused = "Go on"
        bodies = [request(*later(n), said("user", "x")) for n in range(MANY)]
        bodies[1::2] = [request(*later(n)[:2], said("user", "Stop.")) for n in range(1, MANY, 2)]
        ends = await asyncio.gather(
            *(taken(turns, body) for body in bodies), return_exceptions=True
        )
        assert all(isinstance(end, StoreError) for end in ends[::2])
        for n, end in enumerate(ends[1::2]):
            assert isinstance(end, ClientTurn)
            assert await log_of(end) == ["user", "assistant", "user"], n
            assert [each["content"] for each in await end.chat.messages()][-1] == "Stop."  # type: ignore[union-attr]
        store.refused = ""
        for n in range(0, MANY, 2):
            again = await taken(turns, request(*later(n)))
            assert await log_of(again) == ["user", "assistant", "user"]
        assert store.check().problems == ()

    asyncio.run(run())


def test_conversations_that_begin_beside_one_that_cannot_are_there_once(tmp_path: Path) -> None:
    async def run() -> None:
        turns, store = keeper(tmp_path)
        store.refused = "Task 3:"
        ends = await asyncio.gather(
            *(taken(turns, request(*first(n))) for n in range(MANY)), return_exceptions=True
        )
        assert [n for n, end in enumerate(ends) if isinstance(end, StoreError)] == [3]
        store.refused = ""
        again = await asyncio.gather(*(taken(turns, request(*first(n))) for n in range(MANY)))
        assert [await log_of(turn) for turn in again] == [["user"]] * MANY
        for turn, end in zip(again, ends, strict=True):
            assert turn.conversation is not None
            if isinstance(end, ClientTurn):
                assert end.conversation is not None
                assert end.conversation.id == turn.conversation.id

    asyncio.run(run())


def test_an_answer_waits_for_no_request_whose_place_another_process_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        turns, _ = keeper(tmp_path)
        (begun,) = [await taken(turns, request(*first(1)))]
        free = threading.Event()
        monkeypatch.setattr("holdfast.gateway.byte_locks.try_lock", lambda *_: free.is_set())
        stuck = asyncio.ensure_future(taken(turns, request(*first(2))))
        await asyncio.sleep(0.05)
        await asyncio.wait_for(answered(begun, 1), 2)
        assert not stuck.done()
        free.set()
        assert await log_of(begun) == ["user", "assistant"]
        assert await log_of(await stuck) == ["user"]

    asyncio.run(run())


def test_a_request_waits_for_no_request_whose_place_another_process_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        turns, _ = keeper(tmp_path)
        free, tried = threading.Event(), list[int]()

        def try_lock(_: object, at: int) -> bool:
            tried.append(at)
            return free.is_set() or at != tried[0]

        monkeypatch.setattr("holdfast.gateway.byte_locks.try_lock", try_lock)
        stuck = asyncio.ensure_future(taken(turns, request(*first(1))))
        await asyncio.sleep(0.05)
        other = await asyncio.wait_for(taken(turns, request(*first(2))), 2)
        assert not stuck.done()
        free.set()
        assert await log_of(other) == ["user"]
        assert await log_of(await stuck) == ["user"]

    asyncio.run(run())


def test_a_place_that_another_process_keeps_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        turns, _ = keeper(tmp_path)
        monkeypatch.setattr("holdfast.gateway.byte_locks.try_lock", lambda *_: False)
        monkeypatch.setattr("holdfast.gateway.turns._PATIENCE_S", 0.05)
        with pytest.raises(StoreBusy, match="in use by another process"):
            await taken(turns, request(*first(1)))

    asyncio.run(run())


def test_what_waits_beside_the_files_is_moved_by_nobody_who_is_waited_for(tmp_path: Path) -> None:
    moved: list[str] = []

    class Moved(Choosy):
        def checkpoint(self) -> None:
            moved.append(threading.current_thread().name)
            super().checkpoint()

    async def run() -> None:
        store = Moved(tmp_path / "store.db")
        tree = TreeFile(str(tmp_path / "tree.db"))
        turns = TurnKeeper(Conversations(store), tree, 200_000)
        before = (tmp_path / "tree.db").stat().st_size
        for number in range(MANY * 6):
            await taken(turns, request(*first(number)))
        until = time.monotonic() + 5
        while (tmp_path / "tree.db").stat().st_size == before and time.monotonic() < until:
            await asyncio.sleep(0.01)
        assert (tmp_path / "tree.db").stat().st_size > before

    asyncio.run(run())
    assert len(moved) == 1
    assert moved[0].startswith("holdfast-store")
