"""Keeping the window within its limits: hygiene, recovery, and the hold after an undo."""

from dataclasses import replace
from pathlib import Path

from holdfast.conversation import LiveSession, Parts
from holdfast.wiring import Conversation
from tests.conversation.talking import begun, talk
from tests.promises.conversations import session, turn


def test_a_window_that_is_due_is_compacted_before_it_is_sent(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    for number in range(40):
        talk(chat, [number])
        chat.window()
        status = chat.status()
        assert status.tokens <= status.threshold
    assert {each.trigger for each in chat.compactions} <= {"preflight", "hygiene", "in_loop"}
    assert chat.compactions
    assert len(chat.log) == 40 * len(turn(0))
    chat.parts.store.close()


def test_a_session_that_grew_between_turns_is_compacted_first(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    talk(chat, range(40))
    again = LiveSession(_automatic(chat), chat.session)
    again.user("Go on.")
    again.window()
    assert len(again.compactions) == 1
    assert again.window()[-1] == {"role": "user", "content": "Go on."}
    chat.parts.store.close()


def test_after_an_undo_the_next_compaction_waits_until_it_must_be(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    number = 0
    while not chat.compactions:
        talk(chat, [number])
        chat.window()
        number += 1
    assert chat.undo()
    before = chat.window()
    assert chat.window() == before
    assert chat.status().undone
    assert len(chat.compactions) == 1
    while len(chat.compactions) == 1:
        talk(chat, [number])
        chat.window()
        number += 1
    assert not chat.status().undone
    chat.parts.store.close()


def test_nothing_is_compacted_when_nobody_asks(chat: LiveSession) -> None:
    talk(chat, range(60))
    assert len(chat.window()) == 60 * len(turn(0))
    assert chat.compactions == ()


def test_a_window_that_an_error_taught_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, model="m", context_length=100_000, active=False) as chat:
        for message in session(30):
            chat.record(message)
        report = chat.recover(ValueError("maximum context length is 8192 tokens"))
        assert report.outcome in ("folded", "pruned_only")
        assert chat.status().tokens <= 8_192
        id_ = chat.id
    for model, expected in (("m", 8_192), ("other", 100_000)):
        with Conversation.open(
            id_, store=path, model=model, context_length=100_000, active=False
        ) as again:
            assert again.status().context_length == expected


def test_a_window_learned_after_a_switch_belongs_to_the_other_model(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, model="m", context_length=100_000, active=False) as chat:
        chat.user("one")
        chat.switch_model("other", 50_000)
        chat.recover(ValueError("maximum context length is 8192 tokens"))
        store = chat.parts.store
        assert store.remembered("window::other") == "8192"
        assert store.remembered("window::m") is None


def test_each_attempt_to_recover_is_tighter(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", window=60_000, automatic=False)
    talk(chat, range(60))
    sizes: list[int] = []
    for attempt in (1, 2, 3):
        chat.recover("400: too many tokens", attempt=attempt)
        sizes.append(chat.status().tokens)
    assert sizes == sorted(sizes, reverse=True)
    chat.parts.store.close()


def _automatic(chat: LiveSession) -> Parts:
    return replace(chat.parts, options=replace(chat.parts.options, automatic=True))
