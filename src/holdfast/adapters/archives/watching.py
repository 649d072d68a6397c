"""Follows files that are still written: looks at them again and again, and says what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.adapters.archives.gathering import gather
from holdfast.adapters.archives.opening import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from holdfast.adapters.archives.finding import File, Walk
    from holdfast.adapters.archives.opening import Look, Reading

__all__ = ["Watch"]


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
        self._together: dict[str, set[Path]] = {}
        """The files that are only told together, by what they share."""

    def look(self) -> tuple[Look, ...]:
        """Return what is new or has changed since the last look; everything at the first."""
        files = self._find().files
        changed = [file for file in files if self._known.get(file.path) != _state(file)]
        self._known = {file.path: _state(file) for file in files}
        looks = gather(self._with_companions(changed, files), self._reading)
        for look in looks:
            if isinstance(look, Found) and look.is_spread:
                paths = {file.path for file in look.files}
                self._together.setdefault(look.files[0].group, set()).update(paths)
        return looks

    def _with_companions(self, changed: list[File], files: Iterable[File]) -> list[File]:
        """Return the files with those that are told together with them."""
        wanted = {file.path for file in changed}
        for group in {file.group for file in changed}:
            wanted |= self._together.get(group, set())
        return [file for file in files if file.path in wanted]


def _state(file: File) -> tuple[int, int]:
    return file.size, file.modified
