"""Keeping the window within its limits: hygiene, recovery, and the hold after an undo."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from holdfast.config import Settings
from holdfast.conversation import Dependencies, StoredConversation
from holdfast.conversation.dependencies import Bill
from holdfast.session import Usage
from holdfast.transcript import Transcript
from holdfast.wiring import Conversation
from tests.conversation.talking import WINDOW, another, begun, talk
from tests.engines.plugins import Tail, Wire
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


def _filled(path: Path, share: float, **options: Any) -> StoredConversation:
    """Return a session that somebody filled to a share of its window, as another process."""
    chat = begun(path, automatic=False)
    number = 0
    while chat.status().tokens < share * WINDOW:
        talk(chat, [number])
        number += 1
    return another(chat, **options)


@pytest.mark.parametrize(("threshold", "passes"), [(0.85, ["hygiene"]), (1.0, [])])
def test_hygiene_waits_for_a_pass_that_could_be_made_in_the_background(
    tmp_path: Path, threshold: float, passes: list[str]
) -> None:
    chat = _filled(tmp_path / "store.db", 0.86, ahead_of_time=True)
    chat.live.deps.engine.policy = replace(  # type: ignore[misc] - an engine of our own
        chat.live.deps.engine.policy, hygiene=threshold, threshold_floor=0, reserve=0
    )
    chat.add_user("Go on.")
    chat.messages()
    assert [each.trigger for each in chat.compactions()] == passes
    chat.wait()
    assert [each.trigger for each in chat.compactions()] == (passes or ["ahead_of_time"])
    chat.store.close()


@pytest.mark.parametrize(("threshold", "passes"), [(0.3, ["hygiene"]), (0.85, [])])
def test_the_hygiene_threshold_says_when_a_turn_begins_with_a_pass(
    tmp_path: Path, threshold: float, passes: list[str]
) -> None:
    settings = replace(
        Settings(), compression=replace(Settings().compression, hygiene_threshold=threshold)
    )
    place = tmp_path / "store.db"
    with Conversation.open(store=place, context_length=WINDOW, automatic=False) as chat:
        chat.add(session(8))
        stored = chat.id
        assert 0.3 * WINDOW < chat.status().tokens < chat.status().threshold
    with Conversation.open(stored, store=place, settings=settings) as chat:
        chat.messages()
        assert [each.trigger for each in chat.compactions()] == passes


@pytest.mark.parametrize(("reported", "passes"), [(5_400, ["hygiene"]), (900, [])])
def test_hygiene_prefers_what_was_reported_before_the_session_was_opened_again(
    tmp_path: Path, reported: int, passes: list[str]
) -> None:
    place = tmp_path / "store.db"
    options: Any = {"store": place, "context_length": WINDOW}
    with Conversation.open(automatic=False, **options) as chat:
        chat.add(session(8 if reported > 1_000 else 30))
        estimate = chat.status().tokens
        chat.messages()
        chat.add_response("Done.", usage=Usage(calls=1, input_tokens=reported))
        stored = chat.id
    # By estimate alone it would be the other way round.
    assert (estimate < 0.85 * WINDOW) == bool(passes)
    with Conversation.open(stored, **options) as chat:
        chat.add_user("Go on.")
        if passes:
            assert chat.status().tokens >= reported
        chat.messages()
        assert [each.trigger for each in chat.compactions()] == passes


class Looking(Tail):
    """Judges the messages themselves, before a request is made."""

    looked: ClassVar[list[int]] = []

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        del prompt_tokens
        return False

    def should_compress_preflight(self, messages: Wire) -> bool:
        self.looked.append(len(messages))
        return len(messages) > 30


def test_a_plug_in_is_asked_before_a_turns_first_request(tmp_path: Path) -> None:
    Looking.looked.clear()
    with Conversation.open(store=tmp_path / "store.db", engine=Looking()) as chat:
        chat.add(session(8)[:-1])
        chat.messages()
        assert Looking.looked == []
        chat.add_user("Go on.")
        before = len(chat.live.window.entries)
        chat.messages()
        assert [each.trigger for each in chat.compactions()] == ["preflight"]
        assert Looking.looked[0] > 30
        assert len(chat.messages()) < before


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


def test_a_recovery_is_no_reason_for_another_pass_in_the_turns_that_follow(
    tmp_path: Path,
) -> None:
    refused: list[int] = []

    def send(messages: list[dict[str, object]]) -> dict[str, object]:
        tokens = len(json.dumps(messages)) // 4
        if tokens > 8_000:
            refused.append(tokens)
            raise ValueError("This model's maximum context length is 8000 tokens.")
        return {
            "choices": [{"message": {"role": "assistant", "content": "Done."}}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 2},
        }

    with Conversation.open(store=tmp_path / "store.db", model="m", summarizer=None) as chat:
        turns = 0
        while not refused:
            turns += 1
            chat.add_user(f"Turn {turns}. " + "The component checks orders and writes. " * 20)
            chat.call(send)
        assert [each.trigger for each in chat.compactions()] == ["recovery"]
        for _ in range(8):
            turns += 1
            chat.add_user(f"Turn {turns}. " + "The component checks orders and writes. " * 20)
            chat.call(send)
        assert len(chat.compactions()) == 1
        assert len(refused) == 1


def test_a_learned_window_is_logged_once_and_is_that_of_every_conversation_since(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, model="m") as chat:
        chat.add(session(8))
        chat.recover("maximum context length is 8192 tokens")
    with Conversation.open(store=path, model="m") as older:
        assert older.session.context_length == 8_192
        older.recover("maximum context length is 8192 tokens")
    told = [each.message for each in caplog.records if "learned" in each.message]
    assert told == ["window of m learned: 8,192"]
    with Conversation.open(
        store=path, model="m", endpoint="http://other", context_length=50_000
    ) as other:
        other.add(session(8))
        other.recover("maximum context length is 16384 tokens")
    told = [each.message for each in caplog.records if "learned" in each.message]
    assert told[1:] == ["window of m at http://other learned: 16,384"]


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


def test_a_pin_over_its_budget_is_told_in_report_and_status(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    for words, lost in (("Port 8443 is taken.", False), ("The whole plan. " * 900, True)):
        talk(chat, range(2))
        chat.pin(chat.add_user(words))
        talk(chat, range(2, 12))
        report, status = chat.compress(), chat.status()
        told = [each for each in report.warnings if "could not stay word for word" in each]
        assert bool(told) == lost
        assert list(status.troubles) == told
        assert list(report.as_json()["warnings"]) == told  # type: ignore[call-overload]
