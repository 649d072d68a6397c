"""What is recorded of an answer repeats no memory, and says whether it was cut."""

import pytest

from holdfast.agent.asking import is_cut, scrubbed

BLOCK = "<memory-context>secret</memory-context>"


def test_memory_is_taken_out_of_words_in_both_formats() -> None:
    openai = {"choices": [{"message": {"content": f"a{BLOCK}b"}}], "usage": {"n": 1}}
    assert scrubbed(openai) == {"choices": [{"message": {"content": "ab"}}], "usage": {"n": 1}}
    anthropic = {"type": "message", "content": [{"type": "text", "text": f"a{BLOCK}b"}]}
    assert scrubbed(anthropic) == {"type": "message", "content": [{"type": "text", "text": "ab"}]}


def test_arguments_and_seals_stay_as_they_are() -> None:
    call = {"function": {"name": "write", "arguments": f'{{"text": "{BLOCK}"}}'}}
    answer = {"choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    assert scrubbed(answer) == answer


def test_an_answer_without_memory_is_the_same_object() -> None:
    answer = {"choices": [{"message": {"content": "plain"}}]}
    assert scrubbed(answer) is answer


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        ({"choices": [{"finish_reason": "length"}]}, True),
        ({"choices": [{"finish_reason": "stop"}]}, False),
        ({"stop_reason": "max_tokens"}, True),
        ({"stop_reason": "end_turn"}, False),
        ({"choices": []}, False),
        ({}, False),
    ],
)
def test_an_answer_says_whether_it_was_cut(answer: dict[str, object], cut: bool) -> None:
    assert is_cut(answer) is cut
