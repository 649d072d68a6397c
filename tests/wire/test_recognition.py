"""The dialect of messages is told by words that only one of them knows."""

import pytest

from holdfast.wire.recognition import Verdict, dialect_of, is_message


@pytest.mark.parametrize(
    ("messages", "dialect"),
    [
        ([], "openai"),
        ([{"role": "user", "content": "hi"}], "openai"),
        ([{"role": "system", "content": "be good"}], "openai"),
        ([{"role": "assistant", "tool_calls": []}], "openai"),
        ([{"role": "tool", "content": "x", "tool_call_id": "1"}], "openai"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "openai"),
        ([{"role": "assistant", "content": [{"type": "tool_use"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], "anthropic"),
        (
            [{"type": "message", "role": "assistant", "content": [{"type": "tool_use"}]}],
            "anthropic",
        ),
        ([{"type": "message", "role": "user", "content": "hi"}], "responses"),
        ([{"role": "user", "content": [{"type": "input_text"}]}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "function_call"}], "responses"),
        ([{"role": "model", "parts": [{"text": "hi"}]}], "gemini"),
        ([{"from": "human", "value": "hi"}], "sharegpt"),
        ([{"role": "user", "content": [{"type": "text", "value": "hi"}]}], "sharegpt"),
    ],
)
def test_one_telling_word_is_enough(messages: list[object], dialect: str) -> None:
    assert dialect_of(messages).dialect == dialect


def test_a_prompt_beside_the_messages_is_anthropic() -> None:
    assert dialect_of([{"role": "user", "content": "hi"}], has_system=True) == Verdict(
        "anthropic", "a system prompt stands beside the messages", 0.8
    )


@pytest.mark.parametrize(
    ("messages", "confidence"),
    [
        ([], 0.2),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], 0.5),
        ([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], 0.5),
        ([{"role": "system", "content": "be good"}], 0.8),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], 0.8),
    ],
)
def test_without_a_telling_word_a_dialect_is_a_guess(
    messages: list[object], confidence: float
) -> None:
    assert dialect_of(messages).confidence == confidence


def test_most_evidence_wins() -> None:
    stray = {"role": "assistant", "content": [{"type": "thinking"}]}
    calls = [{"role": "tool", "content": "x", "tool_call_id": "1"}] * 2
    assert dialect_of([stray, *calls]).dialect == "openai"


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": None},
        {"role": "model", "parts": []},
        {"role": "assistant", "tool_calls": []},
        {"from": "gpt", "value": ""},
        {"type": "reasoning"},
    ],
)
def test_a_message_has_a_speaker_and_something_said(value: object) -> None:
    assert is_message(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "user",
        [],
        {},
        {"role": "user"},
        {"from": "gpt"},
        {"type": "session"},
        {"role": "admin", "content": "everything"},
        {"from": "Lisbon", "to": "Porto", "value": "313"},
        {"from": "gpt", "value": 3},
    ],
)
def test_other_values_are_no_messages(value: object) -> None:
    assert not is_message(value)
