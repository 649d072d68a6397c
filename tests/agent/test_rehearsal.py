"""The demonstration plants its facts, fills its window and still knows them at the end."""

from pathlib import Path

from holdfast.agent.rehearsal import FACTS, PROMPT, REHEARSAL, WINDOW
from holdfast.wiring import Conversation

ANSWER = "It may be the clock or the network, so somebody who lives close by should have a look. "


def test_every_fact_is_said_early_and_the_last_turn_is_a_task() -> None:
    early = " ".join(REHEARSAL[:3])
    assert [fact for fact in FACTS if fact not in early] == []
    assert "newest task" in REHEARSAL[-1]


def test_its_words_fill_the_window_and_the_facts_stay(tmp_path: Path) -> None:
    with Conversation.open(
        store=tmp_path / "r.db", model="smollm2", context_length=WINDOW, active=False
    ) as chat:
        chat.system(PROMPT)
        for said in REHEARSAL:
            chat.user(said)
            chat.window()
            chat.assistant(ANSWER * 3)
        assert len(chat.compactions) >= 1
        window = "\n".join(str(message["content"]) for message in chat.window())
    assert [fact for fact in FACTS if fact not in window] == []
