"""A message is the same whole, however its stream was cut into pieces."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.ports import Spoken, Thought
from holdfast.providers.anthropic_model import MessageStream
from tests.providers.streams import message_events, text_block

PIECES = st.lists(st.text(max_size=12), max_size=8)
JSON = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=4)


def content_of(events: list[dict[str, Any]]) -> Any:
    whole = MessageStream()
    for event in events:
        list(whole.take(event))
    assert whole.is_whole
    return whole.answer()["content"]


@given(PIECES)
def test_words_join_to_what_was_said(texts: list[str]) -> None:
    events = message_events(text_block(*texts))
    assert content_of(events) == [{"type": "text", "text": "".join(texts)}]
    whole = MessageStream()
    heard = [delta for event in events for delta in whole.take(event)]
    assert heard == [Spoken(text) for text in texts if text]


@given(JSON, st.lists(st.integers(0, 60), max_size=5))
def test_arguments_join_wherever_they_are_cut(arguments: dict[str, Any], cuts: list[int]) -> None:
    written = json.dumps(arguments)
    places = [0, *sorted(min(cut, len(written)) for cut in cuts), len(written)]
    deltas: list[dict[str, object]] = [
        {"type": "input_json_delta", "partial_json": written[start:end]}
        for start, end in pairwise(places)
    ]
    block: dict[str, object] = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    assert content_of(message_events((block, deltas))) == [{**block, "input": arguments}]


def test_thoughts_and_citations_are_kept() -> None:
    thinking: dict[str, object] = {"type": "thinking", "thinking": "", "signature": ""}
    thought: dict[str, object] = {"type": "thinking_delta", "thinking": "hm"}
    words, deltas = text_block("As said.")
    deltas.append({"type": "citations_delta", "citation": {"at": 1}})
    events = message_events((thinking, [thought]), (words, deltas))
    assert content_of(events) == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "As said.", "citations": [{"at": 1}]},
    ]
    whole = MessageStream()
    assert Thought("hm") in [delta for event in events for delta in whole.take(event)]


def test_without_its_end_it_is_not_whole() -> None:
    whole = MessageStream()
    for event in message_events(text_block("half"))[:-2]:
        list(whole.take(event))
    assert not whole.is_whole
