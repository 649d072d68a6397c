"""The evidence ledger: facts a record would have lost, packed into few characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.facts.audit import Presence
from holdfast.facts.rules import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


def ledger(
    ranked: Sequence[Evidence], *, present: str, budget: int, count: Callable[[str], int]
) -> str:
    """Return the best ranked facts that `present` lacks, within a budget.

    A fact inside a longer one that is listed is not listed again. Facts are grouped by kind, paths
    by place, names by where they came up, so that a reader finds what belongs together.
    """
    chosen = list(_missing(ranked, present, budget * _WIDEST_TOKEN))
    fits, fails = 0, len(chosen) + 1
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if count(_written(chosen[:middle])) <= budget:
            fits = middle
        else:
            fails = middle
    return _written(chosen[:fits])


def _missing(ranked: Sequence[Evidence], present: str, limit: int) -> Iterator[Evidence]:
    known = Presence(present)
    listed = ""
    for each in ranked:
        text = each.fact.text
        if text in listed or text in known:
            continue
        listed += f"{text}\n"
        if len(listed) > limit:
            return
        yield each


def _written(chosen: Sequence[Evidence]) -> str:
    everything = "\n".join(each.fact.text for each in chosen)
    groups: dict[Kind, list[Evidence]] = {}
    for each in chosen:
        if everything.count(each.fact.text) == 1:
            groups.setdefault(each.fact.kind, []).append(each)
    return "\n".join(
        _group(kind, heading, groups[kind]) for kind, heading in _HEADINGS.items() if kind in groups
    )


def _group(kind: Kind, heading: str, group: list[Evidence]) -> str:
    if kind in _LINES:
        lines = (each.fact.text for each in sorted(group, key=lambda each: each.last))
        return "\n".join((f"{heading}:", *(f"- {line}" for line in lines)))
    if kind is Kind.PATH:
        texts = sorted(each.fact.text for each in group)
    else:
        texts = [each.fact.text for each in sorted(group, key=lambda each: each.first)]
    return f"{heading}: {' '.join(texts)}"
