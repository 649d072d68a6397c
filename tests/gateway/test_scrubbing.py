"""Recalled memory does not reach the client a second time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.gateway.scrubbing import StreamScrubber, scrubbed_answer
from tests.agents.answers import Answer, Call
from tests.gateway.scripted import (
    PATHS,
    Recorded,
    Unrecorded,
    answer,
    events,
    gateway,
    question,
    stream,
    streamed,
    upstream,
)
from tests.gateway.test_answers import block_delta, chat_delta, read, response_delta, split

SECRET = "<memory-context>The user likes blue.</memory-context>"
SAID = Answer(3, f"Port {SECRET}4242 < 5000.", Call("write", {"text": SECRET}))
CLEAN = Answer(3, "Port 4242 < 5000.", SAID.call)


@pytest.mark.parametrize("dialect", PATHS)
@given(cuts=st.lists(st.integers(0, 10_000), max_size=8))
def test_memory_is_taken_out_of_words_and_of_nothing_else(dialect: str, cuts: list[int]) -> None:
    scrubber = StreamScrubber(dialect)
    pieces = split(b"".join(streamed(dialect, SAID)), cuts)
    shown = b"".join([*map(scrubber.push, pieces), scrubber.finish()])
    assert read(dialect, [shown]) == read(dialect, streamed(dialect, CLEAN))


@pytest.mark.parametrize("dialect", PATHS)
def test_a_stream_without_memory_passes_byte_for_byte(dialect: str) -> None:
    scrubber = StreamScrubber(dialect)
    plain = b"".join(streamed(dialect, Answer(1, "Port 4242.")))
    assert scrubber.push(plain) + scrubber.finish() == plain


def test_a_tag_in_pieces_is_found_and_what_was_held_back_comes_before_the_end() -> None:
    ends = {
        "anthropic": {"type": "content_block_stop", "index": 0},
        "responses": {
            "type": "response.output_text.done", "output_index": 0, "text": "a<memo",
        },
        "openai": {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    }  # fmt: skip
    deltas = {"anthropic": block_delta, "responses": response_delta, "openai": chat_delta}
    for dialect, delta in deltas.items():
        for words, found in (
            (["a<mem", "ory-context>b</mem", "ory-context>c"], "ac"),
            (["a", "<memo"], "a<memo"),
        ):
            scrubber = StreamScrubber(dialect)
            said = events([*map(delta, words), ends[dialect]])
            shown = b"".join(map(scrubber.push, said)).decode()
            texts = [
                json.loads(line[6:]) for line in shown.splitlines() if line.startswith("data: ")
            ]
            spoken = [
                each.get("delta", {}).get("text", "") if dialect == "anthropic"
                else each.get("delta", "") if dialect == "responses"
                else each["choices"][0]["delta"].get("content", "")
                for each in texts
            ]  # fmt: skip
            assert "".join(spoken) == found


@pytest.mark.parametrize(
    ("dialect", "whole"),
    [
        ("openai", lambda text: {"choices": [{"message": {"role": "assistant", "content": text}}]}),
        (
            "anthropic",
            lambda text: {"type": "message", "content": [{"type": "text", "text": text}]},
        ),
        ("responses", lambda text: {"output": [{"content": [{"text": text}]}]}),
        ("gemini", lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}}]}),
    ],
)
def test_an_answer_that_comes_at_once_is_scrubbed_in_its_words(dialect: str, whole: object) -> None:
    assert callable(whole)
    clean = json.dumps(whole("Port 4242."), indent=2).encode()
    assert scrubbed_answer(dialect, clean) == clean
    dirty = json.dumps(whole(f"Port {SECRET}4242.")).encode()
    assert json.loads(scrubbed_answer(dialect, dirty)) == whole("Port 4242.")
    assert scrubbed_answer(dialect, b"garbage") == b"garbage"


class Recalling(Unrecorded):
    recalled = True


def test_only_where_memory_was_put_in_is_it_taken_out() -> None:
    dirty = b"".join(streamed("openai", SAID))
    with upstream(stream(dirty)) as up:
        with gateway(up, Recorded().turns) as here:
            assert here.post("openai").content == dirty
        with gateway(up, Recalling()) as here:
            assert "likes blue.</memory-context>4242" not in here.post("openai").text
    body = json.dumps({"choices": [{"message": {"content": f"Port {SECRET}4242."}}]}).encode()
    with upstream(answer(body)) as up, gateway(up, Recalling()) as here:
        found = here.post("openai", question("openai", stream=False))
        assert found.json() == {"choices": [{"message": {"content": "Port 4242."}}]}
