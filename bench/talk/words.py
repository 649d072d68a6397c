"""Words and sentences of a conversation, as the questions and the ranked baseline see them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = re.compile(r"\w+(?:['\u2019.,:/-]\w+)*")
BREAK = re.compile(r"(?<=[.!?])[\"”')*]*\s+|\n+")
NAME = re.compile(
    r"\$?\d[\w.,:/]*\w|\d"
    r"|(?!I\b)[A-Z][\w'\u2019-]*(?:\s(?:(?:of|the|de|for|on|a|in)\s)*(?!I\b)[A-Z][\w'\u2019-]*)*"
)
STOPPED = frozenset(
    """
    a about after all also am an and any are as at be been before being but by can could did do does
    doing for from get go going got had has have having he her here him his how i if in into is it
    its just know let like lot make many may me might more most much my need no not now of off on
    one only or other our out over really recently she should so some such sure than thank that the
    their them then there these they thing think this those to too try up us use very want was way
    we well went were what when where which while who why will with would yes you your i'm i've i'd
    i'll it's that's don't can't
    """.split()
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; the items of a list are sentences too."""
    return [each for part in BREAK.split(text) if (each := part.strip(" \t-*•#>"))]


def names(sentence: str) -> list[str]:
    """Return the names, numbers and dates of a sentence, leaving its first word aside.

    The first word has a capital letter whatever it is.
    """
    first = WORD.search(sentence)
    return [match.group() for match in NAME.finditer(sentence, first.end() if first else 0)]


def stem(word: str) -> str:
    """Return the word without a common ending, so that a question meets its answer."""
    lower = word.lower().replace("\u2019", "'").removesuffix("'s")
    if not lower.isalpha() or len(lower) < 4:
        return lower
    bare = lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower
    return re.sub(r"(?:ing|ed|e)$", "", bare) if len(bare) > 5 else bare.removesuffix("e")


def stems(text: str) -> Iterator[str]:
    """Yield the stem of each word that carries meaning, as often as it occurs."""
    for match in WORD.finditer(text):
        word = match.group()
        if _meant(word):
            yield stem(word)


def content(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stems(text))


def word_places(text: str) -> dict[str, list[int]]:
    """Return where each word that carries meaning stands, by its stem."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for match in WORD.finditer(text):
        if _meant(match.group()):
            places[stem(match.group())].append(match.start())
    return dict(places)


def _meant(word: str) -> bool:
    lower = word.lower().replace("\u2019", "'")
    return lower not in STOPPED and (len(lower) > 2 or any(map(str.isdigit, lower)))
