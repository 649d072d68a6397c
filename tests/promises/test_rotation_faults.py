"""A rotation that fails at any of its steps leaves the parent live and every pointer on it."""

import logging
import os
import resource
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from holdfast.conversation import (
    SESSION_VARIABLE,
    SessionStamp,
    Switch,
    current_session,
)
from holdfast.errors import HoldfastError, StoreError
from holdfast.session import EndReason
from holdfast.stores.sqlite import opening
from holdfast.wiring import Conversation
from tests.promises.conversations import turn

WINDOW = 6_000
STEPS = {
    "the child": "INSERT ON sessions",
    "its first view": "INSERT ON views WHEN NEW.cause = 'fork'",
    "the pointer to its view": "UPDATE OF view ON sessions",
    "the summary": "INSERT ON messages WHEN NEW.kind = 1",
    "the compacted view": "INSERT ON views WHEN NEW.cause = 'compaction'",
    "the record of the pass": "INSERT ON compactions",
    "the pins": "INSERT ON pins",
    "the end of the parent": "UPDATE OF ended ON sessions",
}


class Memory:
    """A listener with a pointer of its own, as a memory provider has."""

    def __init__(self, session: str = "", fails: int = 0) -> None:
        self.session = session
        self.heard: list[str] = []
        self.fails = fails

    def __call__(self, switch: Switch) -> None:
        self.heard.append(switch.reason)
        if self.fails:
            self.fails -= 1
            raise ValueError("the memory is closed")
        self.session = switch.new


