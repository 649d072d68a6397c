"""A real model in a small window: sixty turns and many compactions later the facts are there."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.agent import Agent, Habits
from holdfast.agent.events import Done, Event, WindowCompacted
from holdfast.conversation import StoredConversation
from holdfast.errors import SummarizerUnavailable
from holdfast.ports import Summarizer
from holdfast.summary import Ask
from holdfast.wiring import Conversation
from holdfast.wiring.models import summarizer_by
from tests.promises.harbor_talk import NAME, PATH, PORT, PROMPT, RULE, TASK, TURNS
from tests.providers.local import local_model

WINDOW = 2_048
REAL_SUMMARIES = 1
ANSWER, RECORD = 8, 96


class Brief:
    """The real model as summarizer for its first ask; afterwards it is away.

    It takes its time over a record, and what comes of one is seen after the first.
    """

    def __init__(self, behind: Summarizer) -> None:
        self.name, self.window = behind.name, behind.window
        self.answers: list[str] = []
        self._behind = behind

    def write(self, ask: Ask) -> str:
        if len(self.answers) >= REAL_SUMMARIES:
            raise SummarizerUnavailable("asked often enough")
        self.answers.append(self._behind.write(replace(ask, max_tokens=RECORD)))
        return self.answers[-1]

    async def awrite(self, ask: Ask) -> str:
        return self.write(ask)


@pytest.fixture(params=[1_200, 1_500, 1_800, 1_900, WINDOW])
def chat(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Conversation]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    with Conversation.open(
        store=tmp_path / "chat.db", model="smollm2", context_length=request.param, active=False
    ) as opened:
        opened.set_system(PROMPT)
        yield opened


def shown(chat: StoredConversation) -> tuple[object, ...]:
    return tuple(entry.message for entry in chat.store.window(chat.id).entries)


def words(chat: Conversation) -> str:
    return "\n".join(str(message["content"]) for message in chat.messages())


def check_facts(chat: Conversation) -> None:
    window = words(chat)
    assert [fact for fact in (NAME, PORT, PATH, RULE) if fact not in window] == []
    (newest,) = [message for message in chat.messages() if TASK in str(message["content"])][-1:]
    assert newest["role"] == "user"
    assert str(newest["content"]).rstrip().endswith(TURNS[-1])


def check_undo(chat: Conversation) -> None:
    """Take the newest compaction back and forth, and one that is made for it."""
    latest = shown(chat)
    assert chat.undo()
    assert shown(chat) != latest
    assert chat.redo()
    assert shown(chat) == latest
    if chat.compress().outcome == "folded":
        assert chat.undo()
    assert shown(chat) == latest


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_sixty_turns_with_a_real_model_keep_every_fact_through_five_compactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_model(WINDOW) as model:
        monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
        writer = Brief(summarizer_by(model))
        with Conversation.open(
            store=tmp_path / "chat.db",
            model=model.name,
            endpoint=model.endpoint,
            context_length=WINDOW,
            summarizer=writer,
            active=False,
        ) as chat:
            chat.set_system(PROMPT)
            agent = Agent(chat, model, habits=Habits(max_tokens=ANSWER))
            events: list[Event] = [event for said in TURNS for event in agent.turn(said)]
            check_facts(chat)
            check_undo(chat)
    kinds = {type(event).__name__ for event in events}
    assert kinds <= {"TextStreamed", "WindowCompacted", "Warned", "Done"}
    done = [event for event in events if isinstance(event, Done)]
    assert len(done) == len(TURNS)
    assert max(each.usage.prompt_tokens + each.usage.output_tokens for each in done) <= WINDOW
    assert sum(isinstance(event, WindowCompacted) for event in events) >= 5
    assert any(answer.strip() for answer in writer.answers)


def test_sixty_turns_without_a_model_keep_the_same_facts_in_smaller_windows_too(
    chat: Conversation,
) -> None:
    for said in TURNS:
        chat.add_user(said)
        chat.messages()
        chat.add_assistant("It could be the clock, the network or a station that is silent.")
    assert len(chat.compactions()) >= 5
    check_facts(chat)
    check_undo(chat)
