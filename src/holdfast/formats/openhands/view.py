"""What both generations of OpenHands share: the events that an agent sees, and totals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.figures import dollars
from holdfast.formats.litellm import tokens_in
from holdfast.formats.loose import mapping, mappings, sequence
from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["View", "total_of"]


class View:
    """The events that a model sees, by their native ids; it holds names only."""

    def __init__(self) -> None:
        self._seen: list[tuple[object, str]] = []
        """The id of each event, and the key of the message that it told, if it told one."""

    def add(self, event: object, key: str = "") -> None:
        """Add an event at the end."""
        self._seen.append((event, key))

    def forget(self, is_forgotten: Callable[[object], bool]) -> None:
        """Leave events out from here on."""
        self._seen = [each for each in self._seen if not is_forgotten(each[0])]

    def put(self, event: object, key: str, offset: object) -> None:
        """Put a summary after so many events; at the end where nobody says how many."""
        place = offset if isinstance(offset, int) else len(self._seen)
        self._seen.insert(place, (event, key))

    @property
    def shows(self) -> tuple[str, ...]:
        """Return the keys of the messages that the model sees."""
        return tuple(key for _, key in self._seen if key)


def total_of(metrics: Mapping[str, object]) -> Usage:
    """Return what metrics add up to; calls count as far as they are listed."""
    each = mappings(metrics.get("token_usages"))
    added = mapping(metrics.get("accumulated_token_usage"))
    several = [added] if added else each
    whole = sum((tokens_in(fields) or Usage() for fields in several), Usage())
    calls = max(len(each), len(sequence(metrics.get("costs"))))
    return replace(whole, calls=calls, cost=dollars(metrics.get("accumulated_cost")))
