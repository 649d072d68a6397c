"""A turn that was cut off between the store and the tree is recorded once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import ClientTurn, TurnKeeper
from holdfast.ports import Listing
from holdfast.recognition.matching import Continuity
from holdfast.recognition.request import read_request
from holdfast.wiring.registry import Conversations
from tests.gateway.test_turns import CHAT, request, said, step

LONG = "a line of the listing\n" * 20_000
"""More than a window shows of what a tool answered."""


class CutOff(Exception):
    """Stands for the death of the process."""


def keeper(folder: Path) -> TurnKeeper:
    """Return what a process has that just started."""
    conversations = Conversations(str(folder / "store.db"), context_length=200_000)
    return TurnKeeper(conversations, TreeFile(str(folder / "gateway.db")), 200_000)


async def taken(turns: TurnKeeper, *messages: dict[str, object], session: str = "") -> ClientTurn:
    asked = read_request(CHAT, {"x-session-id": session}, body := request(*messages))
    assert asked is not None
    return await turns.take(asked, body)


def cut_off(
    folder: Path, at: str, *messages: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take a turn in a process that dies when it comes to a method."""
    turns = keeper(folder)
    owner: Any = turns.tree if hasattr(turns.tree, at) else turns.conversations.store

    def dies(*_: object, **__: object) -> None:
        raise CutOff

    with monkeypatch.context() as patch:
        patch.setattr(type(owner), at, dies)
        with pytest.raises(CutOff):
            asyncio.run(taken(turns, *messages))


def log_of(folder: Path) -> list[list[str]]:
    """Return what was said in each session, the oldest session first."""
    store = keeper(folder).conversations.store
    return [
        [each.message.role.value for each in store.since(session.id, 0)]
        for session in sorted(store.sessions(Listing()), key=lambda each: each.started)
    ]


@pytest.mark.parametrize("at", ["record", "append"])
def test_a_conversation_that_was_cut_off_at_its_beginning_is_begun_once(
    tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [said("system", "Be careful."), said("user", "Read the file.")]
    cut_off(tmp_path, at, *first, monkeypatch=monkeypatch)
    turn = asyncio.run(taken(keeper(tmp_path), *first))
    assert turn.found.how is Continuity.ROOT
    assert log_of(tmp_path) == [["system", "user"]]


@pytest.mark.parametrize("at", ["record", "append"])
def test_a_branch_that_was_cut_off_is_made_once(
    tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = [said("user", "Read the file."), *step(1), said("assistant", "Read.")]
    asyncio.run(taken(keeper(tmp_path), *begun, said("user", "This way.")))
    other = [*begun, said("user", "That way.")]
    cut_off(tmp_path, at, *other, monkeypatch=monkeypatch)
    turn = asyncio.run(taken(keeper(tmp_path), *other))
    assert turn.found.how is Continuity.BRANCH
    assert log_of(tmp_path) == [["user", "assistant", "tool", "assistant", "user"], ["user"]]


def test_a_long_result_whose_turn_was_cut_off_is_recorded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [said("user", "Read the file.")]
    asyncio.run(taken(keeper(tmp_path), *first))
    longer = [*first, *step(1, LONG)]
    cut_off(tmp_path, "record", *longer, monkeypatch=monkeypatch)
    asyncio.run(taken(keeper(tmp_path), *longer))
    assert log_of(tmp_path) == [["user", "assistant", "tool"]]


def test_an_answer_to_a_retry_is_known_after_the_answer_that_nobody_waited_for(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        turns = keeper(tmp_path)
        first = [said("user", "Hello")]
        one = await taken(turns, *first)
        again = await taken(turns, *first)
        assert one.chat is not None
        assert again.chat is not None
        await one.chat.add_response(said("assistant", "Good morning"))
        await again.chat.add_response(said("assistant", "Good evening"))
        last = await taken(turns, *first, said("assistant", "Good evening"), said("user", "Ah."))
        assert last.chat is not None
        shown = await last.chat.messages()
        assert [each["content"] for each in shown] == ["Hello", "Good evening", "Ah."]
        assert len(await last.chat.log()) == 4

    asyncio.run(run())


def test_the_answer_to_the_first_of_two_equal_requests_is_known_too(tmp_path: Path) -> None:
    async def run() -> None:
        turns = keeper(tmp_path)
        first = [said("user", "Hello")]
        one = await taken(turns, *first)
        assert one.chat is not None
        await one.chat.add_response(said("assistant", "Good morning"))
        again = await taken(turns, *first)
        assert again.chat is not None
        await again.chat.add_response(said("assistant", "Good evening"))
        morning = [*first, said("assistant", "Good morning"), said("user", "Ah.")]
        last = await taken(turns, *morning)
        assert last.chat is not None
        assert await last.chat.messages() == morning
        assert len(await last.chat.log()) == 4

    asyncio.run(run())
