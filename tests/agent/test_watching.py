"""Compactions and warnings are told once, whoever made them."""

from pathlib import Path

from holdfast.agent.events import Folded, Warned
from holdfast.agent.watching import Watch
from holdfast.wiring import Conversation


def fill(chat: Conversation, turns: int = 12) -> None:
    for number in range(turns):
        chat.user(f"Question {number}: {'what about the tide stations? ' * 8}")
        chat.assistant(f"Answer {number}: {'each once a minute. ' * 8}")


def passes(watch: Watch) -> list[str]:
    return [event.record.trigger for event in watch.news() if isinstance(event, Folded)]


def test_what_happened_before_is_no_news(chat: Conversation) -> None:
    fill(chat)
    chat.compress()
    assert passes(Watch(chat)) == []


def test_each_compaction_is_told_once(chat: Conversation) -> None:
    watch = Watch(chat)
    fill(chat)
    chat.compress()
    fill(chat)
    chat.compress()
    assert passes(watch) == ["manual", "manual"]
    assert passes(watch) == []


def test_a_rotation_is_told_under_its_new_id(tmp_path: Path) -> None:
    with Conversation.open(
        store=tmp_path / "r.db", context_length=8_000, strategy="rotation", active=False
    ) as chat:
        watch = Watch(chat)
        for _ in range(2):
            fill(chat)
            before = chat.id
            chat.compress()
            assert chat.id != before
            assert passes(watch) == ["manual"]
        assert passes(watch) == []


def test_a_warning_is_told_when_it_comes_and_not_again(chat: Conversation) -> None:
    watch = Watch(chat)
    chat.user("Hello")
    answer = {"role": "assistant", "content": "Hi"}
    usage = {"prompt_tokens": 6_500, "completion_tokens": 2}
    chat.window()
    chat.record({"choices": [{"message": answer}], "usage": usage})
    first = [event for event in watch.news() if isinstance(event, Warned)]
    assert len(first) == 1
    assert "to compaction" in first[0].text
    assert list(watch.news()) == []
