"""Which facts the agent is likely to need next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.facts.rules import runs

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
    referred = _referred(tail)
    wanted = tuple(word for word in focus.casefold().split() if len(word) > 2)

    def worth(each: Evidence) -> float:
        text = each.fact.text
        value = each.heat / (len(text) + _OVERHEAD)
        if text.encode("utf-8", "replace") in referred:
            value *= _TAIL
        if wanted and any(word in text.casefold() for word in wanted):
            value *= _FOCUS
        return value

    return tuple(sorted(evidence, key=worth, reverse=True))


def _referred(tail: str) -> frozenset[bytes]:
    """Return the words of the tail that may be names, without places in a file and full stops.

    A tail is long, so its runs are not read as names: what matters is which names are among them.
    It has more runs than there are facts, so it is the facts that are encoded.
    """
    found = set(runs(tail.replace(":", " ").replace("()", " ")))
    return frozenset([run.strip(b".") for run in found])
