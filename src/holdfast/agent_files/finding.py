"""Finds files in what a person names, or where agents keep theirs, in an order that stays."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from holdfast.agent_files.files import may_be_session, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from holdfast.agent_files.places import Place

_SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
"""Folders with thousands of files, none of them a session."""
_BESIDE = ("-wal", "-journal", "-shm")
"""How the files are called that a database keeps beside itself."""
_LINK = "it is a link to a folder; name it to have it followed"
_READERS = "-shm"
"""The one of them that changes when somebody reads."""
_Place: TypeAlias = tuple[int, int]
"""What is the same for all names of one file."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that is there, as it was when it was found."""

    path: Path
    root: Path
    """What was named to find it: itself, or a folder that it is in."""
    size: int
    """In bytes; with what a database has written beside itself, as below."""
    modified: int
    """In nanoseconds since the epoch."""
    is_stray: bool = False
    """Whether it lies where an agent keeps sessions, under a name that the agent gives to none."""
    alias: str = ""
    """What people know it by, where its path tells them nothing."""

    @property
    def shown(self) -> str:
        """Return what people know it by."""
        return self.alias or str(self.path)

    @property
    def is_named(self) -> bool:
        """Say whether the file itself was named, and not a folder around it."""
        return self.path == self.root

    @property
    def group(self) -> str:
        """Return what it shares with files that may belong to the same session."""
        return "" if self.is_named else str(self.root)


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that was named, or that is in what was named, and cannot be looked at."""

    path: Path
    reason: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """What was found."""

    files: tuple[File, ...]
    refused: tuple[Refused, ...] = ()
    others: int = 0
    """How many files were there besides, which hold no session."""


def find_files(names: Iterable[str], *, limit: int | None = None) -> Walk:
    """Return the files that names lead to, each once, sorted by their paths.

    A folder stands for everything below it. A name with `*`, `?` or `[` that is not there as it
    stands is a pattern, in which `**` matches folders of any depth. A link to a folder is followed
    when it was named itself: others may lead anywhere, even to the root of the file system. A
    folder is entered once. Sockets and devices are no files.

    Args:
        limit: How many files are enough; any of them, as the system lists them.
    """
    return _walk(_roots(names), lambda _: True, limit)


def find_in_places(places: Iterable[Place]) -> Walk:
    """Return the files in agents' usual places that may be sessions; places may be absent.

    Where the names of an agent's sessions are not all there is to know, a file of any name is found
    if it begins like one.
    """
    # Not the method of the path, which raises where it may not look.
    walks: list[Walk] = []
    for place in places:
        if os.path.exists(place.path):
            walk = _walk([place.path], partial(_matches, place))
            files = (
                file if _is_any(file.path.name, place.names) else replace(file, is_stray=True)
                for file in walk.files
            )
            walks.append(replace(walk, files=tuple(files)))
    return Walk(
        tuple(file for walk in walks for file in walk.files),
        tuple(each for walk in walks for each in walk.refused),
        sum(walk.others for walk in walks),
    )


def _walk(roots: Iterable[Path], wanted: Callable[[File], bool], limit: int | None = None) -> Walk:
    found: dict[_Place, File] = {}
    beside: dict[_Place, File] = {}
    refused: list[Refused] = []
    entered: set[_Place] = set()
    others = 0
    below = (each for root in roots for each in _below(root, entered))
    for each in islice(below, limit):
        match each:
            case Refused():
                refused.append(each)
            case place, file if file.path.name.endswith(_BESIDE):
                beside.setdefault(place, file)
            case place, file if wanted(file):
                found.setdefault(place, file)
            case _:
                others += 1
    _join(beside, found, wanted)
    files = tuple(sorted(found.values(), key=lambda file: str(file.path)))
    return Walk(files, tuple(refused), others)


def _join(
    beside: Mapping[_Place, File], found: dict[_Place, File], wanted: Callable[[File], bool]
) -> None:
    """Let a database be as new as what it wrote beside itself; else it would look unchanged."""
    places = {file.path: place for place, file in found.items()}
    for place, file in beside.items():
        whole = places.get(file.path.with_name(file.path.name.rpartition("-")[0]))
        if whole is None:
            if wanted(file):
                found.setdefault(place, file)
        elif not file.path.name.endswith(_READERS):
            database = found[whole]
            newest = max(database.modified, file.modified)
            found[whole] = replace(database, size=database.size + file.size, modified=newest)


def _matches(place: Place, file: File) -> bool:
    name = file.path.name
    if _is_any(name, place.except_names):
        return False
    return _is_any(name, place.names) or (place.any_name and _begins_like_one(file))


@lru_cache(maxsize=1 << 16)
def _begins_like_one(file: File) -> bool:
    """Look at a file once for as long as it stays as it is: a watch asks every second."""
    return may_be_session(file.path)


def _is_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)


def _roots(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name).expanduser()
        if has_magic(name) and not path.exists():
            matches = sorted(glob(str(path), recursive=True, include_hidden=True))
            if matches:
                yield from map(Path, matches)
                continue
        yield path


def _below(root: Path, entered: set[_Place]) -> Iterator[tuple[_Place, File] | Refused]:
    """Return the files at a path and below it, without recursion: folders may be deep."""
    pending = [root]
    while pending:
        at = pending.pop()
        try:
            status = at.stat()
            place = status.st_dev, status.st_ino
            if stat.S_ISDIR(status.st_mode):
                if at != root and at.is_symlink():
                    yield Refused(at, _LINK, is_named=False)
                elif place not in entered:
                    entered.add(place)
                    # The last is looked at first, and the first name of a file is the one that
                    # it goes by.
                    inside = sorted(at.iterdir(), reverse=True)
                    pending += (each for each in inside if each.name not in _SKIPPED)
            elif stat.S_ISREG(status.st_mode):
                yield place, File(at, root, status.st_size, status.st_mtime_ns)
                if at == root:
                    beside = (at.with_name(at.name + ending) for ending in _BESIDE)
                    pending += (each for each in beside if each.exists())
            elif at == root:
                yield Refused(at, "it is neither a file nor a folder", is_named=True)
        except OSError as error:
            yield Refused(at, reason_of(error), is_named=at == root)
