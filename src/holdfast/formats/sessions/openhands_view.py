"""What both generations of OpenHands share: the events that an agent sees, and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import mappings, string
from holdfast.formats.sessions.litellm import tokens_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.session import Usage

__all__ = ["View", "usages_in"]


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


def usages_in(metrics: Mapping[str, object]) -> dict[str, Usage]:
    """Return what each answer cost, by its id, as far as metrics tell answers apart."""
    found: dict[str, Usage] = {}
    for each in mappings(metrics.get("token_usages")):
        usage = tokens_in(each)
        if usage is not None:
            found[string(each.get("response_id"))] = usage
    return found
