"""Results that fit a budget of tokens and say what was cut.

Tools' outputs give way first, then what people and models said, then whole messages far from the
one that was asked for, and at last whole results from the end of the list.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.recall.asked import ResultLimits
from holdfast.recall.shapes import OneMessage, QuotedPassages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.recall.shapes import Beginning, ConversationList, Excerpts, Neighborhood, Result
    from holdfast.tokens import Counter

__all__ = ["BUDGET", "fitted", "written"]

BUDGET = 4_000
"""Tokens that a result may take unless the caller says otherwise."""
_PASSAGES = 2_500
"""Tokens of passages, unless the caller says otherwise: more seldom has more of the answer."""

_LADDER = (
    *(ResultLimits(output, 8_000) for output in (4_000, 2_000, 1_200, 800, 500, 300, 200, 140)),
    *(
        ResultLimits(120, words)
        for words in (4_000, 2_500, 1_600, 1_100, 800, 600, 450, 330, 240, 180)
    ),
    *(ResultLimits(100, 140, reach) for reach in (1.0, 0.8, 0.6, 0.4, 0.2)),
    ResultLimits(100, 120, 0.0),
    ResultLimits(60, 60, 0.0),
    *(ResultLimits(60, 60, 0.0, results) for results in (15, 10, 7, 5, 4, 3, 2, 1)),
    ResultLimits(20, 20, 0.0, 1),
)
_HOW = "around_message_id shows a message with its neighbors, with window=0 one message in full"


def fitted(result: Result, budget: int | None, counter: Counter) -> dict[str, object]:
    """Return a result as plain values that take at most so many tokens when written as JSON.

    A budget too small for even the barest form gets the barest form.
    """
    if budget is None:
        budget = _PASSAGES if isinstance(result, QuotedPassages) else BUDGET
    if isinstance(result, OneMessage):
        most = max(len(result.message.text) - result.offset, 0)
        return _as_much_as_fits(result.document, most, budget, counter)
    if isinstance(result, QuotedPassages):
        return _as_much_as_fits(result.document, len(result.quotes), budget, counter)
    found: dict[str, object] = {}
    for room in _LADDER:
        found = _with_cuts(result, room)
        if counter.count(written(found)) <= budget:
            break
    return found


def written(document: Mapping[str, object]) -> str:
    """Return a result as the text that a model reads."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _with_cuts(
    result: Excerpts | Neighborhood | Beginning | ConversationList, room: ResultLimits
) -> dict[str, object]:
    document = result.document(room)
    shown = list(_messages(document))
    shortened = [cast("int", each["characters_cut"]) for each in shown if "characters_cut" in each]
    cuts = {
        "results_left_out": result.count - min(result.count, room.results),
        "messages_left_out": result.size - len(shown),
        "messages_shortened": len(shortened),
        "characters_cut": sum(shortened),
    }
    told: dict[str, object] = {name: count for name, count in cuts.items() if count}
    return {**document, "cut": {**told, "how": _HOW}} if told else document


def _messages(value: object) -> list[Mapping[str, object]]:
    """Return every message in a document."""
    found: list[Mapping[str, object]] = []
    if isinstance(value, dict):
        each = cast("dict[str, object]", value)
        if "text" in each:
            return [each]
        for inner in each.values():
            found += _messages(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            found += _messages(inner)
    return found


def _as_much_as_fits(
    document: Callable[[int], dict[str, object]], most: int, budget: int, counter: Counter
) -> dict[str, object]:
    """Return a document with as many characters or pieces as fit."""

    def fits(size: int) -> bool:
        return counter.count(written(document(size))) <= budget

    if fits(most):
        return document(most)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    # A page must get on, whatever the budget.
    return document(max(low, 1))
