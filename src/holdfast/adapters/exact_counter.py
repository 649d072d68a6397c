"""Tokens counted with the model's own vocabulary, offline."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from splintr import AnyTokenizer

__all__ = ["ExactCounter", "vocabulary_of"]

# The first pattern that matches the beginning of a model's name decides.
_VOCABULARIES = (
    (r"gpt-?oss|o200k_harmony", "gpt-oss"),
    (r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-[5-9]|chatgpt-4o|o[134](?:-|$)|codex|o200k", "o200k_base"),
    (r"gpt-4|gpt-3\.5|text-embedding-3|text-embedding-ada|cl100k", "cl100k_base"),
    (r"(?:meta-)?llama-?3(?!\d)", "llama3"),
    (r"code-?llama", "codellama"),
    (r"llama-?2(?!\d)|vicuna|tinyllama", "llama2"),
    # Gemini's vocabulary is not published; Gemma's is the nearest that is.
    (r"gemma-?3|gemini-(?:[2-9]|flash|pro)", "gemma3"),
    (r"gemma-?4", "gemma4"),
    (r"gemma-?2|gemini-1", "gemma2"),
    (r"qwen-?(?:2|3(?!\.[5-9]))|qwq|qwen$", "qwen3"),
    (r"deepseek[-_]?(?:v3|r1|chat|reasoner)", "deepseek_v3"),
    (
        r"open-mistral-7b|mistral-7b(?:-instruct)?-v0\.[12]|mixtral-8x7b|mistral_v1",
        "mistral_v1",
    ),
    (r"mistral-7b(?:-instruct)?-v0\.3|mixtral-8x22b|codestral-22b|mistral_v2", "mistral_v2"),
    (r"(?:open-)?mistral-nemo|pixtral-12b|mistral_v3", "mistral_v3"),
    (r"kimi[-_]k3", "kimi_k3"),
    (r"kimi", "kimi_k2"),
    (r"glm-?4", "glm4"),
    (r"phi-?4", "phi4"),
    (r"olmo-?2", "olmo2"),
)


class ExactCounter:
    """Counts with a vocabulary that is bundled in the `tokens` extra; nothing is downloaded."""

    def __init__(self, model: str) -> None:
        """Find the vocabulary of a model such as `openai/gpt-4o`, or of an encoding's name."""
        vocabulary = vocabulary_of(model)
        if find_spec("splintr") is None:
            raise MissingExtra("exact token counting", "tokens")
        self.name = vocabulary
        self._tokenizer: AnyTokenizer | None = None

    def count(self, text: str) -> int:
        """Return the tokens of the text, its special tokens read as ordinary words.

        Half a surrogate pair, which JSON can carry and no tokenizer accepts, counts as a
        replacement character.
        """
        tokenizer = self._loaded()
        try:
            return len(tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            readable = text.encode("utf-8", "replace").decode("utf-8")
            return len(tokenizer.encode_ordinary(readable))

    def _loaded(self) -> AnyTokenizer:
        # Loading takes up to half a second, so it waits for the first count.
        if self._tokenizer is None:
            from splintr import Tokenizer

            self._tokenizer = Tokenizer.from_pretrained(self.name)
        return self._tokenizer


def vocabulary_of(model: str) -> str:
    """Return the bundled vocabulary that a model uses, or say in an error what to do instead."""
    name = model.strip().lower().rsplit("/", maxsplit=1)[-1]
    if "claude" in name:
        raise ConfigError(
            f"{model} cannot be counted exactly: Claude has no public tokenizer; the estimator "
            "calibrates itself on the usage that the provider reports"
        )
    for pattern, vocabulary in _VOCABULARIES:
        if re.match(pattern, name):
            return vocabulary
    known = ", ".join(dict.fromkeys(vocabulary for _, vocabulary in _VOCABULARIES))
    raise ConfigError(f"no exact vocabulary for {model!r}; name one of {known}, or estimate")
