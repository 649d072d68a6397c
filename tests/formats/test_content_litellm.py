"""Answers that LiteLLM gave are read the same in every agent that kept them."""

from holdfast.formats.content import answer_in, thoughts, tokens_in
from holdfast.session import Usage
from holdfast.transcript import Thinking


def test_the_cached_part_of_a_prompt_is_counted_once() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 4}}
    assert tokens_in({"prompt_tokens": 10, "completion_tokens": 2, **details}, 0.5) == Usage(
        1, 6, 2, cache_read_tokens=4, cost=0.5
    )
    written = {"prompt_tokens": 10, "cache_read_tokens": 3, "cache_write_tokens": 2}
    assert tokens_in(written) == Usage(1, 5, 0, 3, 2)
    assert tokens_in({"prompt_tokens": 1, "cache_read_tokens": 3}) == Usage(1, 0, 0, 3)


def test_an_answer_without_figures_cost_nothing_that_is_known() -> None:
    assert tokens_in({}) is None


def test_sealed_thoughts_stand_for_the_words_beside_them() -> None:
    block = {"type": "thinking", "thinking": "hm", "signature": "c2VhbA=="}
    assert list(thoughts({"thinking_blocks": [block], "reasoning_content": "hm"})) == [
        Thinking("hm", "c2VhbA==", {"anthropic": {}})
    ]
    assert list(thoughts({"reasoning": "hm"})) == [Thinking("hm")]
    assert list(thoughts({})) == []


def test_a_response_without_choices_has_an_empty_answer() -> None:
    assert answer_in({"choices": [{"message": {"content": "a"}}]}) == {"content": "a"}
    assert answer_in({"choices": []}) == {}


def test_an_answer_of_the_responses_api_is_counted_under_its_own_names() -> None:
    details = {"input_tokens_details": {"cached_tokens": 4}}
    counted = {"input_tokens": 10, "output_tokens": 2, **details}
    assert tokens_in(counted) == Usage(1, 6, 2, cache_read_tokens=4)


def test_a_thought_of_the_responses_api_keeps_its_words_and_its_seal() -> None:
    item = {"id": "rs_1", "summary": ["hm", "so"], "encrypted_content": "c2VhbA=="}
    whole = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"}],
        "encrypted_content": "c2VhbA==",
    }
    answer = {"responses_reasoning_item": item, "reasoning_content": "hm"}
    assert list(thoughts(answer)) == [Thinking("hm\n\nso", "c2VhbA==", {"responses": whole})]
    open_words = {"responses_reasoning_item": {"summary": [], "content": ["all of it"]}}
    assert list(thoughts(open_words)) == [Thinking("all of it")]
