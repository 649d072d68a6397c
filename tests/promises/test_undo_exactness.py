"""Undo gives back the exact window after any compaction of any real session; a diff is complete."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from holdfast.formats import read_all
from holdfast.session import Draft, Entry
from holdfast.transcript import Transcript, check
from holdfast.wiring import Conversation
from tests.promises.conversations import turn
from tests.promises.test_real_sessions import FOLDERS, NOT_CHATS

BIG = 600_000
"""Bytes from which on a file is left to the other tests."""
WINDOW = 8_000
TIMES = 10


def transcripts(sessions: Path) -> Iterator[tuple[str, Transcript]]:
    files = (path for folder in FOLDERS for path in sorted((sessions / folder).rglob("*")))
    for path in filter(Path.is_file, files):
        if any(word in str(path) for word in NOT_CHATS) or path.stat().st_size > BIG:
            continue
        document = read_all(path.read_bytes())[0]
        transcript = document.live
        if transcript and not check(transcript):
            yield path.name, transcript


def written(chat: Conversation) -> str:
    return json.dumps(chat.messages(), ensure_ascii=False)


def loaded(chat: Conversation, transcript: Transcript) -> None:
    chat.store.append(chat.id, [Draft(message=message, at=1) for message in transcript])


@pytest.mark.parametrize("strategy", ["in_place", "rotation"])
def test_a_real_session_comes_back_byte_for_byte(
    shared: Path, place: str, strategy: Literal["in_place", "rotation"]
) -> None:
    compacted = 0
    with Conversation.open(store=place, active=False) as first:
        for name, transcript in transcripts(shared / "data/sessions"):
            chat = Conversation.open(
                store=first.store,
                context_length=WINDOW,
                strategy=strategy,
                automatic=False,
                active=False,
            )
            loaded(chat, transcript)
            before = written(chat)
            if chat.compress().outcome not in ("folded", "pruned_only"):
                assert written(chat) == before, name
                continue
            compacted += 1
            after = written(chat)
            assert_complete(chat)
            assert chat.undo(), name
            assert written(chat) == before, name
            assert chat.redo(), name
            assert written(chat) == after, name
    assert compacted > 10


def test_ten_compactions_are_undone_one_by_one(place: str) -> None:
    with Conversation.open(
        store=place, context_length=WINDOW, automatic=False, active=False
    ) as chat:
        chat.set_system("Be careful.")
        earlier: list[str] = []
        afters: list[str] = []
        for number in range(TIMES):
            for each in range(6):
                for message in turn(number * 6 + each):
                    chat.add_response(message)
            earlier.append(written(chat))
            assert chat.compress().outcome in ("folded", "pruned_only")
            afters.append(written(chat))
            assert_complete(chat)
        said = chat.log
        for number in reversed(range(TIMES)):
            assert chat.undo()
            # What was said after this compaction follows what was there before it.
            assert written(chat)[:-1].startswith(earlier[number][:-1])
        assert [entry.message for entry in said] == [
            entry.message for entry in chat.store.window(chat.id).entries
        ]
        assert not chat.undo()
        for _ in range(TIMES):
            assert chat.redo()
        assert written(chat) == afters[-1]
        assert not chat.redo()


def assert_complete(chat: Conversation) -> None:
    """Check that a diff names every entry of both windows once."""
    store, diff = chat.store, chat.diff()
    before = store.window_at(chat.id, diff.record.before).entries
    after = store.window_at(chat.id, diff.record.after).entries
    replaced = [old for old, _ in diff.replaced]
    assert numbers(before) == numbers((*diff.folded, *diff.kept, *replaced))
    stand_ins = {new.id: new for _, new in diff.replaced}
    added = {entry.id: entry for entry in diff.added}
    assert numbers(after) == numbers((*diff.kept, *{**stand_ins, **added}.values()))


def numbers(entries: tuple[Entry, ...]) -> list[int]:
    return sorted(entry.id for entry in entries)
