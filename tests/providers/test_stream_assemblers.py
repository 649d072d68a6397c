"""Streams of the Responses API and of Gemini, put together again."""

import pytest

from holdfast.session import Usage
from holdfast.wire.reply import read_reply
from holdfast.wiring.calling import StreamRecorder
from tests.agents.answers import Answer, Call, anthropic, chat, gemini, responses

CALLS = Answer(7, "Let me look.", Call("read", {"path": "a.py"}))
DELTA = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0}


def recorder(*chunks: object) -> StreamRecorder:
    found = StreamRecorder()
    for chunk in chunks:
        found.take(chunk)
    return found


def gemini_piece(*parts: dict[str, object], **more: object) -> dict[str, object]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def test_a_response_whose_last_event_leaves_the_items_out_has_those_that_came_before() -> None:
    *events, last = responses(CALLS)
    bare = {**last, "response": {"id": "resp_7", "output": []}}
    whole = recorder(*events, last).answer
    found = recorder(*events, bare).answer
    assert isinstance(whole, dict)
    assert isinstance(found, dict)
    assert found["output"] == whole["output"]


def test_a_response_at_its_limit_of_tokens_is_whole() -> None:
    *events, last = responses(CALLS)
    found = recorder(*events, {**last, "type": "response.incomplete"})
    assert found.is_whole


def test_of_a_response_that_was_cut_off_the_finished_items_and_all_words_are_left() -> None:
    created, _, done, *_ = responses(CALLS)
    found = recorder(created, done, {**DELTA, "output_index": 1, "delta": "And th"})
    assert not found.is_whole
    partial = found.partial
    assert partial is not None
    assert read_reply(partial).messages[-1].text.endswith("And th")
    assert "Let me look." in read_reply(partial).messages[0].text


def test_pieces_of_gemini_become_one_answer_with_words_of_one_kind_joined() -> None:
    found = recorder(
        gemini_piece({"text": "Hm", "thought": True}),
        gemini_piece({"text": "Let "}),
        gemini_piece({"text": "me look."}),
        {
            **gemini_piece(
                {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "c2VhbA=="},
                finishReason="STOP",
            ),
            "usageMetadata": {"promptTokenCount": 90, "candidatesTokenCount": 9},
        },
    )
    assert found.is_whole
    assert found.answer == {
        "usageMetadata": {"promptTokenCount": 90, "candidatesTokenCount": 9},
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm", "thought": True},
                        {"text": "Let me look."},
                        {
                            "functionCall": {"name": "read", "args": {}},
                            "thoughtSignature": "c2VhbA==",
                        },
                    ],
                },
            }
        ],
    }


@pytest.mark.parametrize(
    "events", [anthropic(CALLS), chat(CALLS), responses(CALLS), [gemini(CALLS)]]
)
def test_a_stream_of_every_provider_is_read_with_its_calls_and_its_usage(
    events: list[object],
) -> None:
    found = recorder(*events)
    assert found.is_whole
    answer = found.answer
    assert isinstance(answer, dict)
    reply = read_reply(answer)
    assert [call.name for message in reply.messages for call in message.calls] == ["read"]
    assert reply.usage == Usage(calls=1, input_tokens=100, output_tokens=10)


def test_a_call_that_was_cut_off_is_no_part_of_what_is_left() -> None:
    events = anthropic(CALLS)
    begun = next(at for at, each in enumerate(events) if "tool_use" in str(each))
    cut = recorder(*events[: begun + 2]).partial
    assert cut is not None
    assert read_reply(cut).messages[0].calls == ()
    assert recorder(*events[: begun + 3]).partial != cut

    piece = {"index": 0, "id": "c1", "function": {"name": "read", "arguments": '{"pa'}}
    spoken = {"choices": [{"delta": {"content": "Let me", "tool_calls": [piece]}}]}
    cut = recorder(spoken).partial
    assert cut is not None
    assert read_reply(cut).messages[0].calls == ()
    assert read_reply(cut).messages[0].text == "Let me"


def test_nothing_is_left_of_an_answer_that_said_nothing() -> None:
    assert recorder(anthropic(CALLS)[0]).partial is None
    assert recorder({"choices": [{"delta": {"role": "assistant"}}]}).partial is None
    assert recorder(responses(CALLS)[0]).partial is None
    assert recorder(gemini_piece()).partial is None
