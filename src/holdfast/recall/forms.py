"""What texts become in the index, made fast: each message that is written passes here.

Most of what agents write is ASCII, and most of the rest is ASCII between arrows, dashes and boxes.
A character beyond ASCII is looked at once for each text that holds it, not wherever it stands, as
long as its form does not depend on what is beside it. The words are those of `fold`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.recall.folding import IDEOGRAPHS, cjk_bigrams, has_pairs, plain, with_signs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

__all__ = [
    "NO_FORMS",
    "Forms",
    "index_forms",
    "spellings",
    "spellings_among",
    "unknown_spellings",
]

_SHORTEST, _LONGEST = 3, 64
_SPELLING = re.compile(rf"[^\W_{IDEOGRAPHS}]{{{_SHORTEST},{_LONGEST}}}")
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
    if max(map(len, found), default=0) > _LONGEST:
        found += _SPELLING.findall(" ".join([word for word in found if len(word) > _LONGEST]))
    return {
        word
        for word in found
        if _SHORTEST <= len(word) <= _LONGEST and (word.isalpha() or _is_memorable(word))
    }


def index_forms(texts: Iterable[str]) -> Forms:
    """Return what texts become in the index; an empty one stays empty."""
    folded: list[str] = []
    words: set[bytes] = set()
    for text in texts:
        form, listed = with_signs(text), text
        if not text.isascii():
            wide = _wide(text)
            form, listed = _folded(form, wide), _listed(text, wide)
        folded.append(form)
        # One text at a time: the words of many would not stay in the nearest memory.
        words.update(listed.encode().translate(_BLANKED).split())
    return Forms(folded, words)


def _wide(text: str) -> list[_Wide] | None:
    """Return the distinct characters beyond ASCII, or None if one must be read in its place.

    To delete ASCII takes no longer than to copy it, and little is left of most texts.
    """
    left = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    found = [_alone(each) for each in set(left.decode("utf-8", "surrogatepass"))]
    wide = [each for each in found if each is not None]
    return wide if len(wide) == len(found) else None


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
        return "\n".join([line if line.isascii() else _spelled(plain(line)) for line in lines])
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


def _spelled(text: str) -> str:
    return " ".join(_SPELLING.findall(text))


def _is_memorable(word: str) -> bool:
    return sum(map(str.isdigit, word)) <= _MOST_DIGITS
