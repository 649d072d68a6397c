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
from typing import TYPE_CHECKING

from holdfast.recall.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

__all__ = [
    "WORD",
    "fold",
    "has_pairs",
    "index_forms",
    "is_paired",
    "normal",
    "pairs",
    "plain",
    "query_words",
    "root_of",
    "spellings",
    "unknown_spellings",
]

_IDEOGRAPHS = (
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufad9\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_IDEOGRAPHS}]+")
_SIGNED = re.compile(
    r"#(?<=[A-Za-z]#)(?<![^\W_][A-Za-z]#)(?![\w#+])"
    r"|\+\+(?<=[A-Za-z]\+\+)(?<![^\W_][A-Za-z]\+\+)(?![\w#+])"
)
"""A sign after a lone letter. It begins with the sign, which is rare: letters are tried in vain."""
_SIGNS = {"#": "sharp", "++": "plusplus"}
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LIGATURES = {"æ": "ae", "œ": "oe", "ß": "ss"}
_LIGATURE = re.compile(f"[{''.join(_LIGATURES)}]")
"""Letters that many write as two, and that no normal form takes apart."""

WORD = re.compile(rf"(?<![^\W_])[A-Za-z](?:#|\+\+)(?![\w#+])|[{_IDEOGRAPHS}]+|[^\W_{_IDEOGRAPHS}]+")
"""One word of a text as it stands: a signed letter, a run of ideographs, letters and digits."""

_SHORTEST, _LONGEST = 3, 64
_SPELLING = re.compile(rf"[^\W_{_IDEOGRAPHS}]{{{_SHORTEST},{_LONGEST}}}")
_BLANKED = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256)
)
"""Turns ASCII into words in lower case between blanks: a third of the time of an expression."""
_MOST_DIGITS = 4
"""Words with more digits are hashes and times: nobody remembers the middle of one."""

_SHORTEST_ROOT = 4


def fold(text: str) -> str:
    """Return the text as the word index takes it."""
    signed = _with_signs(text)
    return signed if signed.isascii() else _RUN.sub(_paired, _plain(signed))


def spellings(text: str) -> set[str]:
    """Return the distinct words of a text in which a part of a word may be looked up.

    Words of three letters have no part worth asking for.
    """
    return unknown_spellings([text], frozenset())


def unknown_spellings(texts: Sequence[str], known: AbstractSet[str]) -> set[str]:
    """Return the spellings of all the texts but those that are known."""
    return index_forms(texts, known)[1]


def index_forms(texts: Sequence[str], known: AbstractSet[str]) -> tuple[list[str], set[str]]:
    """Return the texts folded, and their spellings but those that are known.

    Texts are read together, because that takes half the time for short ones. Nothing here looks
    beyond a line, and most lines of most texts are ASCII, so that only the others are taken apart.
    """
    if all(map(str.isascii, texts)):
        return [_with_signs(text) for text in texts], _unknown(texts, [], known)
    simple: list[str] = []
    wide: list[str] = []
    others: list[str] = []
    """Texts in which a sign is spelled out for the index alone."""
    folded: list[str | list[str]] = []
    for text in texts:
        signed = _with_signs(text)
        if text.isascii():
            simple.append(text)
            folded.append(signed)
            continue
        if signed != text:
            folded.append(fold(text))
            others.append(_plain(text))
            continue
        lines = text.split("\n")
        folded.append(lines)
        for line in lines:
            (simple if line.isascii() else wide).append(line)
    bare = _plain("\n".join(wide))
    paired = iter(_RUN.sub(_paired, bare).split("\n"))
    forms = [
        each
        if isinstance(each, str)
        else "\n".join([line.lower() if line.isascii() else next(paired) for line in each])
        for each in folded
    ]
    return forms, _unknown(simple, [bare, *others], known)


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
            words.append(_signed(word))
    return tuple(words)


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
    bare = _signed(plain(word))
    return stem(bare) if bare.isascii() else bare


def root_of(word: str) -> str:
    """Return what the forms of a word share in most languages that inflect, or nothing."""
    length = len(word) - (2 if len(word) > _SHORTEST_ROOT + 1 else 1)
    return word[:length] if word.isalpha() and length >= _SHORTEST_ROOT else ""


def _unknown(simple: Sequence[str], rest: list[str], known: AbstractSet[str]) -> set[str]:
    found = set("\n".join(simple).encode().translate(_BLANKED).decode().split())
    # Not `-=`, which would walk through all that is known.
    found = found - known
    if max(map(len, found), default=0) > _LONGEST:
        rest += [word for word in found if len(word) > _LONGEST]
    fresh = {
        word
        for word in found
        if _SHORTEST <= len(word) <= _LONGEST and (word.isalpha() or _is_memorable(word))
    }
    if rest:
        others = set(_SPELLING.findall("\n".join(rest))) - known
        fresh.update([word for word in others if word.isalpha() or _is_memorable(word)])
    return fresh


def _with_signs(text: str) -> str:
    return _SIGNED.sub(_spelled_out, text) if "#" in text or "++" in text else text


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", _SURROGATE.sub(" ", text))
    bare = unicodedata.normalize("NFKC", _ACCENTS.sub("", apart)).lower()
    return _LIGATURE.sub(_taken_apart, bare)


def _paired(match: re.Match[str]) -> str:
    run = match.group()
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "


def _taken_apart(match: re.Match[str]) -> str:
    return _LIGATURES[match.group()]


def _spelled_out(match: re.Match[str]) -> str:
    return _SIGNS[match.group()]


def _signed(word: str) -> str:
    return _SIGNED.sub(_spelled_out, word) if word.endswith(("#", "+")) else word


def _is_memorable(word: str) -> bool:
    return len(word) <= _MOST_DIGITS or (
        not word.isdigit() and sum(map(str.isdigit, word)) <= _MOST_DIGITS
    )
