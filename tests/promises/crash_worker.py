"""A program that is killed: it works on a store and says on its output what it was promised.

Each line is JSON. A message is announced when the call that wrote it has returned, and so is the
window after every step, as ids.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.opening import migrate
from holdfast.stores.sqlite.schema import MIGRATIONS
from holdfast.transcript import Message, Role, Text
from holdfast.wiring import Conversation
from tests.promises.conversations import WORDS, call, calls, prose

WINDOW = 6_000


def say(**facts: object) -> None:
    os.write(1, json.dumps(facts).encode() + b"\n")


class Worker:
    """One conversation that is talked to, compacted, turned back and forked without end."""

    def __init__(self, path: Path, root: str, seed: int, *, is_ahead: bool = False) -> None:
        self.random = Random(seed)
        self.is_ahead = is_ahead
        self.store = SqliteStore(path)
        self.chat = self.opened(root)
        self.numbers = count()
        self.mark = f"w{os.getpid()}x"

    def opened(self, root: str) -> Conversation:
        strategy = self.random.choice(("in_place", "rotation"))
        return Conversation.open(
            root,
            store=self.store,
            context_length=WINDOW,
            strategy="rotation" if strategy == "rotation" else "in_place",
            ahead_of_time=self.is_ahead,
            active=False,
        )

    def talk(self) -> None:
        word = self.word()
        self.wrote(self.chat.add_user(f"{word} asks {prose(self.random, 20)}").id, word)
        word = self.word()
        asked = calls(call(word, command="make test"), text=f"{word} looks")
        self.wrote(self.chat.add([asked])[-1].id, word)
        word, answered = self.word(), word
        output = " ".join(self.random.choices(WORDS, k=self.random.choice((30, 700))))
        self.wrote(self.chat.add_tool_result(answered, f"{word} {output}").id, word)
        word = self.word()
        self.wrote(self.chat.add_assistant(f"{word} is done").id, word)

    def fork(self) -> None:
        self.chat = self.chat.branch()

    def reopen(self) -> None:
        self.chat = self.opened(self.chat.id)

    def prompt(self) -> None:
        self.chat.set_system(f"Prompt {self.word()}")

    def word(self) -> str:
        return f"{self.mark}{next(self.numbers)}"

    def wrote(self, id_: int, word: str) -> None:
        say(kind="message", id=id_, word=word)

    def state(self) -> None:
        window = self.store.window(self.chat.id)
        ids = [entry.id for entry in window.entries]
        say(
            kind="window",
            session=self.chat.id,
            generation=window.head.generation,
            view=window.head.view,
            ids=ids,
        )

    def run(self) -> None:
        steps: list[Callable[[], object]] = [
            self.talk,
            self.talk,
            self.chat_step("compress"),
            self.chat_step("undo"),
            self.chat_step("redo"),
            self.chat_step("rewind"),
            self.fork,
            self.prompt,
            self.reopen,
        ]
        self.state()
        while True:
            self.random.choice(steps)()
            self.state()

    def chat_step(self, name: str) -> Callable[[], object]:
        return lambda: getattr(self.chat, name)()


def talking(path: Path, root: str, seed: int) -> None:
    Worker(path, root, seed).run()


def ahead(path: Path, root: str, seed: int) -> None:
    """Talk while compactions run in the background."""
    worker = Worker(path, root, seed, is_ahead=True)
    worker.state()
    while True:
        worker.talk()
        worker.chat.messages()


def creating(path: Path, _root: str, _seed: int) -> None:
    """Make one store after the other."""
    for number in count():
        store = SqliteStore(path / f"{number}.db")
        store.create(Session(id="first", source="test", started=1))
        say(kind="created", number=number)
        store.close()


def migrating(path: Path, _root: str, _seed: int) -> None:
    """Bring copies of a store to a version that takes a while to reach."""

    def step(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE later (value)")
        for value in range(3_000):
            connection.execute("INSERT INTO later VALUES (?)", (value,))
        connection.execute("UPDATE sessions SET title = 'later'")

    for number in count():
        target = path / f"{number}.db"
        store = SqliteStore(target)
        store.create(Session(id="first", source="test", started=1, title="earlier"))
        store.close()
        connection = sqlite3.connect(target, isolation_level=None)
        say(kind="made", number=number)
        migrate(connection, steps=(*MIGRATIONS, step))
        say(kind="migrated", number=number)
        connection.close()


def copying(path: Path, _root: str, _seed: int) -> None:
    """Write backups over each other while messages are added."""
    store = SqliteStore(path)
    for number in count():
        (entry,) = store.append("kept", [Draft(message=_said(f"word{number}"), at=1)])
        store.backup(path.with_name("copy.db"))
        say(kind="copied", id=entry.id)


def purging(path: Path, _root: str, _seed: int) -> None:
    """Delete sessions whose contents another one shares."""
    store = SqliteStore(path)
    shared = _said("shared content " * 400)
    for number in count():
        id_ = f"gone-{os.getpid()}-{number}"
        own = _said(f"content {number} " * 400)
        (kept,) = store.append("kept", [Draft(message=shared, at=1)])
        say(kind="kept", id=kept.id)
        store.create(Session(id=id_, source="test", started=1))
        store.append(id_, [Draft(message=each, at=1) for each in (shared, own)])
        store.trash([id_], 2)
        store.purge([id_])
        say(kind="purged", id=id_)


def _said(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


if __name__ == "__main__":
    works = {
        each.__name__: each for each in (talking, ahead, creating, migrating, copying, purging)
    }
    works[sys.argv[1]](Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
