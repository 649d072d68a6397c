"""What users said in the folded turns, quoted word for word beside the record.

The words of a user are worth more than their paraphrase, so they go last: newest first, whole
messages, within a budget. What holds beyond its turn has a budget of its own, so that fresh talk
does not push out who the user is and what must not be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.summary import Lasting

__all__ = ["quote", "standing"]

_EXCERPT = 600
"""Characters of a user message that is too long to be quoted whole."""
_OVERHEAD = 8
"""Tokens that a quote costs beside its own, so that the shortest do not win by being short."""


def quote(newest_first: Iterable[str], budget: int, count: Callable[[str], int]) -> tuple[str, ...]:
    """Return the quotes that fit, in the order given, each once."""
    chosen: dict[str, None] = {}
    left = budget
    for words in newest_first:
        for form in (words, _excerpt(words)):
            cost = count(form) + 2
            if form not in chosen and cost <= left:
                chosen[form] = None
                left -= cost
                break
            if form in chosen:
                break
    return tuple(chosen)


def standing(
    oldest_first: Sequence[Lasting], budget: int, count: Callable[[str], int]
) -> tuple[str, ...]:
    """Return what lasts and fits, in the order given, each once.

    Room goes by claim per token: many a name and rule are a few words, and a long tale that
    holds one would cost five of them.
    """
    costs = {each.words: count(each.words) + 2 for each in oldest_first}

    def worth(place: int) -> float:
        words, strength = oldest_first[place]
        return strength / (costs[words] + _OVERHEAD)

    left = budget
    chosen: dict[str, int] = {}

    def fits(words: str) -> bool:
        return count(words) + 2 <= left and not any(words in other for other in chosen)

    for place in sorted(range(len(oldest_first)), key=worth, reverse=True):
        whole = oldest_first[place].words
        for words in filter(fits, (whole,)) if costs[whole] <= left else statements(whole, fits):
            chosen[words] = place
            left -= count(words) + 2
    return tuple(sorted(chosen, key=chosen.__getitem__))


def _excerpt(words: str) -> str:
    if len(words) <= _EXCERPT:
        return words
    return f"{words[:_EXCERPT].rstrip()} [... {len(words) - _EXCERPT} characters more]"
