"""Markers stand where the provider wants them, and nothing else changes."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.caching import Marker, mark, unmarked
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.wire import DIALECTS, Body, SharedPrefix
from tests.conversation.talking import begun, talk

SHORT: dict[str, object] = {"type": "ephemeral"}
LONG: dict[str, object] = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, marker: dict[str, object] | None = None) -> dict[str, object]:
    part: dict[str, object] = {"type": "text", "text": words}
    return part if marker is None else {**part, "cache_control": marker}


def user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def assistant(content: object) -> dict[str, object]:
    return {"role": "assistant", "content": content}


def test_the_system_prompt_and_the_last_three_messages_are_marked() -> None:
    body = Body([user("one"), assistant("two"), user("three"), assistant("four")], "Be brief.")
    assert mark(body) == Body(
        [
            user("one"),
            assistant([text("two", SHORT)]),
            user([text("three", SHORT)]),
            assistant([text("four", SHORT)]),
        ],
        [text("Be brief.", SHORT)],
    )


def test_a_lifetime_of_an_hour_is_said_on_every_marker() -> None:
    marked = mark(Body([user("one")], "Be brief."), ttl="1h")
    assert marked == Body([user([text("one", LONG)])], [text("Be brief.", LONG)])


def test_a_list_is_marked_at_its_last_part() -> None:
    marked = mark(Body([user([text("one"), text("two")])]))
    assert marked.messages == [user([text("one"), text("two", SHORT)])]


def test_a_part_that_takes_no_marker_is_passed_over() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    marked = mark(Body([assistant([text("one"), thinking, text(" ")])]))
    assert marked.messages == [assistant([text("one", SHORT), thinking, text(" ")])]


def test_a_message_of_nothing_but_thinking_is_passed_over() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    messages = [user("a"), user("b"), user("c"), assistant([thinking])]
    marked = mark(Body(messages)).messages
    assert marked == [*(user([text(each, SHORT)]) for each in "abc"), messages[-1]]


def test_a_system_message_of_openai_is_the_system_prompt() -> None:
    later: dict[str, object] = {"role": "system", "content": "By the way."}
    body = Body([{"role": "developer", "content": "Be brief."}, user("one"), later])
    assert mark(body).messages == [
        {"role": "developer", "content": [text("Be brief.", SHORT)]},
        user([text("one", SHORT)]),
        later,
    ]


CALLS: list[dict[str, object]] = [
    user("zero"),
    user("one"),
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
    {"role": "tool", "tool_call_id": "a", "content": "12 passed"},
]


def test_natively_what_has_no_part_of_its_own_carries_the_marker_on_the_message() -> None:
    assert mark(Body(CALLS)).messages == [
        CALLS[0],
        user([text("one", SHORT)]),
        {**CALLS[2], "cache_control": SHORT},
        {**CALLS[3], "cache_control": SHORT},
    ]


def test_elsewhere_such_messages_are_passed_over_and_earlier_ones_marked() -> None:
    assert mark(Body(CALLS), native=False).messages == [
        user([text("zero", SHORT)]),
        user([text("one", SHORT)]),
        *CALLS[2:],
    ]


@pytest.mark.parametrize("content", ["", " ", None, []])
def test_empty_content_carries_it_on_the_message_natively_only(content: object) -> None:
    body = Body([user(content)])
    assert mark(body).messages == [{**user(content), "cache_control": SHORT}]
    assert mark(body, native=False).messages == body.messages


def test_without_words_there_is_no_system_prompt_to_mark() -> None:
    assert mark(Body([user("one")], "")) == Body([user([text("one", SHORT)])], "")
    assert mark(Body([user("one")], [text("")])).system == [text("")]


def test_markers_that_were_there_are_taken_away() -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": [text("12", LONG)]}
    messages = [user([result]), *(user([text(f"{at}", LONG)]) for at in range(5)), user("new")]
    once = mark(Body(messages, [text("Be brief.", LONG)]))
    assert str(once).count("cache_control") == 4
    assert str(once).count("'ttl'") == 0
    assert mark(once) == once


def test_what_conversations_add_to_the_prompt_is_a_part_of_its_own() -> None:
    goal = "The goal of this conversation, as its user set it:\nShip it."
    plain, noted = "Be brief.", f"Be brief.\n\n{SYSTEM_NOTE}"
    assert mark(Body([], noted)).system == [text(plain), text(f"\n\n{SYSTEM_NOTE}", SHORT)]
    assert mark(Body([], f"{noted}\n\n{goal}")).system == [
        text(plain),
        text(f"\n\n{SYSTEM_NOTE}"),
        text(f"\n\n{goal}", SHORT),
    ]


def test_a_real_conversation_writes_note_and_goal_as_they_are_looked_for(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.set_system("Be brief.")
    talk(chat, range(8))
    chat.compress()
    chat.goal = "Ship it."
    system = mark(chat.body("anthropic")).system
    assert isinstance(system, list)
    texts = [part["text"] for part in system]
    assert texts[0] == "Be brief."
    assert [each[:12] for each in texts[1:]] == ["\n\n[Earlier t", "\n\nThe goal o"]
    chat.store.close()


CONTENTS = st.one_of(
    st.none(),
    st.text(max_size=5),
    st.lists(
        st.sampled_from([text("a"), text(""), text("b", LONG), {"type": "image"}]), max_size=3
    ),
)
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user", "assistant", "tool"]),
        CONTENTS,
    ),
    max_size=8,
)


@given(MESSAGES, CONTENTS, st.booleans())
def test_marking_changes_no_input_and_sets_at_most_four_markers(
    messages: Any, system: Any, native: bool
) -> None:
    body = Body(messages, system)
    before = copy.deepcopy(body)
    marked = mark(body, native=native)
    assert body == before
    assert str(marked).count("cache_control") <= 4
    assert mark(marked, native=native) == marked
    assert str(unmarked(marked)).count("cache_control") == 0


@given(MESSAGES)
def test_a_body_without_markers_is_shared(messages: Any) -> None:
    bare = unmarked(Body(messages))
    assert all(one is other for one, other in zip(bare.messages, unmarked(bare).messages))  # noqa: B905 - equal lengths


@given(MESSAGES, st.booleans())
def test_a_body_made_for_one_request_is_marked_as_it_is(messages: Any, native: bool) -> None:
    expected = mark(Body(list(messages)), native=native)
    body = Body(list(messages), prefix=SharedPrefix())
    marked = Marker().mark(body, native=native)
    assert marked == expected
    assert marked.messages is body.messages


@given(MESSAGES)
def test_a_body_that_somebody_else_holds_is_not_changed(messages: Any) -> None:
    body = Body(messages)
    before = copy.deepcopy(body)
    assert Marker().mark(body) == mark(body)
    assert body == before


@given(MESSAGES, MESSAGES)
def test_a_talk_that_goes_on_is_marked_like_one_that_is_new(first: Any, more: Any) -> None:
    prefix, marker = SharedPrefix(), Marker()
    marker.mark(Body(list(first), prefix=prefix))
    assert marker.mark(Body([*first, *more], prefix=prefix)) == mark(Body([*first, *more]))


def test_a_marked_body_is_still_one_that_anthropic_accepts(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.set_system("Be brief.")
    talk(chat, range(3))
    chat.add_user("Go on.")
    assert DIALECTS["anthropic"].validate(mark(chat.body("anthropic"))) == ()
    chat.store.close()
