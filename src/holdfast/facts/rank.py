"""Which facts the agent is likely to need next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.facts.rules import read_run, runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.facts.gather import Evidence

__all__ = ["rank"]

_OVERHEAD = 16
"""Characters a fact costs beside its own, so that the shortest do not win by being short."""
_TAIL = 1.5
_FOCUS = 4.0


def rank(evidence: Sequence[Evidence], *, tail: str = "", focus: str = "") -> tuple[Evidence, ...]:
    """Return the evidence, the most needed first.

    The order is use per character: a ledger is paid by the character. Facts that the tail still
    refers to count more, and those that share a word with the focus count most.
    """
    referred = {fact.text for run in set(runs(tail)) for fact in read_run(run)}
    wanted = tuple(word for word in focus.casefold().split() if len(word) > 2)

    def worth(each: Evidence) -> float:
        text = each.fact.text
        value = each.heat / (len(text) + _OVERHEAD)
        if text in referred:
            value *= _TAIL
        if wanted and any(word in text.casefold() for word in wanted):
            value *= _FOCUS
        return value

    return tuple(sorted(evidence, key=worth, reverse=True))
