"""Follows files that are still written: looks at them again and again, and says what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.agent_files.gathering import gather
from holdfast.agent_files.opening import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from holdfast.agent_files.finding import File, Walk
    from holdfast.agent_files.opening import Look, Reading

__all__ = ["Watch"]

_Unit: TypeAlias = tuple[str, str, str]
"""What files share that are told together: the format, the folder named, what it has in common."""


class Watch:
    """Knows how each file was when it was last looked at."""

    def __init__(
        self, find: Callable[[], Walk], reading: Reading, known: Iterable[File] = ()
    ) -> None:
        """Begin to watch.

        Args:
            find: Finds the files, each time anew: some may have come, others gone.
            reading: How they are read.
            known: Files that need not be looked at as long as they stay as they are.
        """
        self._find = find
        self._reading = reading
        self._known = {file.path: _state(file) for file in known}
        self._together: dict[_Unit, set[Path]] = {}
        """The files that are only told together, by what they share."""

    def look(self) -> tuple[Look, ...]:
        """Return what is new or has changed since the last look; everything at the first."""
        files = self._find().files
        changed = [file for file in files if self._known.get(file.path) != _state(file)]
        self._known = {file.path: _state(file) for file in files}
        wanted = self._with_companions({file.path for file in changed})
        looks = self._gathered(files, wanted)
        # What a new file belongs to is known when it was looked at.
        whole = wanted.union(*(self._together[unit] for unit in map(_unit, _spread(looks))))
        return looks if whole == wanted else self._gathered(files, whole)

    def _gathered(self, files: Iterable[File], wanted: AbstractSet[Path]) -> tuple[Look, ...]:
        looks = gather([file for file in files if file.path in wanted], self._reading)
        for look in _spread(looks):
            paths = {file.path for file in look.files}
            self._together.setdefault(_unit(look), set()).update(paths)
        return looks

    def _with_companions(self, changed: set[Path]) -> set[Path]:
        """Return the files with those that are told together with them."""
        units = [paths for paths in self._together.values() if not changed.isdisjoint(paths)]
        return changed.union(*units)


def _spread(looks: Iterable[Look]) -> list[Found]:
    return [look for look in looks if isinstance(look, Found) and look.is_spread]


def _unit(found: Found) -> _Unit:
    return found.guess.format, found.files[0].group, found.unit


def _state(file: File) -> tuple[int, int]:
    return file.size, file.modified
