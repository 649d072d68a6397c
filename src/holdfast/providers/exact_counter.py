"""Tokens counted with the model's own vocabulary, offline."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from splintr import AnyTokenizer

    _Encode: TypeAlias = Callable[[str], int]

_ID_BYTES = 4
"""Bytes of an id where ids are packed."""
_PROBE = "one two"

# The first pattern that matches the beginning of a model's name decides.
_VOCABULARIES = (
    (r"gpt[-_]?oss|o200k_harmony", "gpt-oss"),
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
    (r"open-mistral-7b|mistral-7b(?:-instruct)?-v0\.[12]|mixtral-8x7b|mistral_v1", "mistral_v1"),
    (r"mistral-7b(?:-instruct)?-v0\.3|mixtral-8x22b|codestral-22b|mistral_v2", "mistral_v2"),
    (r"(?:open-)?mistral-nemo|pixtral-12b|mistral_v3", "mistral_v3"),
    (r"kimi[-_]k3", "kimi_k3"),
    (r"kimi", "kimi_k2"),
    (r"glm-?4", "glm4"),
    (r"phi-?4", "phi4"),
    (r"olmo-?2", "olmo2"),
    (r"modernbert", "modernbert"),
)


class ExactCounter:
    """Counts with a vocabulary that is bundled in the `tokens` extra; nothing is downloaded."""

    def __init__(self, model: str, *, tokenizer: AnyTokenizer | None = None) -> None:
        """Find the vocabulary of a model such as `openai/gpt-4o`, or of an encoding's name.

        Args:
            model: The model or encoding, or a name for a tokenizer that was loaded.
            tokenizer: What counts instead of a bundled vocabulary.
        """
        self.name = vocabulary_of(model) if tokenizer is None else model
        require_splintr()
        self._encode: _Encode | None = None
        if tokenizer is not None:
            # Counted as a trainer does, with the tokens that the tokenizer adds.
            packed = tokenizer.encode_flat
            frame = len(packed(""))
            self._encode = lambda text: (len(packed(text)) - frame) // _ID_BYTES

    @classmethod
    def from_file(cls, path: Path) -> ExactCounter:
        """Return a counter with the vocabulary of a `tokenizer.json`, as model hubs keep them.

        Tokens that the file adds to the vocabulary, such as `<think>`, count as one wherever they
        stand: whoever trains with the file reads them so.

        Raises:
            ConfigError: the file cannot be read, or is no such vocabulary.
        """
        require_splintr()
        from splintr import from_json_bytes

        try:
            tokenizer = from_json_bytes(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} is no tokenizer.json that can be used: {error}") from error
        return cls(str(path), tokenizer=tokenizer)

    def count(self, text: str) -> int:
        """Return the tokens of the text, its special tokens read as ordinary words.

        Half a surrogate pair, which JSON can carry and no tokenizer accepts, counts as a
        replacement character.
        """
        # Loading takes up to half a second, so it waits for the first count.
        encode = self._encode
        if encode is None:
            from splintr import Tokenizer

            encode = self._encode = _encoder(Tokenizer.from_pretrained(self.name))
        try:
            return encode(text)
        except UnicodeEncodeError:
            return encode(text.encode("utf-8", "replace").decode("utf-8"))


def _encoder(tokenizer: AnyTokenizer) -> _Encode:
    """Return what counts with a tokenizer.

    Packed ids are counted half as fast again as a list of them is, but special tokens are read in
    them: a text in which one may begin is encoded the plain way.
    """
    beginnings = tuple({token[:2] for token in tokenizer.special_tokens()})
    plain, packed = tokenizer.encode_ordinary, tokenizer.encode_flat
    # What a tokenizer puts around every text is no part of the text.
    frame = len(plain(""))
    if frame or len(packed(_PROBE)) != len(plain(_PROBE)) * _ID_BYTES:
        return lambda text: len(plain(text)) - frame

    def count(text: str) -> int:
        if any(map(text.__contains__, beginnings)):
            return len(plain(text))
        return len(packed(text)) // _ID_BYTES

    return count


def require_splintr() -> None:
    """Refuse to count exactly where the extra for it is not installed."""
    if find_spec("splintr") is None:
        raise MissingExtra("exact token counting", "tokens")


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
