"""One way through the checkpoints of a graph: what was told of it, and what its model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.langgraph.messages import is_summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.formats.langgraph.messages import Entry

__all__ = ["NAMELESS", "Identity", "Line", "is_folded", "known_again"]

Identity: TypeAlias = "tuple[str, bytes]"
"""A message is the same one as long as neither its id nor its words change."""
NAMELESS = "~"
"""How the identity of a message without an id begins; the count of its words follows."""


class Line:
    """One way through the checkpoints: the conversation, or a branch of it."""

    def __init__(self, base: Line | None = None) -> None:
        self.strand = ""
        """Empty until there is something to tell."""
        self.base = base
        self.path: list[tuple[str, Entry | None]] = []
        """The keys of everything told, with what they were told of; a summary is of no entry."""
        self.keys: dict[Identity, str] = {}
        self.shown: list[str] = []
        self.held: Sequence[Entry] = ()
        """What its newest checkpoint holds."""
        self.summary: tuple[str, str] = ("", "")
        """The words of the summary, and its key."""

    def branch(self, length: int) -> Line:
        """Return a line that shares what was told up to some checkpoint."""
        line = Line(self if self.strand else self.base)
        line.path = self.path[:length]
        shared = {key for key, _ in line.path}
        line.keys = {identity: key for identity, key in self.keys.items() if key in shared}
        line.held = [entry for _, entry in line.path if entry is not None]
        line.summary = self.summary if self.summary[1] in shared else ("", "")
        return line


def known_again(line: Line, entries: Mapping[Identity, Entry]) -> None:
    """Know messages again that had no id when they were written, and have one since."""
    taken: set[str] | None = None
    for identity in entries:
        name, words = identity
        if identity in line.keys or name.startswith(NAMELESS):
            continue
        count = 1
        while (key := line.keys.get((f"{NAMELESS}{count}", words))) is not None:
            if taken is None:
                taken = {line.keys[each] for each in entries if each in line.keys}
            if key not in taken:
                line.keys[identity] = key
                taken.add(key)
                break
            count += 1


def is_folded(
    was: Sequence[str], shows: Sequence[str], line: Line, fresh: Sequence[Identity]
) -> bool:
    """Say whether what is gone from a window was folded, and not taken back."""
    added = {line.keys[identity] for identity in fresh}
    if any(is_summary(entry) for key, entry in line.path if key in added and entry is not None):
        return True
    kept = [key for key in shows if key not in added]
    if kept == list(was[: len(kept)]):
        return False
    names = {key: name for (name, _), key in line.keys.items()}
    held = {names.get(key) for key in shows}
    return any(names.get(key) not in held for key in set(was).difference(shows))
