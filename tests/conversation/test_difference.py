"""What a compaction did: every entry is accounted for, whatever clocks say."""

from holdfast.conversation import StoredConversation
from holdfast.testing import FixedClock
from tests.conversation.talking import talk


def test_folded_replaced_and_kept_are_all_there_was(chat: StoredConversation) -> None:
    chat.set_system("Be careful.")
    talk(chat, range(10))
    before = [entry.id for entry in chat.log]
    chat.compress()
    diff = chat.diff()
    replaced = [old.id for old, _ in diff.replaced]
    kept = [entry.id for entry in diff.kept]
    folded = [entry.id for entry in diff.folded]
    assert sorted([*folded, *replaced, *kept]) == before
    assert folded
    assert any(entry.message.summary for entry in diff.added)
    assert {each.text for each in diff.retained}.isdisjoint(each.text for each in diff.stored)


def test_a_clock_that_jumps_back_hides_nothing(chat: StoredConversation) -> None:
    talk(chat, range(10))
    clock = chat.live.deps.clock
    assert isinstance(clock, FixedClock)
    clock.advance(-500)
    chat.compress()
    diff = chat.diff()
    count = len(diff.folded) + len(diff.replaced) + len(diff.kept)
    assert count == len(chat.log)


def test_what_was_said_afterwards_is_left_out(chat: StoredConversation) -> None:
    talk(chat, range(10))
    chat.compress()
    before = chat.diff()
    chat.add_user("and now")
    assert chat.diff() == before
