"""The prompt and the goal stand above the log, and are no part of what undo takes back."""

from pathlib import Path

import pytest

from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.compaction.truncation import LEFT_OUT
from holdfast.conversation.window import bare_prompt, with_prompt
from holdfast.testing.builders import system, user
from tests.conversation.talking import another, begun, talk


def test_a_prompt_with_the_note_of_a_compaction_is_the_same_prompt() -> None:
    noted = (system(f"Be careful.\n\n{SYSTEM_NOTE}"), user("Hello"))
    assert bare_prompt(noted) == "Be careful."
    assert with_prompt(noted, "Be careful.") is noted
    (changed, _) = with_prompt(noted, "Be quick.")
    assert changed.text == f"Be quick.\n\n{SYSTEM_NOTE}"


def test_a_prompt_takes_the_place_of_another_or_comes_first() -> None:
    assert with_prompt((system("Old"), user("Hello")), "New") == (system("New"), user("Hello"))
    assert with_prompt((user("Hello"),), "New") == (system("New"), user("Hello"))
    assert with_prompt((), "New") == (system("New"),)
    assert with_prompt((user("Hello"),), "") == (user("Hello"),)


def test_another_prompt_is_shown_and_survives_a_compaction_and_its_undo(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.set_system("Old prompt.")
    talk(chat, range(12))
    chat.set_system("New prompt.")
    assert chat.messages()[0]["content"] == "New prompt."
    before = chat.messages()
    assert chat.compress().outcome == "folded"
    assert str(chat.messages()[0]["content"]).startswith("New prompt.\n\n[")
    chat.set_system("Newest prompt.")
    assert chat.undo()
    assert chat.messages() == [{"role": "system", "content": "Newest prompt."}, *before[1:]]
    assert chat.status().undone
    chat.set_system("Newest prompt.")
    assert len(chat.store.views(chat.id)) == 1
    other = another(chat)
    assert other.messages()[0]["content"] == "Newest prompt."
    other.store.close()
    chat.store.close()


@pytest.mark.parametrize("notes", [(LEFT_OUT,), (SYSTEM_NOTE, LEFT_OUT), (LEFT_OUT, SYSTEM_NOTE)])
def test_notes_of_every_engine_stay_with_another_prompt(notes: tuple[str, ...]) -> None:
    text = "\n\n".join(("Be careful.", *notes))
    assert bare_prompt((system(text),)) == "Be careful."
    (changed,) = with_prompt((system(text),), "Be bold.")
    assert bare_prompt((changed,)) == "Be bold."
    assert all(note in changed.text for note in notes)
