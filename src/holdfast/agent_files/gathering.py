"""Puts together the files of a spread session, and a session before those that came from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.agent_files.opening import Found, Passed, examine_all
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.agent_files.finding import File
    from holdfast.agent_files.opening import Look, Reading

__all__ = ["gather"]

_REQUEST = "it holds messages for a provider, and no agent's session; name it to import it"


def gather(
    files: Sequence[File],
    reading: Reading,
    examine: Callable[[Sequence[File], Reading], Iterable[Look]] = examine_all,
) -> tuple[Look, ...]:
    """Return what the files are: everything that can be told at once, in the order to tell it.

    All files of a spread session below one folder that was named are one. Files of it that were
    named themselves are one as well.

    Args:
        files: The files.
        reading: How they are to be read.
        examine: Says what each of them is.
    """
    looks: list[Look] = []
    spread: dict[tuple[str, str, str], list[Found]] = {}
    for look in map(_own, examine(files, reading)):
        if isinstance(look, Found) and look.is_spread:
            unit = (look.guess.format, look.files[0].group, look.unit)
            spread.setdefault(unit, []).append(look)
        else:
            looks.append(look)
    looks += map(_together, spread.values())
    return tuple(_parents_first(looks))


def _own(look: Look) -> Look:
    """Pass over what lies among an agent's sessions and is of no agent: tools leave such files."""
    if not isinstance(look, Found) or look.guess.format not in DIALECTS:
        return look
    (file,) = look.files
    return Passed(file, _REQUEST) if file.is_stray else look


def _together(parts: Sequence[Found]) -> Found:
    files = tuple(file for part in parts for file in part.files)
    return replace(max(parts, key=lambda part: part.guess.confidence), files=files)


def _parents_first(looks: Sequence[Look]) -> list[Look]:
    """Return what was found in its order, save that a parent goes before its children."""
    known = {
        (look.guess.format, look.about.id): look
        for look in reversed(looks)
        if isinstance(look, Found) and look.about.id
    }
    ordered: dict[int, Look] = {}
    for look in looks:
        line, seen = [look], {id(look)}
        while isinstance(at := line[-1], Found) and at.about.parent:
            parent = known.get((at.guess.format, at.about.parent))
            if parent is None or id(parent) in ordered or id(parent) in seen:
                break
            seen.add(id(parent))
            line.append(parent)
        for each in reversed(line):
            ordered.setdefault(id(each), each)
    return list(ordered.values())
