"""What users said in the folded turns, quoted word for word beside the record.

The words of a user are worth more than their paraphrase, so they go last: newest first, whole
messages, within a budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["quote"]

_EXCERPT = 600
"""Characters of a user message that is too long to be quoted whole."""


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


def _excerpt(words: str) -> str:
    if len(words) <= _EXCERPT:
        return words
    return f"{words[:_EXCERPT].rstrip()} [... {len(words) - _EXCERPT} characters more]"
