"""Two requests after each other: the first block that differs, and why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.caching import (
    BlockReader,
    Changed,
    Extended,
    First,
    RequestBlocks,
    Sent,
    Why,
    chain_of,
    compare,
    mark,
)
from holdfast.conversation import StoredConversation
from holdfast.wire import Body
from tests.caching.requests import BASH, READ, sent, talk
from tests.conversation.talking import begun
from tests.conversation.talking import talk as converse


def chain(request: Sent) -> RequestBlocks:
    return chain_of(request, BlockReader())


def link(older: Sent, newer: Sent, **because: Any) -> Extended | Changed:
    return compare(chain(older), chain(newer), **because)


LONGER = sent(talk(9, 9, 9))


def test_a_request_that_goes_on_extends_the_one_before() -> None:
    assert link(sent(talk(9)), LONGER) == Extended(2)
    assert link(LONGER, LONGER) == Extended(0)


CASES: dict[str, tuple[Sent, Changed]] = {
    "model": (
        sent(talk(9, 9, 9), model="claude-opus-4-1"),
        Changed("the model claude-opus-4-1", Why.MODEL),
    ),
    "address": (
        sent(talk(9, 9, 9), endpoint="https://proxy.example"),
        Changed("the model claude-sonnet-4-5@https://proxy.example", Why.MODEL),
    ),
    "a tool more": (
        sent(talk(9, 9, 9), tools=(BASH, READ)),
        Changed("tool bash", Why.TOOLS),
    ),
    "prompt": (
        sent(talk(9, 9, 9, system="Be long.")),
        Changed("the system prompt", Why.PROMPT),
    ),
    "edited": (sent(talk(9, 8, 9)), Changed("message 2 (assistant)", Why.EDITED)),
    "shorter": (sent(talk(9, 9)), Changed("message 3 (user)", Why.UNDO)),
    "lifetime": (sent(talk(9, 9, 9), ttl="1h"), Changed("the markers", Why.TTL)),
}


@pytest.mark.parametrize(("newer", "expected"), CASES.values(), ids=CASES)
def test_the_first_block_that_differs_is_named_with_the_reason(
    newer: Sent, expected: Changed
) -> None:
    assert link(LONGER, newer) == expected


def test_a_tool_that_changed_or_went_is_named() -> None:
    both, one = sent(talk(9), tools=(BASH, READ)), sent(talk(9), tools=(BASH,))
    assert link(both, one) == Changed("tool read", Why.TOOLS)
    assert link(both, sent(talk(9), tools=(READ, BASH))) == Changed("tool bash", Why.TOOLS)


def test_the_caller_may_know_better() -> None:
    rewound = sent(talk(9, 9, 8))
    assert link(LONGER, rewound, because=Why.UNDO) == Changed("message 3 (user)", Why.UNDO)


@pytest.fixture(params=["openai", "anthropic"])
def next_request(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[Callable[[StoredConversation], object]], Extended | Changed]:
    """Return a way to do something to a real conversation and see how its prefix changed."""

    def changed(act: Callable[[StoredConversation], object]) -> Extended | Changed:
        chat = begun(tmp_path / "store.db", automatic=False)
        chat.set_system("Be brief.")
        converse(chat, range(8))
        chat.add_user("And now?")
        if act is undo:
            chat.compress()
        before = mark(chat.body(request.param))
        act(chat)
        after = mark(chat.body(request.param))
        chat.store.close()
        one, other = (Sent(model="m", dialect=request.param, body=each) for each in (before, after))
        return link(one, other)

    return changed


def undo(chat: StoredConversation) -> None:
    assert chat.undo()


def compress(chat: StoredConversation) -> None:
    assert chat.compress().outcome == "folded"


def set_goal(chat: StoredConversation) -> None:
    chat.goal = "Ship it."


def set_prompt(chat: StoredConversation) -> None:
    chat.set_system("Be long.")


def rewind(chat: StoredConversation) -> None:
    chat.rewind()


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (compress, Why.COMPACTION),
        (undo, Why.UNDO),
        (rewind, Why.UNDO),
        (set_goal, Why.GOAL),
        (set_prompt, Why.PROMPT),
    ],
)
def test_what_happens_to_a_real_conversation_is_told_apart(
    next_request: Callable[[Callable[[StoredConversation], object]], Extended | Changed],
    act: Callable[[StoredConversation], object],
    why: Why,
) -> None:
    found = next_request(act)
    assert isinstance(found, Changed)
    assert found.why == why


def test_another_goal_after_a_first_one_is_a_goal_too() -> None:
    line = "\n\nThe goal of this conversation, as its user set it:\n"
    older, newer = (sent(talk(9, system=f"Be brief.{line}{goal}")) for goal in ("A", "B"))
    assert link(older, newer) == Changed("the system prompt", Why.GOAL)
    unmarked = [
        Sent(model="m", dialect="anthropic", body=Body([], f"Be brief.{line}{goal}"))
        for goal in ("A", "B")
    ]
    assert link(*unmarked) == Changed("the system prompt", Why.GOAL)


def test_each_link_is_a_sentence() -> None:
    assert [str(each) for each in (First(), Extended(2), Changed("tool bash", Why.TOOLS))] == [
        "This is the first request.",
        "The prefix is as it was, with 2 more blocks.",
        "The prefix changed at tool bash: other tools.",
    ]


def test_a_chain_knows_its_markers_and_where_the_talk_begins() -> None:
    made = chain(sent(talk(9, 9, 9, 9), tools=(BASH,)))
    assert (made.marked, made.ttl, made.fixed) == ((1, 3, 4, 5), "5m", 2)
    assert chain(sent(Body([], "Be brief."))).fixed == 1


def test_other_tools_are_other_tools_whatever_happened_to_the_talk() -> None:
    newer = sent(talk(9, 8), tools=(BASH,))
    assert link(LONGER, newer, because=Why.COMPACTION) == Changed("tool bash", Why.TOOLS)
