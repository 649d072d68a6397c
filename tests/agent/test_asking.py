"""What is recorded of an answer repeats no memory, and says whether it was cut."""

import pytest

from holdfast.agent import Agent
from holdfast.agent.events import ThinkingStreamed
from holdfast.agent.turn import is_cut, scrubbed
from holdfast.ports import model as port
from holdfast.wiring import Conversation
from tests.agent.scripted import ScriptedModel, completion

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


def test_a_block_that_runs_over_two_parts_is_taken_out_of_both() -> None:
    first = {"type": "text", "text": "see <memory-con"}
    second = {"type": "text", "text": "text>the secret"}
    third = {"type": "text", "text": " is 42</memory-context> done <"}
    assert scrubbed({"type": "message", "content": [first, second, third]}) == {
        "type": "message",
        "content": [
            {"type": "text", "text": "see "},
            {"type": "text", "text": ""},
            {"type": "text", "text": " done <"},
        ],
    }


def test_thoughts_are_scrubbed_unless_the_provider_has_sealed_them() -> None:
    loose = {"type": "thinking", "thinking": f"a{BLOCK}b"}
    sealed = {**loose, "signature": "c2VhbA=="}
    given = {"type": "message", "content": [loose, sealed]}
    assert scrubbed(given) == {
        "type": "message",
        "content": [{"type": "thinking", "thinking": "ab"}, sealed],
    }
    message = {"content": "x", "reasoning_content": f"a{BLOCK}b"}
    assert scrubbed({"choices": [{"message": message}]}) == {
        "choices": [{"message": {"content": "x", "reasoning_content": "ab"}}]
    }


def test_arguments_that_are_called_content_are_no_words() -> None:
    call = {"type": "tool_use", "id": "1", "name": "write", "input": {"content": BLOCK}}
    answer = {"type": "message", "content": [call]}
    assert scrubbed(answer) is answer


def test_thoughts_that_stream_are_scrubbed_too(chat: Conversation) -> None:
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": f"a{BLOCK}b <"}
    model = ScriptedModel(
        [
            [
                port.Thought("a<memory-con"),
                port.Thought("text>secret</memory-context>b"),
                port.Thought(" <"),
                port.Spoken("Yes."),
                port.Finished(completion(message, "stop")),
            ]
        ]
    )
    events = list(Agent(chat, model).turn("Hi"))
    assert [each for each in events if isinstance(each, ThinkingStreamed)] == [
        ThinkingStreamed("a"),
        ThinkingStreamed("b"),
        ThinkingStreamed(" "),
        ThinkingStreamed("<"),
    ]
    assert "secret" not in str(chat.log)
