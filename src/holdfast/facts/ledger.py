"""The evidence ledger: facts a record would have lost, packed into few characters."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from holdfast.facts.audit import Presence
from holdfast.facts.rules import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.facts.gather import Evidence

__all__ = ["ledger"]

_HEADINGS = {
    Kind.PATH: "Paths",
    Kind.URL: "URLs",
    Kind.IDENTIFIER: "Names",
    Kind.FLAG: "Flags",
    Kind.COMMIT: "Commits",
    Kind.PORT: "Ports",
    Kind.VERSION: "Versions",
    Kind.NUMBER: "Numbers",
    Kind.COMMAND: "Commands",
    Kind.TEST: "Tests",
    Kind.ERROR: "Errors",
    Kind.CONSTRAINT: "Constraints",
    Kind.DECISION: "Decisions",
}
_LINES = frozenset({Kind.COMMAND, Kind.TEST, Kind.ERROR, Kind.CONSTRAINT, Kind.DECISION})
_WIDEST_TOKEN = 12
"""Characters that one unit of budget can hold at most: bounds how many facts are looked at."""
_FULL = 0.995
"""The share of the budget at which a ledger counts as full: the last fact is worth no search."""
_GUESSES = 4
"""How often the length that fits is guessed from the last weight, before it is halved for."""
_ORDER = {kind: place for place, kind in enumerate(_HEADINGS)}


class _Listed(NamedTuple):
    """A fact of the ledger, and at which lengths of the ledger it is written."""

    each: Evidence
    rank: int
    """It is written once the ledger has more facts than this."""
    covered: int
    """It is left out again once the ledger has more facts than this: one of them holds it."""


def ledger(
    ranked: Sequence[Evidence], *, present: str, budget: int, count: Callable[[str], int]
) -> str:
    """Return the best ranked facts that `present` lacks, within a budget.

    A fact that a listed one begins or ends with is not listed again. Facts are grouped by kind,
    paths by place, names by where they came up, so that a reader finds what belongs together.
    """
    chosen = _listed(_missing(ranked, present, budget * _WIDEST_TOKEN))
    best, fits, fails = "", 0, len(chosen) + 1
    length, guesses = len(chosen), _GUESSES
    while fails - fits > 1:
        written = _written(chosen, length)
        weight = count(written)
        if weight <= budget:
            best, fits = written, length
            if weight >= budget * _FULL:
                break
        else:
            fails = length
        guesses -= 1
        guess = length * budget // max(weight, 1) if guesses > 0 else (fits + fails) // 2
        length = min(max(guess, fits + 1), fails - 1)
    return best


def _missing(ranked: Sequence[Evidence], present: str, limit: int) -> dict[str, Evidence]:
    texts = [each.fact.text for each in ranked]
    # The best ranked of those that have the same text.
    by_text = dict(zip(reversed(texts), reversed(ranked), strict=True))
    missing: dict[str, Evidence] = {}
    for text in Presence(present).missing(texts):
        limit -= len(text) + 1
        if limit < 0:
            break
        missing[text] = by_text[text]
    return missing


def _listed(missing: Mapping[str, Evidence]) -> list[_Listed]:
    """Return the facts in the order of the page."""
    ranks = {text: rank for rank, text in enumerate(missing)}
    covered = _beginnings(list(missing)) | {
        text[::-1]: longer[::-1]
        for text, longer in _beginnings([text[::-1] for text in missing]).items()
    }
    found = [
        _Listed(each, ranks[text], ranks[covered[text]] if text in covered else len(ranks))
        for text, each in missing.items()
    ]
    return sorted(found, key=_place)


def _beginnings(texts: list[str]) -> dict[str, str]:
    """Return the texts that a longer one begins with, each with the one that follows in order."""
    ordered = sorted(texts)
    return {text: after for text, after in pairwise(ordered) if after.startswith(text)}


def _place(listed: _Listed) -> tuple[int, int, str]:
    fact = listed.each.fact
    if fact.kind is Kind.PATH:
        return _ORDER[fact.kind], 0, fact.text
    return _ORDER[fact.kind], listed.each.last if fact.kind in _LINES else listed.each.first, ""


def _written(listed: Sequence[_Listed], length: int) -> str:
    """Return the page that the `length` best ranked facts make."""
    facts = [each.each.fact for each in listed if each.rank < length <= each.covered]
    return "\n".join(
        _group(kind, [fact.text for fact in group])
        for kind, group in groupby(facts, key=lambda fact: fact.kind)
    )


def _group(kind: Kind, texts: Sequence[str]) -> str:
    if kind in _LINES:
        return "\n".join((f"{_HEADINGS[kind]}:", *(f"- {text}" for text in texts)))
    return f"{_HEADINGS[kind]}: {' '.join(texts)}"