@pytest.fixture
def pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what a conversation makes current."""
    monkeypatch.setenv(SESSION_VARIABLE, "")
    monkeypatch.setattr(SessionStamp, "session", None)


@contextmanager
def rotating(place: str, *listeners: Callable[[Switch], None]) -> Generator[Conversation]:
    with Conversation.open(
        store=place, strategy="rotation", context_length=WINDOW, listeners=listeners, active=True
    ) as chat:
        chat.set_system("Be careful.")
        for number in range(8):
            for message in turn(number):
                chat.add_response(message)
        chat.pin(chat.log[1].id)
        for listener in listeners:
            if isinstance(listener, Memory):
                listener.session = chat.id
        yield chat


@contextmanager
def failing(chat: Conversation, memory: Memory) -> Generator[None]:
    """Check that what happens inside leaves everything as it is, and that the next pass works."""
    parent, before = chat.id, chat.messages()
    yield
    store = chat.store
    assert chat.id == parent
    assert [session.id for session in store.lineage(parent)] == [parent]
    assert store.session(parent).is_live
    assert pointed_at(memory) == {parent}
    assert chat.messages() == before
    assert store.check().problems == ()
    assert chat.compress().outcome == "folded"
    assert chat.id != parent
    assert store.session(parent).end_reason is EndReason.COMPRESSION
    assert pointed_at(memory) == {chat.id}
    chat.add_user("Go on.")
    assert chat.messages()[-1] == {"role": "user", "content": "Go on."}


def pointed_at(memory: Memory) -> set[str | None]:
    """Return what every pointer to the current session says."""
    record = logging.LogRecord("name", logging.INFO, "path", 1, "said", (), None)
    SessionStamp().filter(record)
    stamped = record.__dict__["holdfast_session"]
    return {current_session(), os.environ[SESSION_VARIABLE], stamped, memory.session}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_in_the_store_fails(tmp_path: Path, pointers: None, step: str) -> None:
    path, memory = tmp_path / "store.db", Memory()
    with rotating(str(path), memory) as chat, failing(chat, memory):
        with injected(path, STEPS[step]), pytest.raises(StoreError) as raised:
            chat.compress()
        assert "broken on purpose" in str(raised.value.__cause__)
        assert memory.heard == []


@pytest.mark.parametrize("first_fails", [True, False])
def test_a_listener_refuses(place: str, pointers: None, first_fails: bool) -> None:
    willing, refusing = Memory(), Memory(fails=1)
    listeners = (refusing, willing) if first_fails else (willing, refusing)
    with rotating(place, *listeners) as chat, failing(chat, refusing):
        with pytest.raises(HoldfastError, match="ValueError: the memory is closed") as raised:
            chat.compress()
        assert isinstance(raised.value.__cause__, ValueError)
        assert refusing.heard == ["compression", "rollback"]
        assert willing.heard == ([] if first_fails else ["compression", "rollback"])
        assert willing.session == chat.id
    assert willing.session == chat.id


def test_a_listener_that_cannot_go_back_does_not_hide_why(
    place: str, pointers: None, caplog: pytest.LogCaptureFixture
) -> None:
    willing, refusing = Memory(), Memory(fails=2)
    with rotating(place, willing, refusing) as chat:
        refusing.session = parent = chat.id
        with pytest.raises(HoldfastError, match="was refused: ValueError"):
            chat.compress()
        assert willing.heard == ["compression", "rollback"]
        assert willing.session == parent
    assert "a listener did not follow" in caplog.text


def test_the_environment_cannot_be_changed(
    place: str, pointers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fixed(dict[str, str]):
        def __setitem__(self, key: str, value: str) -> NoReturn:
            raise OSError(f"{key} cannot be set")

    memory = Memory()
    with rotating(place, memory) as chat, failing(chat, memory):
        with monkeypatch.context() as patch:
            patch.setattr(os, "environ", Fixed(os.environ))
            with pytest.raises(HoldfastError, match="OSError: HOLDFAST_SESSION_ID"):
                chat.compress()
            assert current_session() == chat.id
        assert memory.heard == []


def test_the_commit_cannot_be_written(tmp_path: Path, pointers: None) -> None:
    path, memory = tmp_path / "store.db", Memory()
    with rotating(str(path), memory) as chat, failing(chat, memory):
        chat.messages()
        with no_larger_files(path), pytest.raises(StoreError, match=r"store\.db"):
            chat.compress()
        assert memory.heard == ["compression", "rollback"]


def test_the_disk_is_full(tmp_path: Path, pointers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path, memory = tmp_path / "store.db", Memory()
    with rotating(str(path), memory) as chat:
        id_ = chat.id
    with monkeypatch.context() as patch:
        patch.setattr(opening, "connect", never_growing(opening.connect))
        chat = Conversation.open(
            id_,
            store=path,
            strategy="rotation",
            context_length=WINDOW,
            listeners=(memory,),
            active=True,
        )
        before = chat.messages()
        with pytest.raises(StoreError, match="no space left"):
            until_full(chat)
        leaf, window = chat.id, chat.messages()
        chat.close()
    with Conversation.open(leaf, store=path, active=False) as again:
        assert again.id == leaf
        assert again.messages() == window != before
        assert len([each for each in again.store.lineage(id_) if each.is_live]) == 1
        assert again.store.check().problems == ()


def until_full(chat: Conversation) -> None:
    for _ in range(20):
        chat.add_user("more " * 300)
        chat.compress()


@contextmanager
def injected(path: Path, event: str) -> Generator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        table, _, condition = event.partition(" WHEN ")
        when = f"WHEN {condition}" if condition else ""
        connection.execute(
            f"CREATE TRIGGER fault BEFORE {table} {when} "
            "BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END"
        )
        yield
        connection.execute("DROP TRIGGER fault")


@contextmanager
def no_larger_files(path: Path) -> Generator[None]:
    """Let no file of this process grow beyond what the log of the store has reached."""
    size = path.with_name(f"{path.name}-wal").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def never_growing(
    connect: Callable[[str, opening.LockPatience], sqlite3.Connection],
) -> Callable[[str, opening.LockPatience], sqlite3.Connection]:
    """Return a way to open files that finds a full disk as soon as they would grow by much."""

    def connected(address: str, patience: opening.LockPatience) -> sqlite3.Connection:
        connection = connect(address, patience)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        return connection

    return connected
