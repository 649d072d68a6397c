"""Keeps count of a growing list of messages, at a cost that follows what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.tokens import Load, Scale, load_of
from holdfast.wire import Body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.wire import Dialect

__all__ = ["Meter"]


class Meter:
    """Measures the list that an agent resends with every call.

    Agents append to one list. As long as the last message seen is still where it was, only what
    follows it is decoded and weighed; otherwise everything is measured again.
    """

    def __init__(self, dialect: Dialect, scale: Scale) -> None:
        """Measure messages of this dialect with this scale."""
        self._dialect = dialect
        self._scale = scale
        self._load = Load()
        self._seen = 0
        self._last: object = None

    def measure(self, messages: Sequence[dict[str, object]]) -> Load:
        """Return the load of the messages."""
        known = self._seen
        if not (0 < known <= len(messages) and messages[known - 1] is self._last):
            known, self._load = 0, Load()
        fresh = self._dialect.decode(Body(list(messages[known:])))
        self._load += load_of(fresh, self._scale)
        self._scale.keep_only(())
        self._seen = len(messages)
        self._last = messages[-1] if messages else None
        return self._load

    def forget(self) -> None:
        """Measure everything at the next call: the list was rewritten."""
        self._seen = 0
