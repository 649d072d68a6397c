"""The dialect of messages is told by words that only one of them knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.testing.strategies import Material, transcripts
from holdfast.transcript import Media, Thinking, ToolCall, ToolResult, Transcript
from holdfast.wire import DIALECTS, Body
from holdfast.wire.recognition import Verdict, dialect_of, is_message, recognized_dialect, signs_in

PLAIN = frozenset(["openai", "anthropic"])
"""Dialects in which words alone look the same."""


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
        "anthropic", "there is a system prompt beside the messages", 0.8
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


def test_what_is_sure_wins_over_what_is_likely() -> None:
    stray = {"role": "assistant", "content": [{"type": "thinking"}]}
    calls = [{"role": "tool", "content": "x", "tool_call_id": "1"}] * 2
    assert dialect_of([stray, *calls]).dialect == "openai"


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
PROMPT = {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    ("messages", "dialect"),
    [
        # Claude Code's first request, with a system message among the others.
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "hi", "cache_control": {}}],
                },
                PROMPT,
            ],
            "anthropic",
        ),
        ([PROMPT, {"role": "user", "content": [{"type": "text", "cache_control": {}}]}], "openai"),
        ([PROMPT, USE], "anthropic"),
        # An image of Anthropic's kind in a list that is otherwise OpenAI's.
        ([PROMPT, {"role": "user", "content": [IMAGE]}], "openai"),
        ([{"role": "user", "content": [IMAGE]}, CALLS], "openai"),
        ([{"role": "user", "content": [IMAGE]}], "anthropic"),
        ([{"role": "user", "content": [IMAGE, {"type": "image_url"}]}], "openai"),
        # Mistral's thinking and MCP's images have the same names.
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": []}]}], "openai"),
        ([{"role": "user", "content": [{"type": "image", "data": "AAAA"}]}], "openai"),
        ([{"role": "developer", "content": "hi"}], "openai"),
        ([{"role": "developer", "content": "hi"}, {"type": "reasoning"}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "made_up_later"}], "responses"),
        # What a program shows beside what it sends.
        ([{"role": "user", "content": "hi", "parts": [{"type": "text", "text": "hi"}]}], "openai"),
        (
            [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]}],
            "anthropic",
        ),
        ([{"role": "tool", "content": [{"type": "text", "value": "x"}]}], "sharegpt"),
    ],
)
def test_likely_signs_decide_where_no_sure_one_does(messages: list[object], dialect: str) -> None:
    assert recognized_dialect(messages) == dialect


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (
            [{"role": "user", "content": "hi"}, CALLS, USE],
            "mixed dialects: messages[2]: it has a part of the type tool_use, as Anthropic writes "
            "it, and messages[1] has a list of `tool_calls`, as OpenAI chat writes it; write them "
            "in one dialect, or name the one they are to be read in with format=",
        ),
        (
            [{"role": "user", "content": "hi"}, {"role": "model", "parts": [{"text": "ho"}]}],
            "messages[1]: it has a message with `parts`, as Gemini writes it, and messages[0] has "
            "a message with `content`",
        ),
        ([{**CALLS, **USE}], "messages[0]: it has a part of the type tool_use"),
        (
            [
                {"type": "function_call", "call_id": "c"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            ],
            "messages[1]: it has a `text` part, as OpenAI chat or Anthropic writes it",
        ),
        (
            [
                {"role": "user", "content": [IMAGE]},
                {"role": "user", "content": [{"type": "input_image"}]},
            ],
            "messages[1]: it has a part of the type input_image, as OpenAI Responses writes it",
        ),
    ],
)
def test_what_is_mixed_or_ambiguous_names_the_message(messages: list[object], said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        recognized_dialect(messages)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(source=st.data())
def test_what_a_dialect_writes_is_recognized_and_read_the_same(
    name: str, source: st.DataObject
) -> None:
    transcript = source.draw(transcripts(Material(dialect=name, turns=2, steps=2)))
    body = DIALECTS[name].encode(transcript)
    found = recognized_dialect(body.messages)
    assert found == name or (found == "openai" and name in PLAIN and not _is_telling(transcript))
    messages = Body(body.messages)
    assert DIALECTS[found].decode(messages) == DIALECTS[name].decode(messages)


def _is_telling(transcript: Transcript) -> bool:
    """Say whether a transcript holds anything but words."""
    telling = Media, Thinking, ToolCall, ToolResult
    return any(isinstance(part, telling) for message in transcript for part in message.parts)


@given(
    pair=st.permutations(["openai", "anthropic", "responses", "gemini"]).map(lambda each: each[:2]),
    source=st.data(),
)
def test_two_dialects_in_one_list_are_never_taken_for_one(
    pair: list[str], source: st.DataObject
) -> None:
    messages: list[object] = []
    for name in pair:
        made = transcripts(Material(dialect=name, turns=1, steps=1)).filter(_has_calls)
        messages += DIALECTS[name].encode(source.draw(made)).messages
    with pytest.raises(DecodeError, match=r"messages\[\d+\]: it has"):
        recognized_dialect(messages)


def _has_calls(transcript: Transcript) -> bool:
    return any(message.calls for message in transcript)


@given(transcripts(Material(dialect="anthropic", turns=2, steps=2)), st.integers(0, 20))
def test_a_growing_list_gives_the_signs_of_the_whole(transcript: Transcript, at: int) -> None:
    messages = DIALECTS["anthropic"].encode(transcript).messages
    grown = {**signs_in(messages[at:], at), **signs_in(messages[:at])}
    assert grown == signs_in(messages)


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
