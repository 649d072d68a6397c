"""Keeps numpy's matrix products on the thread that asks for them, for as long as it takes.

For matrices as small as a sentence's, the threads of the library behind numpy gain little, and
when other work keeps the processors busy they wait for each other: what takes a second then takes
minutes. Environment variables would decide this too, but only before numpy is first imported.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["one_thread"]

_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
_TURN = threading.Lock()
_inside: list[int] = []
"""The number of threads before the first of those who are inside now; empty when nobody is."""


@dataclass(frozen=True, slots=True)
class _Switch:
    read: Callable[[], int]
    turn: Callable[[int], object]


@contextmanager
def one_thread() -> Generator[None]:
    """Compute on one thread inside; the last to leave restores what was.

    Where numpy stands on another library, nothing changes.
    """
    switch = _switch()
    if switch is None:
        yield
        return
    with _TURN:
        _inside.append(_inside[0] if _inside else switch.read())
        switch.turn(1)
    try:
        yield
    finally:
        with _TURN:
            before = _inside.pop()
            if not _inside:
                switch.turn(before)


@cache
def _switch() -> _Switch | None:
    """Return the switch in the library that numpy's wheel brings, if it brings one."""
    package = Path(str(import_module("numpy").__file__)).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in folder.glob("*openblas*"):
            found = _exported(path)
            if found is not None:
                return found
    return None


def _exported(path: Path) -> _Switch | None:
    try:
        # It is loaded already: this is another handle on the same library.
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for name in _NAMES:
        read = getattr(library, name.format("get"), None)
        turn = getattr(library, name.format("set"), None)
        if read is not None and turn is not None:
            return _Switch(read, turn)
    return None
