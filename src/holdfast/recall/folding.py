"""The form in which text enters the word index, and in which a query asks for it.

The index splits text at everything that is not a letter or a digit, folds case and accents, and
stems English. Two things it cannot do are done here. Chinese, Japanese and Korean have no spaces,
so that a run of their characters would be one word: it becomes overlapping pairs, and its last
character stands alone, so that each character begins exactly one word. Two characters are then
one word, one character is a prefix, and three or more are a phrase. And `C#` would be the word
`c`: a letter with such a sign gets a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from holdfast.recall.stemming import stem

__all__ = [
    "IDEOGRAPHS",
    "WORD",
    "cjk_bigrams",
    "fold",
    "has_pairs",
    "is_paired",
    "normal",
    "pairs",
    "plain",
    "query_words",
    "root_of",
    "with_signs",
]

IDEOGRAPHS = (
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufad9\U00020000-\U0003ffff"
)
"""The characters that are indexed in pairs, for an expression."""
_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_SIGNED = r"{0}(?<=[A-Za-z]{0})(?<![^\W_][A-Za-z]{0})(?![\w#+])"
"""A sign after a lone letter. It begins with the sign, which is rare: letters are tried in vain."""
_SHARP = re.compile(_SIGNED.format("#"))
_PLUS_PLUS = re.compile(_SIGNED.format(r"\+\+"))
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LIGATURES = {"æ": "ae", "œ": "oe", "ß": "ss"}
_LIGATURE = re.compile(f"[{''.join(_LIGATURES)}]")
"""Letters that many write as two, and that no normal form takes apart."""

WORD = re.compile(rf"(?<![^\W_])[A-Za-z](?:#|\+\+)(?![\w#+])|[{IDEOGRAPHS}]+|[^\W_{IDEOGRAPHS}]+")
"""One word of a text as it stands: a signed letter, a run of ideographs, letters and digits."""

_SHORTEST_ROOT = 4


def fold(text: str) -> str:
    """Return the text as the word index takes it."""
    signed = with_signs(text)
    return signed if signed.isascii() else cjk_bigrams(_plain(signed))


def query_words(text: str) -> tuple[str, ...]:
    """Return the index words, in order, that a text is made of when somebody looks for it.

    A run of ideographs at the end is left without its last single character: more may follow it
    in the text that is looked for.
    """
    found = WORD.findall(plain(text))
    words: list[str] = []
    for index, word in enumerate(found):
        if is_paired(word):
            words += pairs(word)
            if len(word) > 1 and index + 1 < len(found):
                words.append(word[-1])
        else:
            words.append(with_signs(word))
    return tuple(words)


def with_signs(text: str) -> str:
    """Return the text with a word for each sign that makes one with a letter."""
    # Two expressions take half the time of one: each begins with something to look for.
    if "#" in text:
        text = _SHARP.sub("sharp", text)
    return _PLUS_PLUS.sub("plusplus", text) if "++" in text else text


def cjk_bigrams(text: str) -> str:
    """Return the text with pairs in place of runs of ideographs."""
    return _RUN.sub(_paired, text)


def pairs(run: str) -> tuple[str, ...]:
    """Return the overlapping pairs of a run of ideographs; a lone character stays as it is."""
    return tuple(run[i : i + 2] for i in range(max(1, len(run) - 1)))


def has_pairs(text: str) -> bool:
    """Say whether a text holds ideographs, which are indexed as pairs."""
    return not text.isascii() and _RUN.search(text) is not None


def is_paired(word: str) -> bool:
    """Say whether a word begins with an ideograph."""
    return _RUN.match(word) is not None


def plain(text: str) -> str:
    """Return the text in lower case without accents, composed, ready to be compared."""
    return text.lower() if text.isascii() else _plain(text)


@lru_cache(maxsize=1 << 15)
def normal(word: str) -> str:
    """Return the form in which two spellings of a word are the same to the index."""
    bare = with_signs(plain(word))
    return stem(bare) if bare.isascii() else bare


def root_of(word: str) -> str:
    """Return what the forms of a word share in most languages that inflect, or nothing."""
    length = len(word) - (2 if len(word) > _SHORTEST_ROOT + 1 else 1)
    return word[:length] if word.isalpha() and length >= _SHORTEST_ROOT else ""


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", _SURROGATE.sub(" ", text))
    bare = unicodedata.normalize("NFKC", _ACCENTS.sub("", apart)).lower()
    return _LIGATURE.sub(_taken_apart, bare)


def _paired(match: re.Match[str]) -> str:
    run = match.group()
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "


def _taken_apart(match: re.Match[str]) -> str:
    return _LIGATURES[match.group()]
