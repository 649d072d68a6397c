"""The form in which text enters the word index, and in which a query asks for it.

The index stems inside SQLite. Marking a match in a text and counting words for the ranking happen
outside it, and must agree with what matched. The rules are those of M. F. Porter, "An algorithm
for suffix stripping" (1980).

SQLite goes by the bytes of a word: a letter outside ASCII is several consonants to it. An ending
that is the whole word is none.

The index splits text at everything that is not a letter or a digit, folds case and accents, and
stems English. Two things it cannot do are done here. Chinese, Japanese and Korean have no spaces,
so that a run of their characters would be one word: it becomes overlapping pairs, and its last
character stands alone, so that each character begins exactly one word. Two characters are then
one word, one character is a prefix, and three or more are a phrase. And `C#` would be the word
`c`: a letter with such a sign gets a word of its own.

Most of what agents write is ASCII, and most of the rest is ASCII between arrows, dashes and boxes.
A character beyond ASCII is looked at once for each text that holds it, not wherever it stands, as
long as its form does not depend on what is beside it. The words are those of `fold`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

_VOWELS = frozenset("aeiou")
_SHORTEST = 3
_LONGEST = 64
"""Both in bytes."""

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "logi": "log", "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a word in lower case; words of one or two letters are their own."""
    if word.isascii():
        return _stripped(word) if _SHORTEST <= len(word) <= _LONGEST else word
    # Each byte of other letters is taken for a letter.
    letters = word.encode("utf-8", "surrogatepass").decode("latin-1")
    if not _SHORTEST <= len(letters) <= _LONGEST:
        return word
    # A doubled last byte may be halved: what is left of the letter stays distinct.
    return _stripped(letters).encode("latin-1").decode("utf-8", "surrogateescape")


