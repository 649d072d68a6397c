"""Proof that a record kept the facts: which of them stand in it, letter for letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.facts.pieces import Pieces, stands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.facts.gather import Evidence

__all__ = ["Audit", "Presence", "audit"]

# Text is cut into words and runs at the speed of `bytes.translate`. What belongs to either is
# decided byte by byte, so a text and a fact are always cut the same way.
_WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_RUN_BYTES = _WORD_BYTES + b"./~@:+#%-"
_TO_WORDS = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_TO_RUNS = bytes(byte if byte in _RUN_BYTES else 32 for byte in range(256))


class Presence:
    """Answers quickly, for thousands of facts, whether each stands in one text.

    A part of a longer word does not count: `load` is not kept by `load_config`, and `app.py` not
    by `myapp.py`. So a fact is absent unless all its words are there, which most often answers.
    """

    def __init__(self, text: str) -> None:
        self._raw = _encoded(text)
        self._runs = Pieces(self._raw.translate(_TO_RUNS).split())
        self._words = frozenset(b" ".join(self._runs.whole).translate(_TO_WORDS).split())

    def __contains__(self, fact: object) -> bool:
        if not isinstance(fact, str):
            return False
        raw = _encoded(fact)
        if raw in self._runs.whole:
            return True
        words = raw.translate(_TO_WORDS).split()
        if not self._words.issuperset(words):
            return False
        if words == [raw]:
            return True
        if words and not raw.translate(None, _RUN_BYTES):
            return raw in self._runs
        return stands(self._raw, raw, len(self._raw))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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
    return sum([each.fact.text in presence for each in evidence])
