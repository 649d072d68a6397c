"""Proof that a record kept the facts: which of them stand in it, letter for letter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.facts.gather import Evidence

__all__ = ["Audit", "Presence", "audit"]

_WORD = re.compile(r"\w+")


class Presence:
    """Answers quickly, for thousands of facts, whether each stands in one text.

    A fact cannot stand in the text unless every word inside it does. That rules most absent facts
    out without searching the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = frozenset(_WORD.findall(text))
        # A word at the edge of a fact may be part of a longer word of the text.
        self._joined = "\n".join(self._words)

    def __contains__(self, fact: object) -> bool:
        if not isinstance(fact, str):
            return False
        words = _WORD.findall(fact)
        if words == [fact]:
            return fact in self._words or fact in self._joined
        if any(word not in self._words for word in words[1:-1]):
            return False
        return fact in self._text


@dataclass(frozen=True, slots=True)
class Audit:
    """How many facts a compaction kept."""

    facts: int
    """Facts looked for."""
    retained_by_summary: int
    """Facts in the summary before anything was added to it."""
    retained: int
    """Facts in everything the model sees afterwards."""


def audit(evidence: Sequence[Evidence], summary_text: str, final_text: str) -> Audit:
    """Return how many of the facts stand in the summary, and in the final text."""
    return Audit(
        facts=len(evidence),
        retained_by_summary=_kept(evidence, summary_text),
        retained=_kept(evidence, final_text),
    )


def _kept(evidence: Sequence[Evidence], text: str) -> int:
    presence = Presence(text)
    return sum(each.fact.text in presence for each in evidence)
