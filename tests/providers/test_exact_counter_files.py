"""Vocabularies from files, which count as trainers do, and the packed way of counting."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from splintr import AnyTokenizer, Tokenizer
from tokenizers import Tokenizer as TrainersTokenizer

from holdfast.errors import ConfigError
from holdfast.providers import ExactCounter
from holdfast.testing import CounterSuite
from holdfast.tokens import Counter

VOCABULARIES = (
    *("o200k_base", "cl100k_base", "gpt-oss", "llama2", "codellama", "llama3", "gemma2"),
    *("gemma3", "gemma4", "qwen3", "deepseek_v3", "mistral_v1", "mistral_v2", "mistral_v3"),
    *("kimi_k2", "kimi_k3", "glm4", "phi4", "olmo2"),
)
TEXTS = (
    *("", " ", "one two", "  two  spaces ", "\n\n\tdeep\r\n", "naïve ☕ 日本語 🧵", "<", "[", "|"),
    *("<|", "<b>bold</b>", "a < b and [x] / n", "/no", "</", "<s", "<think>", "[INST] hi [/INST]"),
    "def f(x: int) -> str:\n    return f'{x:>10}'\n" * 3,
)


@cache
def counter(name: str) -> ExactCounter:
    return ExactCounter(name)


@cache
def plainly(name: str) -> AnyTokenizer:
    return Tokenizer.from_pretrained(name)


@cache
def special(name: str) -> tuple[str, ...]:
    return tuple(sorted(plainly(name).special_tokens()))


@pytest.mark.parametrize("name", VOCABULARIES)
def test_special_tokens_are_counted_as_the_words_that_they_are(name: str) -> None:
    texts = [around % token for token in special(name) for around in ("%s", "a%sb", "x %s y")]
    assert texts
    assert {text: counter(name).count(text) for text in texts} == {
        text: len(plainly(name).encode_ordinary(text)) for text in texts
    }


@pytest.mark.parametrize("name", VOCABULARIES)
def test_texts_are_counted_as_they_are_encoded(name: str) -> None:
    assert {text: counter(name).count(text) for text in TEXTS} == {
        text: len(plainly(name).encode_ordinary(text)) for text in TEXTS
    }


@given(st.sampled_from(VOCABULARIES), st.data())
def test_any_text_is_counted_as_it_is_encoded(name: str, data: st.DataObject) -> None:
    pieces = st.sampled_from(special(name)) | st.sampled_from(TEXTS) | st.text(max_size=20)
    text = "".join(data.draw(st.lists(pieces, max_size=5)))
    assert counter(name).count(text) == len(plainly(name).encode_ordinary(text))


def vocabulary(folder: Path) -> Path:
    """Write a small `tokenizer.json` of the kind that model hubs keep."""
    # Each byte has a letter of its own: itself where that is visible, or one from U+0100 on.
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    alphabet = [*map(chr, visible), *map(chr, range(256, 512 - len(visible)))]
    tokens = {token: place for place, token in enumerate(alphabet)}
    merges = [("h", "i"), ("Ġ", "t"), ("Ġt", "h"), ("Ġth", "e")]
    for one, other in merges:
        tokens[one + other] = len(tokens)
    bytes_apart = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    written = {
        "version": "1.0",
        "added_tokens": [
            {
                "id": len(tokens),
                "content": "<|end|>",
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
        "normalizer": None,
        "pre_tokenizer": bytes_apart,
        "post_processor": None,
        "decoder": bytes_apart,
        "model": {
            "type": "BPE",
            "vocab": tokens,
            "merges": [f"{one} {other}" for one, other in merges],
        },
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(written), "utf-8")
    return path


class TestVocabularyOfAFile(CounterSuite):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = vocabulary(tmp_path)

    def make(self) -> Counter:
        return ExactCounter.from_file(self.path)


def test_a_vocabulary_is_read_from_a_file(tmp_path: Path) -> None:
    path = vocabulary(tmp_path)
    made = ExactCounter.from_file(path)
    assert made.name == str(path)
    assert [made.count(text) for text in ("hi", "hi the", "abc", "", "<|end|>")] == [1, 2, 3, 0, 1]


def test_a_file_counts_as_the_library_of_trainers_does(tmp_path: Path) -> None:
    path = vocabulary(tmp_path)
    ours, theirs = ExactCounter.from_file(path), TrainersTokenizer.from_file(str(path))
    for text in ("hi the<|end|> hi", "<|end|><|end|>", "the  the\n\nhi", "né 你好 🧵"):
        assert ours.count(text) == len(theirs.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"model": 5}', b"\xff\xfe", b"{nope"])
def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"is no tokenizer\.json that can be used: "):
        ExactCounter.from_file(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is no tokenizer\.json that can be used: "):
        ExactCounter.from_file(tmp_path / "none.json")
