"""Keeping the window within its limits: hygiene, recovery, and the hold after an undo."""

from dataclasses import replace
from pathlib import Path

from holdfast.conversation import Dependencies, StoredConversation
from holdfast.conversation.dependencies import Bill
from holdfast.transcript import Transcript
from holdfast.wiring import Conversation
from tests.conversation.talking import begun, talk
from tests.promises.conversations import session, turn


def test_a_window_that_is_due_is_compacted_before_it_is_sent(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    for number in range(40):
        talk(chat, [number])
        chat.messages()
        status = chat.status()
        assert status.tokens <= status.threshold
    assert {each.trigger for each in chat.compactions()} <= {"preflight", "hygiene", "in_loop"}
    assert chat.compactions()
    assert len(chat.log) == 40 * len(turn(0))
    chat.store.close()


def test_a_session_that_grew_between_turns_is_compacted_first(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    talk(chat, range(40))
    again = StoredConversation(_automatic(chat), chat.session)
    again.add_user("Go on.")
    again.messages()
    assert len(again.compactions()) == 1
    assert again.messages()[-1] == {"role": "user", "content": "Go on."}
    chat.store.close()


def test_after_an_undo_the_next_compaction_waits_until_it_must_be(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    number = 0
    while not chat.compactions():
        talk(chat, [number])
        chat.messages()
        number += 1
    assert chat.undo()
    before = chat.messages()
    assert chat.messages() == before
    assert chat.status().undone
    assert len(chat.compactions()) == 1
    while len(chat.compactions()) == 1:
        talk(chat, [number])
        chat.messages()
        number += 1
    assert not chat.status().undone
    chat.store.close()


def test_nothing_is_compacted_when_nobody_asks(chat: StoredConversation) -> None:
    talk(chat, range(60))
    assert len(chat.messages()) == 60 * len(turn(0))
    assert chat.compactions() == ()


def test_a_window_that_an_error_taught_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, model="m", context_length=100_000, active=False) as chat:
        for message in session(30):
            chat.add_response(message)
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
        chat.add_user("one")
        chat.switch_model("other", 50_000)
        chat.recover(ValueError("maximum context length is 8192 tokens"))
        store = chat.store
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
    chat.store.close()


def _automatic(chat: StoredConversation) -> Dependencies:
    return replace(chat.live.deps, options=replace(chat.live.deps.options, automatic=True))


def test_what_memory_recalls_is_shown_and_is_never_the_users(tmp_path: Path) -> None:
    chat = begun(tmp_path / "a.db")
    chat.add_user("Start the server", recalled="Ada prefers port 5433")
    shown = chat.messages()[0]["content"]
    assert isinstance(shown, str)
    assert shown.startswith("<memory-context>")
    assert shown.endswith("</memory-context>\n\nStart the server")
    assert [entry.message.text for entry in chat.log] == ["Start the server"]
    assert chat.search("5433") == ()
    assert chat.search("server")[0].snippet == "Start the >>>server<<<"
    chat.store.close()


def test_blank_memory_leaves_the_words_as_they_are(tmp_path: Path) -> None:
    chat = begun(tmp_path / "a.db")
    chat.add_user("Start the server", recalled=" \n")
    assert chat.messages() == [{"role": "user", "content": "Start the server"}]
    chat.store.close()


def test_a_title_is_made_of_the_users_own_words_and_not_of_a_skill(tmp_path: Path) -> None:
    chat = begun(tmp_path / "a.db")
    chat.add_user(
        "<command-message>review is running</command-message>\n"
        "<command-name>/review</command-name>\n"
        "<command-args>Look at the retry policy</command-args>"
    )
    chat.add_assistant("I look at it.")
    assert chat.title == "Look at the retry policy"
    chat.store.close()


def test_what_memory_takes_before_a_fold_joins_the_record(tmp_path: Path) -> None:
    chat = begun(tmp_path / "a.db")
    seen: list[Transcript] = []

    def notes(messages: Transcript) -> str:
        seen.append(messages)
        return "Ada wants releases on Mondays"

    chat.live.deps = replace(
        chat.live.deps, before_folding=notes, bill=lambda _: Bill(0.25, 0.5, 7)
    )
    talk(chat, range(12))
    before = [entry.message for entry in chat.log]
    report = chat.compress()
    assert report.outcome == "folded"
    # Once, and neither the head nor the tail, which stay in the window.
    (folded,) = seen
    cuts = report.result.report.cuts
    assert cuts is not None
    assert folded == tuple(before[cuts.head : cuts.tail])
    chat.compress()
    assert len(seen) == 1 or not set(map(id, seen[1])) & set(map(id, folded))
    record = chat.compactions()[-1]
    assert "- From memory, for reference: Ada wants releases on Mondays" in record.summary
    assert (record.cost, record.cache_cost, record.report["break_even"]) == (0.25, 0.5, 7)
    chat.store.close()
