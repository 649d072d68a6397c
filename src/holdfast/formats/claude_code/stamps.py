"""The ids and times of lines that we write, where a session does not say them.

Both are derived from the session, so that writing it twice gives the same bytes.
"""

from __future__ import annotations

from holdfast.formats.chronicle import About
from holdfast.formats.derived import derived_uuid, digest, is_uuid
from holdfast.formats.moments import iso
from holdfast.session import Fork

__all__ = ["Stamps"]

_EPOCH = 946_684_800_000
"""The year 2000: a session that knows no time has to have one."""


class Stamps:
    """Hands out ids that are used once, and times that do not run backward."""

    def __init__(self, about: About | None = None) -> None:
        """Begin with what is known of the session."""
        known = about or About()
        is_guest = bool(known.parent) and known.fork is Fork.DELEGATION
        own = known.parent if is_guest else known.id
        self.session = own if is_uuid(own) else derived_uuid(f"session {own}")
        self.agent = known.id if is_guest else ""
        """The name of the sub-agent whose file it is."""
        self._used: set[str] = set()
        self._clock = _EPOCH if known.started is None else known.started

    def uuid(self, wanted: str, key: str) -> str:
        """Return the id of a line: its own, or one that follows from its key."""
        found, count = wanted, 0
        while not is_uuid(found) or found in self._used:
            found = derived_uuid(f"{self.session} {key} {count}")
            count += 1
        self._used.add(found)
        return found

    def reply(self, key: str) -> str:
        """Return a message id for an answer that has none."""
        return f"msg_{digest(f'{self.session} {key}')[:24]}"

    def time(self, at: int | None) -> str:
        """Return a time; one that is not known comes right after the one before it."""
        self._clock = self._clock + 1 if at is None else at
        return iso(self._clock)
