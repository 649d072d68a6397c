"""Live sessions for tests: a real store in a folder, the usual engine, a clock moved by hand."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.conversation import Dependencies, SessionOptions, StoredConversation
from holdfast.redaction import redact
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing import FixedClock
from holdfast.wiring import Compressor
from tests.promises.conversations import turn

WINDOW = 6_000


def parts_on(store: SqliteStore, *, window: int = WINDOW, **options: Any) -> Dependencies:
    def engine() -> Compressor:
        return Compressor(context_length=window)

    numbers = count(1)
    return Dependencies(
        store=store,
        engine=engine(),
        another_engine=engine,
        clock=FixedClock(1_000.0),
        nonce=lambda: next(numbers),
        redact=redact,
        options=SessionOptions(**options),
    )


def begun(path: Path, **options: Any) -> StoredConversation:
    parts = parts_on(SqliteStore(path), **options)
    session = parts.store.create(Session(id="20260101_000000_abcdef", source="api", started=1))
    return StoredConversation(parts, session)


def another(chat: StoredConversation, **options: Any) -> StoredConversation:
    """Return the same session as another process has it, with a connection of its own."""
    parts = parts_on(SqliteStore(Path(chat.store.name)), **options)
    return StoredConversation(parts, parts.store.session(chat.id))


def talk(chat: StoredConversation, turns: Sequence[int]) -> None:
    for number in turns:
        for message in turn(number):
            chat.add_response(message)


def wire(messages: Sequence[dict[str, object]]) -> list[str]:
    return [json.dumps(message, ensure_ascii=False) for message in messages]
