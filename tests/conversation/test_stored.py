"""What a live session promises: goals, pins, forks, rewinds, models, and the way back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.conversation import StoredConversation
from holdfast.errors import ConfigError, SessionEnded, UnknownSession
from holdfast.session import EndReason, Fork
from tests.conversation.talking import another, begun, talk
from tests.promises.conversations import session, turn


def contents(chat: StoredConversation) -> list[object]:
    return [message["content"] for message in chat.messages()]


def ends_with(chat: StoredConversation, words: str) -> bool:
    """Say whether a message ends so; a summary may stand in front of it."""
    return any(str(content).endswith(words) for content in contents(chat))


def test_the_goal_is_shown_and_survives_everything(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", strategy="rotation", automatic=False)
    chat.set_system("Be careful.")
    chat.goal = "ship the invoices"
    talk(chat, range(8))
    first = chat.id
    assert chat.compress().outcome == "folded"
    assert chat.id != first
    branch = chat.branch()
    fresh = branch.new()
    for each in (branch, fresh):
        assert each.goal == "ship the invoices"
        assert str(contents(each)[0]).endswith("ship the invoices")
    assert fresh.new(keep_goal=False).goal == ""
    chat.store.close()


def test_a_pin_survives_a_compaction_word_for_word(chat: StoredConversation) -> None:
    talk(chat, range(4))
    kept = chat.add_user("The port is 4242 and stays so.")
    chat.add_assistant("Noted.")
    talk(chat, range(4, 12))
    chat.pin(kept)
    assert chat.compress().outcome == "folded"
    assert ends_with(chat, "The port is 4242 and stays so.")
    chat.undo()
    chat.unpin(kept)
    assert chat.compress().outcome == "folded"
    assert not ends_with(chat, "The port is 4242 and stays so.")


def test_a_pin_of_another_process_is_kept_too(
    chat: StoredConversation, beside: Callable[[], StoredConversation]
) -> None:
    kept = chat.add_user("The port is 4242 and stays so.")
    talk(chat, range(10))
    chat.messages()
    beside().pin(kept)
    assert chat.compress().outcome == "folded"
    assert ends_with(chat, "The port is 4242 and stays so.")


def test_a_branch_goes_its_own_way(chat: StoredConversation) -> None:
    chat.add_user("one")
    chat.add_assistant("two")
    branch = chat.branch()
    branch.add_user("three")
    assert contents(branch) == ["one", "two", "three"]
    assert contents(chat) == ["one", "two"]
    assert chat.session.end_reason is EndReason.BRANCHED
    with pytest.raises(SessionEnded):
        chat.add_user("no")


def test_a_branch_may_leave_its_parent_alive(chat: StoredConversation) -> None:
    at = chat.add_user("one")
    chat.add_assistant("two")
    branch = chat.branch(at, keep_parent=True, title="Aside")
    assert (branch.title, contents(branch)) == ("Aside", ["one"])
    chat.add_user("three")
    assert contents(chat) == ["one", "two", "three"]


def test_a_branch_at_a_folded_message_begins_as_the_conversation_did(
    chat: StoredConversation,
) -> None:
    chat.set_system("Be careful.")
    talk(chat, range(2))
    child = chat.branch()
    at = child.add_user("Where it turns.")
    talk(child, range(2, 10))
    assert child.compress().outcome == "folded"
    assert "Where it turns." not in contents(child)
    again = child.branch(at)
    assert contents(again)[0] == "Be careful."
    assert contents(again)[-1] == "Where it turns."
    assert len(again.messages()) == 1 + 2 * len(turn(0)) + 1


def test_a_branch_at_what_was_never_said_is_refused(chat: StoredConversation) -> None:
    chat.add_user("one")
    with pytest.raises(UnknownSession, match="message 999"):
        chat.branch(999)


def test_a_sub_agent_gets_its_task_and_the_parent_lives_on(chat: StoredConversation) -> None:
    chat.add_user("one")
    child = chat.delegate("Count the files.")
    assert contents(child) == ["Count the files."]
    assert (child.session.source, child.session.fork) == ("subagent", Fork.DELEGATION)
    chat.add_user("two")
    assert contents(chat) == ["one", "two"]


def test_a_review_sees_a_copy(chat: StoredConversation) -> None:
    chat.add_user("one")
    review = chat.review()
    review.add_assistant("Looks good.")
    assert contents(review) == ["one", "Looks good."]
    assert contents(chat) == ["one"]


def test_a_review_runs_beside_the_conversation_and_memory_hears_nothing_of_it(
    tmp_path: Path,
) -> None:
    heard: list[object] = []
    chat = begun(tmp_path / "store.db", strategy="rotation", automatic=False)
    talk(chat, range(8))
    listening = replace(
        chat.live.deps,
        listeners=(heard.append,),
        before_folding=lambda window: str(heard.append(window) or ""),
    )
    chat.live.deps = listening
    before = chat.messages()
    review = chat.review(title="What is worth keeping?")

    def look() -> None:
        review.add_user("What is worth keeping?")
        assert review.messages()[: len(before)] == before
        review.add_assistant("The port.")
        assert review.compact().outcome == "folded"
        review.rewind()
        review.end()

    with ThreadPoolExecutor(1) as beside:
        ended = beside.submit(look)
        chat.add_user("And on")
        ended.result()
    assert heard == []
    assert contents(chat)[-1] == "And on"
    assert [each.fork for each in chat.lineage.sessions()][1] is Fork.REVIEW
    assert chat.compact().outcome == "folded"
    assert len(heard) == 2
    chat.store.close()


def test_a_rewind_takes_turns_out_and_undo_brings_them_back(chat: StoredConversation) -> None:
    for text in ("one", "two", "three"):
        chat.add_user(text)
        chat.add_assistant(text.upper())
    removed = chat.rewind(2)
    assert [message.text for message in removed] == ["two", "TWO", "three", "THREE"]
    assert contents(chat) == ["one", "ONE"]
    assert chat.undo()
    assert len(contents(chat)) == 6
    assert chat.rewind(0) == ()
    assert len(chat.rewind(99)) == 6
    assert chat.rewind() == ()


def test_a_system_prompt_is_replaced_and_the_same_again_changes_nothing(
    chat: StoredConversation,
) -> None:
    chat.set_system("Be careful.")
    chat.add_user("one")
    chat.set_system("Be quick.")
    generation = chat.session.generation
    chat.set_system("Be quick.")
    assert contents(chat) == ["Be quick.", "one"]
    assert chat.session.generation == generation
    assert not chat.undo()


def test_the_prompt_is_known_again_after_a_compaction(chat: StoredConversation) -> None:
    chat.set_system("Be careful.")
    talk(chat, range(10))
    assert chat.compress().outcome == "folded"
    before = chat.messages()
    chat.set_system("Be careful.")
    assert chat.messages() == before


def test_a_title_comes_from_the_first_exchange_unless_it_is_given(chat: StoredConversation) -> None:
    chat.add_user("Rename the class Ledger to Journal")
    chat.add_assistant("Done.")
    assert chat.title == "Rename the class Ledger to Journal"
    chat.title = "Ledgers"
    chat.add_user("And the tests?")
    chat.add_assistant("Too.")
    assert chat.title == "Ledgers"
    assert chat.branch().title == "Ledgers #2"


def test_status_tells_the_figures(chat: StoredConversation) -> None:
    talk(chat, range(8))
    before = chat.status()
    assert before.messages == before.stored == 8 * len(turn(0))
    assert not before.undone
    chat.compress()
    after = chat.status()
    assert after.messages < before.messages
    assert after.tokens < before.tokens
    assert after.compactions == 1
    chat.undo()
    undone = chat.status()
    assert undone.undone
    assert "(undone)" in str(undone)
    assert undone.as_json()["messages"] == before.messages


def test_a_switch_to_a_smaller_window_compacts_first(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", window=100_000)
    for message in session(30)[:-1]:
        chat.add_response(message)
    report = chat.switch_model("small", 6_000)
    assert report is not None
    assert report.outcome == "folded"
    assert chat.status().tokens <= chat.status().threshold
    assert (chat.session.model, chat.status().context_length) == ("small", 6_000)
    assert [each.trigger for each in chat.compactions()] == ["model_switch"]
    assert chat.branch().status().context_length == 6_000
    chat.store.close()


def test_a_switch_that_cannot_fit_leaves_the_old_model(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", window=100_000)
    chat.add_user("word " * 8_000)
    with pytest.raises(ConfigError, match="does not fit small"):
        chat.switch_model("small", 2_000)
    assert chat.status().context_length == 100_000
    chat.store.close()


def test_a_diff_that_does_not_exist_is_a_sentence(chat: StoredConversation) -> None:
    with pytest.raises(UnknownSession, match="was never compacted, so there is nothing to compare"):
        chat.diff()


def test_an_ended_session_takes_no_more(chat: StoredConversation) -> None:
    chat.add_user("one")
    chat.end()
    assert chat.session.end_reason is EndReason.CLOSED
    with pytest.raises(SessionEnded):
        chat.add_user("two")


def test_rotations_of_another_process_are_followed(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    talk(chat, range(8))
    other = another(chat, strategy="rotation", automatic=False)
    for number in range(2):
        assert other.compress().outcome == "folded"
        talk(other, range(10 + number * 8, 18 + number * 8))
    chat.add_user("still here")
    assert chat.id == other.id
    assert contents(chat)[-1] == "still here"
    for each in (chat, other):
        each.store.close()


def test_messages_of_one_role_are_joined_where_a_server_demands_it(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", merge_roles=True)
    chat.set_system("Be careful.")
    chat.add_user("one")
    chat.add_user("two")
    chat.add_assistant("three")
    assert contents(chat) == ["Be careful.", "one\n\ntwo", "three"]
    assert len(chat.messages(merge_roles=False)) == 4
    assert len(chat.body("anthropic").messages) == 2
    assert len(another(chat).messages()) == 4
    chat.store.close()
