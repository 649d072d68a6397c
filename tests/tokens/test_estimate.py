"""The estimate: cheap, never zero for words, and not fooled by script or base64."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens import Estimator, family_of

ESTIMATOR = Estimator()


def test_no_text_is_no_tokens_and_any_text_is_some() -> None:
    assert ESTIMATOR.count("") == 0
    assert ESTIMATOR.count("a") == 1


@given(st.text(min_size=1))
def test_every_text_counts_at_least_one(text: str) -> None:
    assert ESTIMATOR.count(text) >= 1


def test_chinese_is_not_counted_like_english() -> None:
    # Real tokenizers need about 0.6 to 0.8 tokens for a Chinese character.
    assert 550 <= ESTIMATOR.count("上下文窗口是有限的而工作是累积的" * 63) <= 850


def test_base64_is_not_counted_like_prose() -> None:
    blob = base64.b64encode(random.Random(1).randbytes(6_000)).decode()
    assert 0.5 < ESTIMATOR.count(blob) / len(blob) < 0.9


@pytest.mark.parametrize("piece", ["The quick brown fox. ", "def f(x): return x + 1\n", "日本語。"])
def test_a_long_text_is_counted_from_slices_close_to_its_whole(piece: str) -> None:
    whole = sum(ESTIMATOR.count(piece * 20) for _ in range(50))
    assert ESTIMATOR.count(piece * 1_000) == pytest.approx(whole, rel=0.05)


def test_lone_surrogates_are_counted_and_not_refused() -> None:
    assert ESTIMATOR.count("\ud800") >= 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-opus-4-5", "claude"),
        ("gemini-3-pro", "gemma"),
        ("meta/Llama-3.1", "llama3"),
        ("gpt-5", "o200k"),
        ("", "o200k"),
    ],
)
def test_a_model_name_finds_its_tokenizer_family(model: str, family: str) -> None:
    assert family_of(model) == family
