"""Names for the messages of a file, each unlike all others."""

from __future__ import annotations

__all__ = ["Keys"]


class Keys:
    """Hands out names: the agent's own id of an entry, or its place in the file."""

    def __init__(self) -> None:
        """Know no name yet."""
        self._taken: set[str] = set()
        self._line = 0
        self._count = 0
        """How many names the line gave; a document is one line of many entries."""

    def take(self, id: str, line: int) -> str:  # noqa: A002
        """Return a name for an entry of a line: its id, unless it has none or it was used."""
        if line != self._line:
            self._line, self._count = line, 0
        name = id or self._place()
        while name in self._taken:
            name = self._place()
        self._taken.add(name)
        return name

    def _place(self) -> str:
        self._count += 1
        return f"#{self._line}.{self._count - 1}" if self._count > 1 else f"#{self._line}"
