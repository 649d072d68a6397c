"""What users said in the folded turns, quoted word for word beside the record.

The words of a user are worth more than their paraphrase, so they go last: newest first, whole
messages, within a budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import is_user_word
from holdfast.transcript.blocks import is_observation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.transcript import Message

__all__ = ["quote", "user_words"]

_EXCERPT = 600
"""Characters of a user message that is too long to be quoted whole."""


def user_words(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what users said in the messages, oldest first, without what tools reported.

    Some agents send tool output as user messages; that is not a user speaking.
    """
    said = (message.text.strip() for message in messages if is_user_word(message))
    return tuple(text for text in said if text and not is_observation(text))


def quote(
    newest_first: Iterable[str], budget: int, count: Callable[[str], int]
) -> tuple[str, ...]:
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
