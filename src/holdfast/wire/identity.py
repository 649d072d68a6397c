"""Call ids and tool names for a provider that accepts only some letters."""

from __future__ import annotations

from zlib import crc32

__all__ = ["Identities", "is_plain", "plain_name"]

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_NAME_LENGTH = 128


class Identities:
    """Gives each call an id of plain letters that no other call has, the same in every run."""

    def __init__(self) -> None:
        """Start with no call known."""
        self._current: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        """Which number an id had last: some models give every call the same one."""

    def open(self, call_id: str) -> str:
        """Return the id for a call; an id that was used before gets a number."""
        wanted = _plain(call_id)
        unique, count = wanted, self._counts.get(wanted, 1)
        while unique in self._taken:
            count += 1
            unique = f"{wanted}_{count}"
        self._counts[wanted] = count
        self._taken.add(unique)
        self._current[call_id] = unique
        return unique

    def answer(self, call_id: str) -> str:
        """Return the id of the newest call that a result with this id belongs to."""
        return self._current.get(call_id) or _plain(call_id)


def is_plain(text: str) -> bool:
    """Say whether the text is made of plain letters and not empty."""
    return bool(text) and _LETTERS.issuperset(text)


def plain_name(name: str) -> str:
    """Return a tool name in plain letters."""
    return name if is_plain(name) else (_washed(name)[:_NAME_LENGTH] or "tool")


def _plain(call_id: str) -> str:
    if is_plain(call_id):
        return call_id
    # The checksum keeps ids apart that differ only in letters that had to go.
    return f"{_washed(call_id) or 'call'}_{crc32(call_id.encode('utf-8', 'replace')):08x}"


def _washed(text: str) -> str:
    return "".join(letter if letter in _LETTERS else "_" for letter in text)