def _stripped(word: str) -> str:
    if word[1:].endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _without_inflection(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    word = _without_ending(word)
    if word.endswith("e"):
        rest = word[:-1]
        length = _measure(rest)
        if length > 1 or (length == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _without_inflection(word: str) -> str:
    if word[1:].endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if not _has_vowel(rest):
                return word
            if rest.endswith(("at", "bl", "iz")):
                return f"{rest}e"
            if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
                return rest[:-1]
            return f"{rest}e" if _measure(rest) == 1 and _is_short(rest) else rest
    return word


def _replaced(word: str, endings: dict[str, str]) -> str:
    for length in range(min(7, len(word)), 1, -1):
        ending = word[-length:]
        if ending in endings:
            rest = word[:-length]
            return rest + endings[ending] if _measure(rest) > 0 else word
    return word


def _without_ending(word: str) -> str:
    for length in range(min(5, len(word)), 1, -1):
        ending = word[-length:]
        if ending in _STEP_4:
            rest = word[:-length]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _is_vowel(word: str, at: int) -> bool:
    if word[at] in _VOWELS:
        return True
    return word[at] == "y" and at > 0 and not _is_vowel(word, at - 1)


def _has_vowel(word: str) -> bool:
    return any(_is_vowel(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """Count the places where a consonant follows a vowel."""
    kinds = [_is_vowel(word, at) for at in range(len(word))]
    return sum(before and not after for before, after in pairwise(kinds))


def _is_short(word: str) -> bool:
    """Say whether a word ends in consonant, vowel, consonant, and not in w, x or y."""
    if len(word) < _SHORTEST or word[-1] in "wxy":
        return False
    last = len(word) - 1
    return not _is_vowel(word, last) and _is_vowel(word, last - 1) and not _is_vowel(word, last - 2)


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
    return _LIGATURE.sub(lambda match: _LIGATURES[match[0]], bare)


def _paired(match: re.Match[str]) -> str:
    run = match.group()
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "


_SHORTEST_SPELLING, _LONGEST_SPELLING = 3, 64
_SPELLING = re.compile(rf"[^\W_{IDEOGRAPHS}]{{{_SHORTEST_SPELLING},{_LONGEST_SPELLING}}}")
_UNLISTED = re.compile(rf"[\W_{IDEOGRAPHS}]")
_ASCII = bytes(range(128))
_BLANKED = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 32
    for code in range(256)
)
"""Turns ASCII into words in lower case between blanks: a third of the time of an expression."""
_MOST_REPLACED = 100
"""Characters that are replaced one after another; with more, lines are read one by one."""
_MOST_DIGITS = 4
"""Words with more digits are hashes and times: nobody remembers the middle of one."""


@dataclass(frozen=True, slots=True)
class Forms:
    """What texts become in the index, made before anybody must wait for it."""

    folded: Sequence[str]
    """Each text with the words that `fold` gives; the index does not mind capitals of ASCII."""
    words: frozenset[bytes] | set[bytes]
    """What stands between blanks in them, in UTF-8: most is known, and never made a string."""


NO_FORMS = Forms((), frozenset())
"""Of nothing said."""


@dataclass(frozen=True, slots=True)
class _Wide:
    """A character beyond ASCII that becomes the same wherever it stands."""

    written: str
    plain: str
    listed: str
    """The plain form with a blank for all that is in no listed word."""
    has_pairs: bool


def spellings(text: str) -> set[str]:
    """Return the distinct words of a text in which a part of a word may be looked up.

    Words of three letters have no part worth asking for.
    """
    return unknown_spellings([text], frozenset())


def unknown_spellings(texts: Sequence[str], known: AbstractSet[str]) -> set[str]:
    """Return the spellings of all the texts but those that are known."""
    return spellings_among(index_forms(texts).words) - known


def spellings_among(words: Iterable[bytes]) -> set[str]:
    """Return what of the words of some forms may be looked up by a part of it."""
    found = b" ".join(words).decode().split(" ")
    if max(map(len, found), default=0) > _LONGEST_SPELLING:
        found += _SPELLING.findall(
            " ".join([word for word in found if len(word) > _LONGEST_SPELLING])
        )
    return {
        word
        for word in found
        if _SHORTEST_SPELLING <= len(word) <= _LONGEST_SPELLING
        and (word.isalpha() or sum(map(str.isdigit, word)) <= _MOST_DIGITS)
    }


def index_forms(texts: Iterable[str]) -> Forms:
    """Return what texts become in the index; an empty one stays empty."""
    folded: list[str] = []
    words: set[bytes] = set()
    for text in texts:
        form, listed = with_signs(text), text
        if not text.isascii():
            # To delete ASCII takes no longer than to copy it, and little is left of most texts.
            left = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
            found = [_alone(each) for each in set(left.decode("utf-8", "surrogatepass"))]
            known = [each for each in found if each is not None]
            wide = known if len(known) == len(found) else None
            form, listed = _folded(form, wide), _listed(text, wide)
        folded.append(form)
        # One text at a time: the words of many would not stay in the nearest memory.
        words.update(listed.encode().translate(_BLANKED).split())
    return Forms(folded, words)


def _folded(text: str, wide: list[_Wide] | None) -> str:
    changed = [each for each in wide or () if each.plain != each.written]
    if wide is None or len(changed) > _MOST_REPLACED:
        lines = text.split("\n")
        return "\n".join([line if line.isascii() else cjk_bigrams(plain(line)) for line in lines])
    for each in changed:
        text = text.replace(each.written, each.plain)
    return cjk_bigrams(text) if any([each.has_pairs for each in wide]) else text


def _listed(text: str, wide: list[_Wide] | None) -> str:
    """Return a text with all of its spellings, each between characters of ASCII."""
    if wide is not None and all([each.listed.isspace() for each in wide]):
        return text.encode("ascii", "replace").decode()
    changed = [each for each in wide or () if each.listed != each.written]
    if wide is None or len(changed) > _MOST_REPLACED:
        lines = text.split("\n")
        return "\n".join(
            [line if line.isascii() else " ".join(_SPELLING.findall(plain(line))) for line in lines]
        )
    for each in changed:
        text = text.replace(each.written, each.listed)
    return text


@lru_cache(maxsize=1 << 14)
def _alone(character: str) -> _Wide | None:
    """Return what becomes of a character, or None if that depends on what stands beside it."""
    apart = unicodedata.normalize("NFKD", character)
    bare = plain(character)
    if _is_joined(apart[0]) or "\u03a3" in apart or not bare or plain(bare) != bare:
        return None  # sigma is another letter at the end of a word
    return _Wide(character, bare, _UNLISTED.sub(" ", bare), has_pairs(bare))


def _is_joined(character: str) -> bool:
    """Say whether a character may become one with the letter before it.

    Marks do, but the one that asks for a picture, and letters of Korean and of a few scripts
    beyond the first plane.
    """
    return (
        (unicodedata.category(character) in ("Mn", "Mc") and character != "\ufe0f")
        or "\u1160" <= character <= "\u11ff"
        or (character > "\uffff" and character.isalnum())
    )
