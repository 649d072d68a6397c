"""A search inside one conversation answers with passages, on every store and every surface."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

import holdfast
from holdfast.recall.shapes import written
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.tokens import Estimator

TALK = "We looked at the logs again and again and nothing stood out today. " * 20
ANSWER = "We chose port 8443 for the billing service because 8080 is taken by the proxy."


@pytest.fixture(params=["sqlite", "memory"])
def chat(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[holdfast.Conversation]:
    store = SqliteStore(tmp_path / "s.db") if request.param == "sqlite" else MemoryStore()
    with holdfast.Conversation.open(store=store, context_length=200_000) as opened:
        opened.add_user("Which service do we set up first?")
        opened.add_assistant("The one that sends invoices.")
        for number in range(12):
            opened.add_user(f"Go on with step {number}. {TALK}")
            decided = f"\n\n{ANSWER}\n\n{TALK}" if number == 4 else ""
            opened.add_assistant(f"Step {number} is done. {TALK}{decided}")
        yield opened


def inside(chat: holdfast.Conversation, query: str, **more: object) -> dict[str, object]:
    arguments = cast("dict[str, str]", {"query": query, "session_id": chat.id, **more})
    return holdfast.session_search(store=chat.store, **arguments)  # type: ignore[misc]


def passages(document: dict[str, object]) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", document["passages"])


def test_a_question_is_answered_with_the_passage_that_has_the_answer(
    chat: holdfast.Conversation,
) -> None:
    found = inside(chat, "Why was port 8443 chosen for billing?")
    first = passages(found)[0]
    (message, *_) = cast("list[dict[str, object]]", first["messages"])
    assert found["shape"] == "inside"
    assert ANSWER in cast("str", message["text"])
    assert len(cast("str", message["text"])) < 2 * len(TALK)
    assert first["place"] == "12 of 26"


def test_passages_fit_the_budget_and_the_rest_is_a_page_away(chat: holdfast.Conversation) -> None:
    found = inside(chat, "which step is done", budget=700)
    assert Estimator().count(written(found)) <= 700
    following = inside(chat, "which step is done", budget=700, offset=found["next_offset"])
    shown, more = (
        {message["id"] for each in passages(document) for message in each["messages"]}  # type: ignore[attr-defined]
        for document in (found, following)
    )
    assert shown
    assert more
    assert not shown & more
    assert Estimator().count(written(inside(chat, "step"))) <= 2_500


def test_messages_that_follow_each_other_are_one_passage(chat: holdfast.Conversation) -> None:
    chat.add_user("Shall the zebra logo stay?")
    chat.add_assistant("The zebra logo stays.")
    (only,) = passages(inside(chat, "zebra logo"))
    messages = cast("list[dict[str, object]]", only["messages"])
    assert [each["role"] for each in messages] == ["user", "assistant"]


def test_turns_that_were_folded_are_found_by_the_conversation_that_lost_them(
    chat: holdfast.Conversation,
) -> None:
    chat.compress()
    search = holdfast.SessionSearch(chat.store, chat.live.deps.clock, session_id=chat.id)
    asked = {"query": "port for billing", "session_id": "current"}
    text = search.call(asked)
    assert "8443" in text
    assert "no conversation is current" in holdfast.SessionSearch(
        chat.store, chat.live.deps.clock, session_id="elsewhere"
    ).call(asked)


def test_a_question_about_the_beginning_or_the_end_is_answered_from_there(
    chat: holdfast.Conversation,
) -> None:
    chat.add_user("Please rename the zebra module.")
    assert "Which service" in written(inside(chat, "What did the user ask at the very beginning?"))
    assert "zebra module" in written(inside(chat, "What is the user's last request?"))


def test_a_conversation_searches_itself_by_page_and_by_time(chat: holdfast.Conversation) -> None:
    first, *_ = chat.search("Why was port 8443 chosen for billing?")
    assert ANSWER in first.passage
    assert ">>>8443<<<" in first.snippet
    everything = chat.search("step done", sort="oldest", limit=40)
    positions = [each.entry.position for each in everything]
    assert positions == sorted(positions) != []
    pages = [*chat.search("step done", limit=5), *chat.search("step done", limit=5, offset=5)]
    assert pages == list(chat.search("step done", limit=10))
    newest = chat.search("step done", sort="newest", limit=40)
    assert [each.entry.id for each in newest] == [each.entry.id for each in everything][::-1]
