"""A completion is the same whole, however its stream was cut into pieces."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ports import Spoken
from holdfast.providers.openai_model import ChatStream
from tests.providers.streams import chunk, usage_chunk

PIECES = st.lists(st.text(max_size=12), max_size=8)


def message_of(*chunks: dict[str, Any]) -> Any:
    whole = ChatStream()
    for each in chunks:
        list(whole.take(each))
    choices: Any = whole.answer()["choices"]
    return choices[0]["message"]


@given(PIECES)
def test_words_join_to_what_was_said(texts: list[str]) -> None:
    whole = ChatStream()
    heard = [delta for text in texts for delta in whole.take(chunk(content=text))]
    assert "".join(delta.text for delta in heard if isinstance(delta, Spoken)) == "".join(texts)
    assert message_of(*(chunk(content=text) for text in texts)) == {
        "role": "assistant",
        "content": "".join(texts),
    }


@given(st.lists(PIECES, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_calls_join_in_whatever_order_their_pieces_come(
    calls: list[list[str]], random: Any
) -> None:
    waiting = [list(pieces) for pieces in calls]
    chunks = [
        chunk(tool_calls=[{"index": index, "id": f"c{index}", "function": {"name": "look"}}])
        for index in range(len(calls))
    ]
    while any(waiting):
        index = random.choice([at for at, pieces in enumerate(waiting) if pieces])
        function = {"arguments": waiting[index].pop(0)}
        chunks.append(chunk(tool_calls=[{"index": index, "function": function}]))
    assert message_of(*chunks)["tool_calls"] == [
        {
            "id": f"c{index}",
            "type": "function",
            "function": {"name": "look", "arguments": "".join(pieces) or "{}"},
        }
        for index, pieces in enumerate(calls)
    ]


def test_a_server_that_leaves_out_indices_and_ids_is_understood() -> None:
    first = {"id": "a", "function": {"name": "look", "arguments": '{"at":'}}
    rest = {"function": {"arguments": " 1}"}}
    second = {"id": "b", "function": {"name": "list", "arguments": ""}}
    found = message_of(
        chunk(tool_calls=[first]), chunk(tool_calls=[rest]), chunk(tool_calls=[second])
    )["tool_calls"]
    assert [(each["id"], each["function"]["arguments"]) for each in found] == [
        ("a", '{"at": 1}'),
        ("b", "{}"),
    ]


def test_a_call_without_an_id_gets_one_of_its_own() -> None:
    pieces = [{"index": index, "function": {"name": "look"}} for index in range(2)]
    first, second = message_of(chunk(tool_calls=pieces))["tool_calls"]
    assert first["id"].startswith("call_")
    assert first["id"] != second["id"]


def test_what_a_provider_adds_to_a_call_rides_along() -> None:
    piece = {"index": 0, "id": "a", "function": {"name": "look"}, "extra_content": {"seal": "x"}}
    (found,) = message_of(chunk(tool_calls=[piece]))["tool_calls"]
    assert found["extra_content"] == {"seal": "x"}


def test_content_in_parts_a_refusal_and_reasoning_are_read() -> None:
    parts = [{"type": "text", "text": "Yes"}, {"type": "other"}]
    assert message_of(chunk(reasoning="hm"), chunk(content=parts), chunk(refusal="But no.")) == {
        "role": "assistant",
        "content": "Yes",
        "reasoning": "hm",
        "refusal": "But no.",
    }


@pytest.mark.parametrize(
    ("last", "is_whole"),
    [(chunk("stop"), True), (usage_chunk(), True), (chunk(content="x"), False), ({}, False)],
)
def test_only_an_end_makes_it_whole(last: dict[str, Any], is_whole: bool) -> None:
    whole = ChatStream()
    for each in (chunk(content="a"), last):
        list(whole.take(each))
    assert whole.is_whole is is_whole


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["choices", "delta", "content", "tool_calls", "index", "function"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_shape_of_a_chunk_breaks_it(value: object) -> None:
    whole = ChatStream()
    fields = json.loads(json.dumps(value)) if isinstance(value, dict) else {"choices": value}
    list(whole.take(fields))
    assert whole.answer()["object"] == "chat.completion"
