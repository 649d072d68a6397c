"""Answers read beside their relay, however they are cut into pieces."""

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.gateway.answers import AnswerReader, stream_error
from holdfast.gateway.scrubbing import StreamScrubber
from holdfast.wire.reply import read_reply
from holdfast.wiring.calling import StreamRecorder
from tests.agents.answers import Answer, Call, Event
from tests.gateway.scripted import PATHS, events, streamed

SAID = Answer(3, 'Port "4242"\n\nof <é>.', Call("read", {"path": "a\\b.py"}))


def read(dialect: str, pieces: list[bytes], limit: int = 1 << 20) -> tuple[object, bool]:
    reader = AnswerReader(dialect, "", limit)
    for piece in pieces:
        reader.feed(piece)
    return reader.finish()


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@given(cuts=st.lists(st.integers(0, 10_000), max_size=12))
def test_where_an_answer_is_cut_into_pieces_does_not_matter(
    dialect: str, line_end: bytes, cuts: list[int]
) -> None:
    data = b"".join(streamed(dialect, SAID)).replace(b"\n", line_end)
    recorder = StreamRecorder()
    for each in streamed(dialect, SAID):
        text = each.partition(b"data: ")[2].strip()
        if text != b"[DONE]":
            recorder.take(json.loads(text))
    assert read(dialect, split(data, cuts)) == (recorder.answer, False)


def chat_delta(text: str) -> dict[str, object]:
    return {"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}


def block_delta(text: str) -> dict[str, object]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def response_delta(text: str) -> dict[str, object]:
    return {"type": "response.output_text.delta", "output_index": 0, "delta": text}


@pytest.mark.parametrize(
    ("dialect", "delta"),
    [("openai", chat_delta), ("anthropic", block_delta), ("responses", response_delta)],
)
def test_thousands_of_pieces_of_text_are_one_text(
    dialect: str, delta: Callable[[str], Event]
) -> None:
    pieces = events([delta(f"{number} ") for number in range(5_000)])
    answer, is_partial = read(dialect, pieces)
    assert is_partial
    assert isinstance(answer, dict)
    words = "".join(f"{number} " for number in range(5_000))
    assert read_reply(answer).messages[0].text == words


def test_text_thoughts_and_arguments_that_alternate_stay_apart() -> None:
    said = [
        {"type": "message_start", "message": {"role": "assistant"}},
        *({"type": "content_block_start", "index": at, "content_block": block} for at, block in (
            (0, {"type": "thinking", "thinking": ""}), (1, {"type": "text", "text": ""}),
            (2, {"type": "tool_use", "id": "t", "name": "read", "input": {}}),
        )),
        *({"type": "content_block_delta", "index": at, "delta": delta} for at, delta in (
            (0, {"type": "thinking_delta", "thinking": "Hm"}),
            (1, {"type": "text_delta", "text": "Let "}),
            (0, {"type": "thinking_delta", "thinking": "m."}),
            (0, {"type": "signature_delta", "signature": "c2Vh"}),
            (2, {"type": "input_json_delta", "partial_json": '{"a":'}),
            (1, {"type": "text_delta", "text": "me."}),
            (2, {"type": "input_json_delta", "partial_json": "1}"}),
        )),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]  # fmt: skip
    answer, is_partial = read("anthropic", events(said))
    assert not is_partial
    assert isinstance(answer, dict)
    assert answer["content"] == [
        {"type": "thinking", "thinking": "Hmm.", "signature": "c2Vh"},
        {"type": "text", "text": "Let me."},
        {"type": "tool_use", "id": "t", "name": "read", "input": {"a": 1}},
    ]


@pytest.mark.parametrize("word", ["[DONE]", "message_stop", "response.completed"])
@pytest.mark.parametrize(
    ("dialect", "delta"),
    [("openai", chat_delta), ("anthropic", block_delta), ("responses", response_delta)],
)
def test_an_answer_that_speaks_of_its_end_goes_on(
    dialect: str, delta: Callable[[str], Event], word: str
) -> None:
    reader = AnswerReader(dialect, "", 1 << 20)
    said = events([delta(word), delta(" and more")])
    for each in said:
        reader.feed(each)
        assert not reader.has_ended()
    answer, _ = reader.finish()
    assert isinstance(answer, dict)
    assert read_reply(answer).messages[0].text == f"{word} and more"


@pytest.mark.parametrize("gap", [b"\n\n", b"\r\n\r\n"])
def test_what_stands_before_the_end_of_a_stream_is_told_from_it(gap: bytes) -> None:
    reader = AnswerReader("openai", "", 1 << 20)
    *said, end = [each.replace(b"\n\n", gap) for each in streamed("openai", SAID)]
    for each in said:
        assert reader.feed(each) == len(each)
        assert not reader.has_ended()
    assert reader.feed(b": wait" + gap + end) == len(b": wait" + gap)
    assert reader.has_ended()


def test_an_answer_without_end_is_read_up_to_its_limit() -> None:
    pieces = events([chat_delta("word ") for _ in range(1_000)])
    answer, is_partial = read("openai", pieces, limit=20_000)
    assert is_partial
    assert isinstance(answer, dict)
    assert 0 < len(read_reply(answer).messages[0].text) < 5_000


def test_an_error_at_the_beginning_of_a_stream_is_found_and_one_that_is_spoken_of_is_not() -> None:
    failed = {"type": "response.failed", "response": {"error": {"message": "too long"}}}
    assert "too long" in stream_error(b"".join(events([failed])))
    assert "full" in stream_error(b'data: {"error":{"message":"full"}}\n\n')
    assert stream_error(b"".join(events([chat_delta("an error: prompt is too long")]))) == ""


NAMES = st.sampled_from(
    "type index delta text choices content candidates parts message output item response usage "
    "finish_reason finishReason tool_calls function arguments partial_json content_block".split()
)
KINDS = st.sampled_from(
    "content_block_delta content_block_start content_block_stop message_delta text_delta "
    "input_json_delta response.output_text.delta response.output_item.done response.completed "
    "response.output_text.done".split()
)
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | KINDS
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("dialect", PATHS)
@given(said=st.lists(st.dictionaries(NAMES, ANYTHING, max_size=5), max_size=4), data=st.binary())
def test_whatever_an_upstream_sends_breaks_nothing(
    dialect: str, said: list[dict[str, object]], data: bytes
) -> None:
    pieces = [f"data: {json.dumps(each)}\n\n".encode() for each in said]
    scrubber = StreamScrubber(dialect)
    shown = [*map(scrubber.push, pieces), scrubber.push(data), scrubber.finish()]
    read(dialect, [*shown, *pieces, data])
