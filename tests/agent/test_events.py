"""Compactions and warnings are told once, whoever made them."""

from pathlib import Path

from holdfast.agent.events import Warned, Watch, WindowCompacted
from holdfast.conversation.compactor import warnings_of
from holdfast.wiring import Conversation
from tests.conversation.moody import DOWN, MoodySession
from tests.conversation.talking import talk


def fill(chat: Conversation, turns: int = 12) -> None:
    for number in range(turns):
        chat.add_user(f"Question {number}: {'what about the tide stations? ' * 8}")
        chat.add_assistant(f"Answer {number}: {'each once a minute. ' * 8}")


def passes(watch: Watch) -> list[str]:
    return [event.record.trigger for event in watch.news() if isinstance(event, WindowCompacted)]


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
    chat.add_user("Hello")
    answer = {"role": "assistant", "content": "Hi"}
    usage = {"prompt_tokens": 6_500, "completion_tokens": 2}
    chat.messages()
    chat.add_response({"choices": [{"message": answer}], "usage": usage})
    first = [event for event in watch.news() if isinstance(event, Warned)]
    # A request of a word and 6,500 tokens has nearly all of them beside its messages.
    tools, pressure = (each.text for each in first)
    assert "take 6,494 of the 7,000 tokens" in tools
    assert "to compaction" in pressure
    assert list(watch.news()) == []


def test_a_pass_without_its_model_is_told_once_and_again_only_with_the_next(
    tmp_path: Path,
) -> None:
    moody = MoodySession(tmp_path / "store.db", automatic=False)
    chat, watch = moody.chat, Watch(moody.chat)
    told: list[list[str]] = []
    for start in (0, 20):
        talk(chat, range(start, start + 12))
        chat.compress()
        told += [[each.text for each in watch.news() if isinstance(each, Warned)] for _ in "ab"]
    first, second = (list(warnings_of(each)) for each in chat.compactions())
    assert told == [first, [], second, []]
    assert [said.startswith(DOWN) for said in (*first, *second)] == [True, True]
    moody.recover()
    talk(chat, range(40, 52))
    chat.compress()
    assert [type(each) for each in watch.news()] == [WindowCompacted]
    chat.store.close()


def test_the_way_to_the_threshold_is_told_beside_an_older_trouble(tmp_path: Path) -> None:
    moody = MoodySession(tmp_path / "store.db", automatic=False)
    chat, watch = moody.chat, Watch(moody.chat)
    talk(chat, range(12))
    chat.compress()
    list(watch.news())
    chat.messages()
    usage = {"prompt_tokens": 5_000, "completion_tokens": 2}
    chat.add_response(
        {"choices": [{"message": {"role": "assistant", "content": "Hi"}}], "usage": usage}
    )
    (event,) = watch.news()
    assert isinstance(event, Warned)
    assert event.text.startswith("Context is 98% to compaction")
    assert chat.status().warning == f"{chat.status().troubles[0]}. {event.text}"
    chat.store.close()
