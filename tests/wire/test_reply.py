"""Answers of providers: whose they are, what was said, what it cost."""

import pytest

from holdfast.errors import DecodeError
from holdfast.session import Usage
from holdfast.transcript import Role
from holdfast.wire.reply import read_reply


def test_an_answer_of_the_responses_api() -> None:
    reply = read_reply(
        {
            "object": "response",
            "model": "gpt-5",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Yes."}],
                }
            ],
            "usage": {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 3,
            },
        }
    )
    assert [message.text for message in reply.messages] == ["Yes."]
    assert (reply.model, reply.usage) == ("gpt-5", Usage(1, 40, 3, 60))
    assert reply.usage.prompt_tokens == 100


def test_an_answer_of_gemini() -> None:
    reply = read_reply(
        {
            "candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}],
            "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 2},
            "modelVersion": "gemini-3",
        }
    )
    assert [message.text for message in reply.messages] == ["Yes."]
    assert (reply.model, reply.usage) == ("gemini-3", Usage(1, 50, 2))


def test_an_answer_of_anthropic_and_a_bare_message_of_its_kind() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    whole = {"type": "message", "role": "assistant", "content": [call], "usage": {}}
    for answer in (whole, {"role": "assistant", "content": [call]}):
        (message,) = read_reply(answer).messages
        assert (message.role, [each.id for each in message.calls]) == (Role.ASSISTANT, ["t1"])


@pytest.mark.parametrize(("answer", "found"), [({}, "nothing"), ({"error": 1, "a": 2}, "a, error")])
def test_what_is_no_answer_is_named(answer: dict[str, object], found: str) -> None:
    with pytest.raises(DecodeError, match=f"it has: {found}"):
        read_reply(answer)
