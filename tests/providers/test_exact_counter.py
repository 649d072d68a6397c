"""Tokens counted with real vocabularies."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, MissingExtra
from holdfast.providers import ExactCounter
from holdfast.providers.exact_counter import vocabulary_of
from holdfast.testing import CounterSuite
from holdfast.tokens import Counter

WORDS = ExactCounter("gpt-4o")


class TestByteVocabulary(CounterSuite):
    def make(self) -> Counter:
        return WORDS


class TestPieceVocabulary(CounterSuite):
    def make(self) -> Counter:
        return ExactCounter("llama2")


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("openai/gpt-5-nano", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o200k_base", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("openai/gpt-oss-120b", "gpt-oss"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("google/gemma-2-9b-it", "gemma2"),
        ("google/gemma-3-27b-it", "gemma3"),
        ("gemma4", "gemma4"),
        ("models/gemini-2.5-pro", "gemma3"),
        ("Qwen/Qwen3-Coder-30B", "qwen3"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek_v3"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral_v2"),
        ("mistral-nemo", "mistral_v3"),
        ("moonshotai/Kimi-K2-Instruct", "kimi_k2"),
        ("glm-4.5-air", "glm4"),
        ("phi-4", "phi4"),
    ],
)
def test_a_model_is_counted_with_the_vocabulary_of_its_family(model: str, vocabulary: str) -> None:
    assert vocabulary_of(model) == vocabulary


@pytest.mark.parametrize(
    "name",
    [
        *("o200k_base", "cl100k_base", "gpt-oss", "llama2", "codellama", "llama3", "gemma2"),
        *("gemma3", "gemma4", "qwen3", "deepseek_v3", "mistral_v1", "mistral_v2", "mistral_v3"),
        *("kimi_k2", "kimi_k3", "glm4", "phi4", "olmo2"),
    ],
)
def test_every_vocabulary_that_is_named_is_bundled(name: str) -> None:
    assert vocabulary_of(name) == name
    assert ExactCounter(name).count("Hello, world!") in range(3, 6)


def test_known_counts_come_out() -> None:
    # Both encodings are published with these splits.
    assert ExactCounter("o200k_base").count("hello world") == 2
    assert ExactCounter("cl100k_base").count("tiktoken is great!") == 6


def test_a_special_token_in_the_text_is_ordinary_words() -> None:
    assert WORDS.count("<|endoftext|>") > 1


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "anthropic/claude-3-haiku"])
def test_claude_cannot_be_counted_and_the_error_says_what_to_do(model: str) -> None:
    with pytest.raises(ConfigError, match="no public tokenizer; the estimator calibrates"):
        ExactCounter(model)


@pytest.mark.parametrize("model", ["", "my-model", "llama-4-scout", "llama-30b", "qwen3.5-9b"])
def test_an_unknown_model_is_not_counted_with_a_guess(model: str) -> None:
    with pytest.raises(ConfigError, match="name one of gpt-oss, o200k_base"):
        ExactCounter(model)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[tokens\]'"):
        ExactCounter("gpt-4o")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_counted(text: str) -> None:
    assert (WORDS.count(text) == 0) == (text == "")
