"""Proof that a record kept the facts: which of them stand in it, letter for letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.facts.pieces import Pieces, stands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.facts.gather import Evidence

__all__ = ["Audit", "Presence", "audit"]

# Text is cut into words and runs at the speed of `bytes.translate`. What belongs to either is
# decided byte by byte, so a text and a fact are always cut the same way.
_WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_RUN_BYTES = _WORD_BYTES + b"./~@:+#%-"
_TO_WORDS = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_TO_LINES_OF_WORDS = bytes(byte if byte in _WORD_BYTES + b"\n" else 32 for byte in range(256))
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
        return isinstance(fact, str) and next(self.missing((fact,)), None) is None

    def missing(self, facts: Sequence[str]) -> Iterator[str]:
        """Yield the facts that do not stand in the text, in their order."""
        whole, known = self._runs.whole, self._words
        for fact, raw, spaced in zip(facts, *_read_together(facts), strict=True):
            if raw in whole or raw in known:
                continue
            words = spaced.split()
            if not known.issuperset(words) or not self._holds(raw, words):
                yield fact

    def _holds(self, raw: bytes, words: list[bytes]) -> bool:
        """Say whether a fact stands in the text, all words of which do."""
        if words and not raw.translate(None, _RUN_BYTES):
            return raw in self._runs
        return stands(self._raw, raw, len(self._raw))


def _read_together(facts: Sequence[str]) -> tuple[list[bytes], list[bytes]]:
    """Return the bytes of each fact, and the same with a space for all that is in no word.

    One text of many lines is encoded and translated in the time that a dozen short ones take.
    """
    joined = _encoded("\n".join(facts))
    raws = joined.split(b"\n")
    if len(raws) == len(facts):
        return raws, joined.translate(_TO_LINES_OF_WORDS).split(b"\n")
    raws = list(map(_encoded, facts))
    return raws, [raw.translate(_TO_WORDS) for raw in raws]


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
    missing = Presence(text).missing([each.fact.text for each in evidence])
    return len(evidence) - sum(1 for _ in missing)
