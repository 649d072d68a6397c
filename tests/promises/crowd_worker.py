"""One of many programs on the same store: it talks, searches, compacts and undoes for a while.

At the end it says which messages it was promised and how long each took. Any error ends it with a
traceback, which the test takes for a failure.
"""

import json
import os
import sys
import time
from itertools import count
from pathlib import Path
from random import Random
from typing import Literal

from holdfast.recall import Filters
from holdfast.stores.sqlite import SqliteStore
from holdfast.wiring import Conversation
from tests.promises.conversations import prose

WINDOW = 6_000


class Worker:
    """A few conversations, of which two are everybody's."""

    def __init__(self, path: Path, shared: tuple[str, str]) -> None:
        self.store = SqliteStore(path)
        in_place, rotating = shared
        self.chats = [
            self.opened(in_place, "in_place"),
            self.opened(rotating, "rotation"),
            self.opened(None, "in_place"),
            self.opened(None, "rotation"),
        ]
        self.random = Random(os.getpid())
        self.confirmed: list[tuple[int, str]] = []
        self.times: list[float] = []
        self.looks: list[float] = []
        self.counts = {"compactions": 0, "searches": 0, "undos": 0}

    def opened(self, id_: str | None, strategy: Literal["in_place", "rotation"]) -> Conversation:
        # No compaction on the path of an append: the time that one takes is measured.
        return Conversation.open(
            id_,
            store=self.store,
            strategy=strategy,
            context_length=WINDOW,
            automatic=False,
            active=False,
        )

    def run(self, seconds: float) -> None:
        numbers = count()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            chat = self.random.choice(self.chats)
            self.append(chat, f"p{os.getpid()}n{next(numbers)}")
            match self.random.randrange(30):
                case 0:
                    self.counts["compactions"] += chat.compress().outcome == "folded"
                case 1:
                    self.counts["undos"] += chat.undo()
                case 2:
                    self.counts["undos"] += chat.redo()
                case 3 | 4 | 5 | 6 if self.confirmed:
                    self.search(*self.random.choice(self.confirmed))
                case 7 | 8:
                    chat.messages()
                case _:
                    pass

    def append(self, chat: Conversation, word: str) -> None:
        text = f"{word} {prose(self.random, 30)}"
        started = time.perf_counter()
        if self.random.random() < 0.5:
            id_ = chat.add_user(text).id
            self.times.append(time.perf_counter() - started)
        else:
            # An answer also looks at the window, which others may have changed.
            id_ = chat.add_assistant(text).id
            self.looks.append(time.perf_counter() - started)
        self.confirmed.append((id_, word))

    def search(self, id_: int, word: str) -> None:
        hits = self.store.search(word, Filters(), limit=3, now=0)
        assert id_ in {hit.message_id for hit in hits}, word
        self.counts["searches"] += 1


if __name__ == "__main__":
    worker = Worker(Path(sys.argv[1]), (sys.argv[2], sys.argv[3]))
    sys.stdin.readline()
    worker.run(float(sys.argv[4]))
    print(
        json.dumps(
            {
                "confirmed": worker.confirmed,
                "times": worker.times,
                "looks": worker.looks,
                "counts": worker.counts,
                "chats": [chat.id for chat in worker.chats],
            }
        )
    )
    worker.store.close()
