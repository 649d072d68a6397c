"""Retries within one answer: how often a model is asked again, and the backoff in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.errors import ModelUnavailable

__all__ = ["Backoff"]

_PAUSES = (1.0, 4.0)
"""Seconds before each further try, where the provider does not say."""
_LONGEST = 60.0
"""Seconds beyond which the user is told instead."""
_SHRINKS = 3


class Backoff:
    """Counts what went wrong while one answer was wanted."""

    def __init__(self) -> None:
        """Begin with nothing gone wrong."""
        self.overflows = 0
        self._failures = 0

    def may_shrink(self) -> bool:
        """Take note of a refusal for size; says whether to compact and try again."""
        self.overflows += 1
        return self.overflows <= _SHRINKS

    def pause(self, error: ModelUnavailable) -> float | None:
        """Take note of a failure; returns how long to wait, or None to give up.

        A provider that wants more than a minute is not waited for: the user decides.
        """
        if self._failures >= len(_PAUSES):
            return None
        usual = _PAUSES[self._failures]
        self._failures += 1
        wish = usual if error.retry_after is None else error.retry_after
        return wish if wish <= _LONGEST else None
