"""What pruned outputs said that is worth keeping, beside the newest of their one-line notes.

A window that is only pruned has no summary to carry a ledger. The names come from tool output, so
they stay in tool output, and whoever reads them knows what they are worth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction.words import words_of
from holdfast.facts import ledger
from holdfast.transcript import Role, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction.means import Means
    from holdfast.facts import Evidence
    from holdfast.transcript import Message, Transcript

__all__ = ["with_evidence"]

_LABEL = "[names in the outputs that were shortened, here and above]"
_LABEL_TOKENS = 20
_MOST = 4_000
"""Tokens; a list of names longer than that is not read."""


def with_evidence(
    window: Transcript, evidence: Sequence[Evidence], spare: int, means: Means
) -> Transcript:
    """Return the window with the best ranked facts that pruning took out of it, as far as fits."""
    place = _newest_note(window)
    budget = min(spare - _LABEL_TOKENS, _MOST)
    if place is None or budget <= 0:
        return window
    before = means.scale.weigh(window[place])
    while budget > _LABEL_TOKENS:
        found = ledger(evidence, present=words_of(window), budget=budget, count=means.scale.text)
        if not found:
            return window
        noted = _noted(window[place], f"{_LABEL}\n{means.redact(found)}")
        if means.scale.weigh(noted) - before <= spare:
            return (*window[:place], noted, *window[place + 1 :])
        budget = budget * 3 // 4  # words weigh a little more together than apart
    return window


def _newest_note(window: Transcript) -> int | None:
    """Return the newest message whose results are one-line notes of pruning."""
    return next(
        (
            index
            for index in range(len(window) - 1, -1, -1)
            if window[index].role is Role.TOOL
            and window[index].results
            and all(_is_note(result) for result in window[index].results)
        ),
        None,
    )


def _is_note(result: ToolResult) -> bool:
    text = result.text
    return text.startswith("[") and text.endswith("]") and "\n" not in text


def _noted(message: Message, text: str) -> Message:
    *before, last = message.results
    content = (Text(f"{last.text}\n{text}"), *(p for p in last.content if not isinstance(p, Text)))
    return replace(message, parts=(*before, replace(last, content=content)))
