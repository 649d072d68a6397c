"""Lines worth quoting: constraints a user set, decisions an agent took, counts of tests.

Cue words are given for several languages, because a transcript speaks its user's. They are looked
for with plain string search, which reads a megabyte in the time a large pattern needs for a page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.facts.rules import Fact, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["constraints", "decisions", "verdicts"]

_WIDEST = 240
_NARROWEST = 8
_MOST = 12
"""Lines quoted of one text: a pasted manual is not a list of constraints."""

_CONSTRAINTS = (
    *("must", "never", "always", "don't", "do not", "doesn't", "only", "should not", "shouldn't"),
    *("avoid", "prefer", "without", "make sure", "keep", "muss", "niemals", "immer", "nicht"),
    *("kein", "keine", "nur", "jamais", "toujours", "doit", "ne pas", "seulement", "nunca"),
    *("siempre", "debe", "solo", "sempre", "deve", "нельзя", "всегда", "никогда", "только"),
    *("必须", "不要", "不能", "不得", "禁止", "只能", "务必", "请勿", "一定要", "しないで", "必ず"),
    *("だけ", "하지 마", "반드시", "항상"),
    # Who speaks is said once and holds for the whole conversation.
    *("my name is", "mein name ist", "ich heiße", "je m'appelle", "me llamo", "mi chiamo"),
    *("меня зовут", "我叫", "私の名前", "제 이름은"),
)
_DECISIONS = (
    *("decided", "decision", "instead of", "rather than", "chose", "settled on", "going with"),
    *("will use", "root cause", "turns out", "the reason", "entschieden", "stattdessen"),
    *("décidé", "au lieu de", "decidido", "en lugar de", "deciso", "invece di", "вместо"),
    *("решил", "决定", "选择了", "改用", "而不是", "根本原因", "決定", "代わりに", "결정", "대신"),
)
# The full stop, the exclamation mark and the question mark of Chinese and Japanese come last.
_ENDS = ".!?\n\u3002\uff01\uff1f"
_MARKS = " \t\r-*>#•"

_COUNTED = (
    " passed",
    " failed",
    " passing",
    " failing",
    " skipped",
    "Ran ",
    "Tests: ",
    "ok ",
    "ok\t",
)
_COUNT = re.compile(
    r"\b\d+ (?:tests? )?(?:passed|failed|passing|failing|skipped)\b|\bRan \d+ tests?\b"
    r"|\bTests: +\d+|^ok\s+\S+\s+\(?[\d.]+s\b"
)


def constraints(text: str) -> Iterator[Fact]:
    """Yield the sentences of a user's words that say what must or must not be."""
    return _sentences(text, _CONSTRAINTS, Kind.CONSTRAINT)


def decisions(text: str) -> Iterator[Fact]:
    """Yield the sentences of an agent's words that settle something or give its reason."""
    return _sentences(text, _DECISIONS, Kind.DECISION)


def verdicts(text: str) -> Iterator[Fact]:
    """Yield the lines of an output that count tests."""
    found: dict[str, None] = {}
    there = [word for word in _COUNTED if word in text]
    for place in sorted({place for word in there for place in _few(text, word)}):
        start = max(text.rfind("\n", 0, place) + 1, place - _WIDEST)
        line = text[start : start + _WIDEST].partition("\n")[0]
        if _COUNT.search(line):
            found[line.strip(" =\t\r")] = None
        if len(found) == _MOST:
            break
    return (Fact(Kind.TEST, line) for line in found)


def _sentences(text: str, cues: tuple[str, ...], kind: Kind) -> Iterator[Fact]:
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few letters change their length; places would no longer agree.
        lowered = text
    # Nearly all cues are missing from a text, and to look is cheaper than to begin a search.
    there = [cue for cue in cues if cue in lowered]
    places = sorted({place for cue in there for place in _places(lowered, cue)})
    found: dict[str, None] = {}
    end = -1
    for place in places:
        if place < end:
            continue
        start, end = _bounds(text, place)
        sentence = text[start:end].strip(_MARKS)
        if _NARROWEST <= len(sentence) <= _WIDEST:
            found[sentence] = None
        if len(found) == _MOST:
            break
    return (Fact(kind, sentence) for sentence in found)


def _places(text: str, cue: str) -> Iterator[int]:
    """Yield where the cue stands as a word of its own."""
    for place in _few(text, cue):
        before, after = text[place - 1 : place], text[place + len(cue) : place + len(cue) + 1]
        if not cue.isascii() or not (before.isalnum() or after.isalnum()):
            yield place


def _few(text: str, words: str) -> Iterator[int]:
    """Yield where the words stand, a few times at most."""
    place = -1
    for _ in range(_MOST * 2):
        place = text.find(words, place + 1)
        if place < 0:
            return
        yield place


def _bounds(text: str, place: int) -> tuple[int, int]:
    """Return the sentence around a place; a full stop inside a name does not end it.

    A sentence that goes on beyond what is looked at comes out too wide to be quoted.
    """
    low, high = max(place - _WIDEST - 1, 0), min(place + _WIDEST + 1, len(text))
    start = place
    while start > low and not _is_end(text, start - 1):
        start -= 1
    end = place
    while end < high and not _is_end(text, end):
        end += 1
    return start, end


def _is_end(text: str, place: int) -> bool:
    mark = text[place]
    return mark in _ENDS and (mark not in ".!?" or not text[place + 1 : place + 2].strip())
