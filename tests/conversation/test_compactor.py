"""A window within its limits, whoever else writes, whatever fails and however often."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.compaction import Abandoned, CompactionReport, Folded, Pruned, Report
from holdfast.conversation import StoredConversation
from holdfast.conversation.compactor import LastRequest, flaws_of
from holdfast.conversation.dependencies import Switch
from holdfast.conversation.waiting import await_
from holdfast.errors import ConfigError, DecodeError, StoreError
from holdfast.ports import Amendment, Lease
from holdfast.session import Change, CompactionRecord, Draft, Head, Refreshed, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, call, user
from holdfast.wiring import Compressor
from holdfast.wiring.conversations import Conversation
from tests.conversation.talking import another, begun, parts_on, talk
from tests.promises.conversations import record

LONG = "some words of a long document " * 40


class Crowded(SqliteStore):
    """A store in which somebody else writes whenever we look for what is new."""

    busy = False

    def refresh(self, id_: str, known: Head | None) -> Refreshed:
        if self.busy:
            self.busy = False
            self.append(id_, [Draft(message=user("from another process"), at=1)])
        return super().refresh(id_, known)


class Full(SqliteStore):
    """A store whose disk is full when a window is to be changed, or a title to be set."""

    is_full = False

    def change(self, id_: str, change: Change) -> Head:
        if self.is_full:
            raise StoreError("there is no space left")
        return super().change(id_, change)

    def amend(self, id_: str, amendment: Amendment) -> Session:
        if self.is_full:
            raise StoreError("there is no space left")
        return super().amend(id_, amendment)


def session_in(store: SqliteStore) -> StoredConversation:
    session = store.create(Session(id="20260101_000000_abcdef", source="api", started=1))
    return StoredConversation(parts_on(store), session)


def contents(chat: StoredConversation) -> list[object]:
    return [message["content"] for message in chat.messages()]


def test_what_is_said_between_two_reads_is_shown_once(tmp_path: Path) -> None:
    store = Crowded(tmp_path / "store.db")
    chat = session_in(store)
    chat.add_user("one")
    chat.messages()
    StoredConversation(chat.live.deps.for_fork(), chat.session).add_user("two")
    store.busy = True
    chat.messages()
    assert contents(chat) == ["one", "two", "from another process"]
    chat.rewind(1)
    assert contents(chat) == ["one", "two"]
    store.close()


def test_what_another_process_says_before_a_branch_is_in_the_branch(tmp_path: Path) -> None:
    store = Crowded(tmp_path / "store.db")
    chat = session_in(store)
    chat.add_user("one")
    chat.messages()
    StoredConversation(chat.live.deps.for_fork(), chat.session).add_user("two")
    store.busy = True
    assert contents(chat.branch()) == ["one", "two", "from another process"]
    store.close()


def test_a_window_that_its_receiver_changes_is_not_the_next_one(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    chat.add_user([{"type": "text", "text": "look"}])
    sent = chat.messages()
    sent[0]["content"][0]["cache_control"] = {"type": "ephemeral"}  # type: ignore[index]
    sent[0]["role"] = "nobody"
    assert chat.messages() == [{"role": "user", "content": [{"type": "text", "text": "look"}]}]
    chat.store.close()


def test_usage_is_compared_with_the_request_that_it_is_about(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    talk(chat, range(10))
    chat.messages()
    sent = chat.status().tokens
    assert chat.compress().outcome == "folded"
    left = chat.status().tokens
    usage = {"prompt_tokens": sent, "completion_tokens": 1}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}], "usage": usage}
    chat.add_response(answer)
    assert left <= chat.status().tokens < left + 20
    chat.store.close()


def test_a_failure_after_the_append_does_not_make_the_caller_say_it_again(tmp_path: Path) -> None:
    store = Full(tmp_path / "store.db")
    chat = session_in(store)
    store.is_full = True
    chat.add_user("Set up the billing service")
    chat.add_assistant("Done.")
    assert len(chat.log) == 2
    assert chat.status().warning == "there is no space left"
    store.close()


def test_a_pass_that_could_not_be_stored_is_not_taken_for_one_that_was(tmp_path: Path) -> None:
    store = Full(tmp_path / "store.db")
    chat = session_in(store)
    for number in range(30):
        said = (user(f"{number} {LONG}"), assistant(f"{number} {LONG}"))
        store.append(chat.id, [Draft(message=message, at=1) for message in said])
    store.is_full = True
    with pytest.raises(StoreError, match="no space left"):
        chat.messages()
    store.is_full = False
    assert len(chat.messages()) < 60
    assert chat.status().tokens < chat.status().threshold
    store.close()


def test_a_listener_may_ask_the_conversation_while_somebody_talks(tmp_path: Path) -> None:
    seen: list[str] = []
    started, said = threading.Event(), threading.Event()

    def told(switch: Switch) -> None:
        started.set()
        said.wait(0.3)
        seen.append(f"{chat.title} {switch.reason}")

    chat = begun(tmp_path / "store.db", automatic=False, strategy="rotation")
    chat.live.deps = replace(chat.live.deps, listeners=(told,))
    chat.title = "Task"
    talk(chat, range(12))
    working = threading.Thread(target=chat.compress, daemon=True)
    working.start()
    assert started.wait(20)
    chat.add_user("meanwhile")
    said.set()
    working.join(20)
    assert not working.is_alive()
    assert seen == ["Task compression"]
    assert chat.messages()[-1]["content"] == "meanwhile"
    chat.store.close()


def test_others_who_compact_are_named_and_waited_for(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", lease_seconds=0.5)
    for number in range(30):
        said = (user(f"{number} {LONG}"), assistant(f"{number} {LONG}"))
        chat.store.append(chat.id, [Draft(message=message, at=1) for message in said])
    expires = chat.live.deps.clock.moment() + 200_000
    chat.store.acquire(Lease(chat.id, "1:main:other:aa", expires), 0)
    chat.messages()
    assert "1:main:other:aa" in chat.status().warning
    chat.store.release(Lease(chat.id, "1:main:other:aa", 0))
    chat.messages()
    assert chat.status().warning == ""
    assert chat.status().tokens < chat.status().threshold
    chat.store.close()


def test_others_who_compact_what_still_fits_are_nothing_to_warn_of(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", ahead_of_time=True)
    expires = chat.live.deps.clock.moment() + 200_000
    chat.store.acquire(Lease(chat.id, "1:main:other:aa", expires), 0)
    number = 0
    while chat.status().tokens < chat.status().threshold:
        talk(chat, [number])
        chat.wait()
        number += 1
    assert "another compaction" in chat.compress().reason
    assert (chat.compactions(), chat.status().troubles) == ((), ())
    chat.store.close()


def test_a_pass_that_others_overtook_is_nothing_to_warn_of_while_the_window_fits(
    tmp_path: Path,
) -> None:
    def rewinding(_: str) -> str:
        StoredConversation(chat.live.deps.for_fork(), chat.session).rewind(1)
        return ""

    chat = begun(tmp_path / "store.db", automatic=False)
    chat.live.deps = replace(
        chat.live.deps, engine=Compressor(context_length=6_000, summarizer=rewinding)
    )
    talk(chat, range(6))
    assert "changed by somebody else" in chat.compress().reason
    assert (chat.compactions(), chat.status().troubles) == ((), ())
    chat.store.close()


def test_a_wait_for_others_that_was_worth_it_leaves_nothing_to_warn_of(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", lease_seconds=5.0)
    for number in range(30):
        said = (user(f"{number} {LONG}"), assistant(f"{number} {LONG}"))
        chat.store.append(chat.id, [Draft(message=message, at=1) for message in said])
    expires = chat.live.deps.clock.moment() + 200_000
    chat.store.acquire(Lease(chat.id, "1:main:other:aa", expires), 0)
    other = another(chat)

    def compact() -> None:
        while not chat.status().troubles:
            time.sleep(0.01)
        other.store.release(Lease(chat.id, "1:main:other:aa", 0))
        other.compress()

    working = threading.Thread(target=compact, daemon=True)
    working.start()
    assert len(chat.messages()) < 60
    working.join(20)
    assert [each.trigger for each in chat.compactions()] == ["manual"]
    assert chat.status().warning == ""
    other.store.close()
    chat.store.close()


def test_another_process_that_rotates_moves_our_listeners_too(tmp_path: Path) -> None:
    told: list[Switch] = []
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.live.deps = replace(chat.live.deps, listeners=(told.append,))
    talk(chat, range(12))
    first = chat.id
    other = another(chat, automatic=False, strategy="rotation")
    assert other.compress().outcome == "folded"
    chat.add_user("still here")
    assert told == [Switch(first, other.id, "compression")]
    assert chat.id == other.id
    other.store.close()
    chat.store.close()


@pytest.mark.parametrize("content", [None, 5, [1], ["words"]])
def test_content_that_is_none_is_a_sentence(tmp_path: Path, content: object) -> None:
    chat = begun(tmp_path / "store.db")
    with pytest.raises(DecodeError, match="expected words or content parts"):
        chat.add_user(content)  # type: ignore[arg-type]
    assert not chat.log
    chat.store.close()


def test_a_dialect_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    with pytest.raises(ConfigError, match="'klingon'; allowed: openai, responses"):
        chat.body("klingon")
    with pytest.raises(ConfigError, match="'klingon'; allowed: openai, responses"):
        chat.add([], "klingon")
    chat.store.close()


def test_one_long_message_does_not_stop_compaction_for_good(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    chat.add_user(LONG * 18)
    for _ in range(4):
        chat.add_assistant("I read it.")
        chat.messages()
        chat.add_user("And?")
    for number in range(120):
        chat.add_user(f"question {number} " + "x y z " * 30)
        chat.add_assistant(f"answer {number} " + "u v w " * 30)
        chat.messages()
    assert chat.status().tokens <= 6_000
    chat.store.close()


def test_a_pin_survives_although_the_opening_ends_with_words_of_the_user(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.add_user("hello")
    chat.add_assistant("hi")
    chat.add_user("Let us begin.")
    talk(chat, range(2))
    chat.pin(chat.add_user("The port is 5433, never 5432."))
    for number in range(6):
        talk(chat, range(number * 8, number * 8 + 8))
        assert chat.compress().outcome == "folded"
        assert any(
            message.text.endswith("never 5432.")
            for message in chat.store.window(chat.id).transcript
        )
    chat.store.close()


def test_a_pin_survives_every_rewriting_of_its_message(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.set_system("Be careful.")
    chat.add_user("hello")
    chat.add_assistant("hi")
    kept = chat.add_user("The port is 5433, never 5432.")
    chat.pin(kept)
    for number in range(4):
        talk(chat, range(number * 8, number * 8 + 8))
        assert chat.compress().outcome == "folded"
        assert any("never 5432" in str(content) for content in contents(chat))
        assert [entry.message.pinned for entry in chat.store.window(chat.id).entries].count(
            True
        ) <= 1
    chat.unpin(kept)
    talk(chat, range(40, 48))
    chat.compress()
    talk(chat, range(48, 56))
    chat.compress()
    shown = chat.store.window(chat.id).transcript
    assert not any("never 5432" in message.text for message in shown if not message.summary)
    chat.store.close()


def test_a_call_too_large_for_the_window_is_made_to_fit(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    chat.add_user("Write the file")
    big = json.dumps({"path": "a.txt", "content": LONG * 40})
    chat.add_response(assistant("", call("c1", "write_file", big)))
    chat.add_tool_result("c1", "written")
    chat.add_assistant("Done.")
    chat.add_user("And now?")
    chat.messages()
    assert chat.status().tokens <= chat.live.deps.engine.policy.limit_tokens
    chat.store.close()


def test_a_message_too_large_for_the_window_is_said_to_be(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db")
    chat.add_user(LONG * 60)
    assert len(chat.messages()) == 1
    assert "smallest possible fit" in chat.status().warning
    chat.store.close()


def test_the_warning_on_the_way_to_the_threshold_goes_when_usage_falls(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.add_user("hello")
    for prompt, warned in ((4_900, True), (4_950, True), (100, False)):
        chat.messages()
        usage = {"prompt_tokens": prompt, "completion_tokens": 1}
        message = {"role": "assistant", "content": "Yes."}
        chat.add_response({"choices": [{"message": message}], "usage": usage})
        assert bool(chat.status().warning) is warned
    chat.store.close()


def test_what_is_said_while_a_summary_is_written_follows_it(tmp_path: Path) -> None:
    asked, answered = threading.Event(), threading.Event()

    def slow(_: str) -> str:
        asked.set()
        assert answered.wait(20)
        return ""

    chat = begun(tmp_path / "store.db", automatic=False)
    chat.live.deps = replace(
        chat.live.deps, engine=Compressor(context_length=6_000, summarizer=slow)
    )
    talk(chat, range(12))
    before = len(chat.log)
    working = threading.Thread(target=chat.compress, daemon=True)
    working.start()
    assert asked.wait(20)
    chat.add_user("typed meanwhile")
    chat.add_assistant("answered meanwhile")
    assert len(chat.log) == before + 2
    answered.set()
    working.join(20)
    assert contents(chat)[-2:] == ["typed meanwhile", "answered meanwhile"]
    assert len(chat.compactions()) == 1
    chat.store.close()


def test_a_refused_request_is_made_smaller_at_once(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.live.deps = replace(chat.live.deps, engine=Compressor(context_length=200_000))
    talk(chat, range(12))
    refused = chat.status().tokens
    report = chat.recover("input length exceeds maximum context length")
    assert report.tokens_after <= 0.9 * refused
    chat.store.close()


@pytest.mark.parametrize("place", ["listener", "before_folding", "summarizer"])
@pytest.mark.parametrize("kind", ["blocking", "awaiting", "background"])
def test_code_within_a_pass_may_call_the_conversation(
    tmp_path: Path, place: str, kind: str
) -> None:
    told: list[object] = []

    def ask_all(said: object) -> str:
        if not told:
            told.extend((chat.compact().reason, bool(chat.messages()), chat.wait(0.01)))
        return record(critical=("Nothing.",)) if isinstance(said, str) else ""

    places: dict[str, Any] = {
        "listener": {"listeners": (ask_all,)},
        "before_folding": {"before_folding": ask_all},
        "summarizer": {"summarizer": ask_all},
    }
    options: dict[str, Any] = {"summarizer": None, "strategy": "rotation", **places[place]}
    chat = Conversation.open(store=tmp_path / "store.db", context_length=20_000, **options)
    talk(chat, range(75))
    match kind:
        case "blocking":
            ended = threading.Thread(target=chat.compact, daemon=True)
        case "awaiting":
            ended = threading.Thread(
                target=lambda: asyncio.run(await_(chat.compactor.compact())), daemon=True
            )
        case _:
            chat.compactor.background.start(chat.compactor.compact)
            ended = threading.Thread(target=chat.wait, daemon=True)
    ended.start()
    ended.join(20)
    assert not ended.is_alive()
    assert "from within a compaction" in str(told[0])
    assert told[1] is True
    assert chat.compact().outcome != "abandoned"
    chat.close()


def test_a_summary_that_is_still_missing_is_told_until_one_is_written() -> None:
    def report(kind: type[Folded | Pruned]) -> CompactionReport:
        return CompactionReport(kind((), Report()))

    for is_unwritten in (True, False):
        given_up = Abandoned((), Report(), "check the key", is_unwritten=is_unwritten)
        last = LastRequest().after(CompactionReport(given_up), by_hand=False)
        assert last.trouble == ("not compacted: check the key",)
        for _ in range(2):
            last = last.after(report(Pruned), by_hand=False)
            assert bool(last.trouble) is is_unwritten
        last = last.after(report(Folded), by_hand=False)
        assert not last.trouble
        assert not last.is_unwritten


def test_a_pass_that_only_pruned_does_not_silence_what_is_said_of_the_record_it_stands_on() -> None:
    missing = "the key was refused; the deterministic record covers 5 messages"
    over = "the window is still over its limit"
    reports = [("folded", [missing, over]), ("pruned_only", [over]), ("pruned_only", [])]
    passes = [
        CompactionRecord(
            at=1, trigger="in_loop", after=at, report={"outcome": kind, "warnings": said}
        )
        for at, (kind, said) in enumerate(reports, 1)
    ]
    views = [SimpleNamespace(id=at, parent=at - 1 or None) for at in (1, 2, 3)]
    store: Any = SimpleNamespace(views=lambda _: views, compactions=lambda _: passes)
    assert flaws_of(store, "s", 1).warnings == (missing, over)
    assert flaws_of(store, "s", 2).warnings == (over, missing)
    assert flaws_of(store, "s", 3).warnings == (missing,)
