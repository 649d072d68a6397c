"""Detects by their content which format files have, and reads them as events.

No file stays open between the two. The files of a spread session are put together, and a session
goes before those that came from it. Files that are still written are looked at again and again,
and only what changed is returned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from holdfast.agent_files.files import (
    Blocks,
    Unreadable,
    begins_database,
    head_of,
    is_binary,
    place_of,
)
from holdfast.errors import DecodeError, MissingExtra
from holdfast.formats.catalog import HEAD, IN_DATABASES, SESSIONS
from holdfast.formats.events import About, Problem, StrandStarted
from holdfast.formats.reader import Guess, Style
from holdfast.formats.reading import detect_source, read_documents_tolerantly, read_tolerantly
from holdfast.formats.source import JsonSource, SourceRecord, is_too_long, stream_records
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from holdfast.agent_files.finding import File, Walk
    from holdfast.formats.events import Event

AUTO = "auto"
"""The format of a file whose content decides."""
_EMPTY = "it is empty"
_FIRST_LINES = 4
_READERS = {reader.format.name: reader for reader in SESSIONS}

_REQUEST = "it holds messages for a provider, and no agent's session; name it to import it"
_Unit: TypeAlias = tuple[str, str, str]
"""What files share that are told together: the format, the folder named, what it has in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How files are read: as which format, while they are written, and who hears of progress."""

    format: str = AUTO
    """The name of a format that every file is taken for."""
    live: bool = False
    """Whether files are still written, so that half a line at their end is no problem."""
    seen: Callable[[int], None] | None = None
    """Hears how many bytes were read, again and again; nobody hears what another process reads."""

    def __reduce__(self) -> tuple[Callable[..., ReadOptions], tuple[()]]:
        """Leave who hears behind."""
        return partial(ReadOptions, format=self.format, live=self.live), ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file with conversations in a known format, or the files of one that is spread.

    It can be sent to another process.
    """

    files: tuple[File, ...]
    guess: Guess
    reading: ReadOptions
    """How the files are read."""
    about: About = field(default_factory=About)
    """The first session in it, as far as the beginning of the file says."""

    @property
    def size(self) -> int:
        """Return how many bytes the files have."""
        return sum(file.size for file in self.files)

    @property
    def is_spread(self) -> bool:
        """Say whether a session of this format is spread over several files."""
        return _spread(self.guess.format) is not None

    @property
    def unit(self) -> str:
        """Return what the files of a spread session have in common, beside the folder named."""
        common = _spread(self.guess.format)
        return "" if common is None else common(_posix(self.files[0].path))

    def tell(self) -> Iterator[Event]:
        """Open the files anew and yield the events in them.

        Raises:
            Unreadable: when a file cannot be read to its end.
            DecodeError: when a database cannot be read.
        """
        if self.guess.format not in IN_DATABASES:
            return tell_files(self.files, self.guess.format, self.reading)
        # Imported only here: most files are no databases, and theirs is slow to load.
        from holdfast.agent_files.databases import tell_database

        return tell_database(self.files[0].path)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that can be read and has no conversation in a known format."""

    file: File
    reason: str


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file that cannot be read at all."""

    file: File
    reason: str


Look: TypeAlias = FoundFile | SkippedFile | UnreadableFile
"""What a look at a file found."""


def examine_all(files: Iterable[File], reading: ReadOptions) -> list[Look]:
    """Detect the format of each of the files."""
    return [examine(file, reading) for file in files]


def examine(file: File, reading: ReadOptions) -> Look:
    """Detect the format of a file from its beginning, or from all of it if it is one document."""
    if not file.size:
        # Files that the system makes up have no size, and some of them never end.
        return SkippedFile(file, _EMPTY)
    try:
        head = head_of(file.path)
        if begins_database(head):
            return _database(file, reading)
        if reason := _no_session(head):
            return SkippedFile(file, reason)
        return _json(file, reading)
    except (Unreadable, MissingExtra) as error:
        return UnreadableFile(file, str(error))
    except DecodeError as error:
        return SkippedFile(file, f"{error.path}: {error.problem}")


def tell_files(files: Iterable[File], format_name: str, reading: ReadOptions) -> Iterator[Event]:
    """Yield the events of files, one file after the other, read as a format.

    Raises:
        Unreadable: when a file cannot be read to its end.
    """
    stream = chain.from_iterable(_stream(file, reading) for file in files)
    reader = _READERS.get(format_name)
    if reader is None:
        return read_documents_tolerantly(format_name, stream)
    return read_tolerantly(reader, stream)


def _no_session(head: bytes) -> str:
    """Return why a file cannot hold a session, from its beginning."""
    if not head.strip():
        return _EMPTY
    if is_binary(head):
        return "it is binary, not text"
    lines = [line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()]
    first = [line for line in lines if line][:_FIRST_LINES]
    return "" if any(line.startswith((b"{", b"[")) for line in first) else "it is not JSON"


def _json(file: File, reading: ReadOptions) -> Look:
    blocks = Blocks(file.path)
    records = tuple(
        islice((each for each in _records(blocks) if isinstance(each, SourceRecord)), HEAD)
    )
    guess = _guess(records, reading)
    if not guess.format:
        if guess.reason:
            return SkippedFile(file, guess.reason)
        first = next(_records(blocks), None)
        if isinstance(first, Problem) and is_too_long(first):
            return SkippedFile(file, first.reason)
        return SkippedFile(
            file, "it is an empty list" if first is None else "no line of it is JSON"
        )
    reader = _READERS.get(guess.format)
    events = () if reader is None else read_tolerantly(reader, records)
    begun = (each.about for each in events if isinstance(each, StrandStarted))
    about = next(begun, About())
    return FoundFile(files=(file,), guess=guess, reading=reading, about=about)


def _guess(records: tuple[SourceRecord, ...], reading: ReadOptions) -> Guess:
    """Return what records are, or are to be taken for; without a reason when there are none."""
    if reading.format in IN_DATABASES:
        return Guess("", 0.0, f"it is text; {reading.format} is a database")
    if reading.format == AUTO and not records:
        return Guess("", 0.0, "")
    if reading.format == AUTO:
        return detect_source(JsonSource("lines", records, Style()))
    reader = _READERS.get(reading.format)
    if reader is None or reader.recognize(records) is not None:
        return Guess(reading.format, 1.0, "--format says so")
    return Guess(reading.format, 0.0, f"no line at its beginning is one of {reading.format}")


def _database(file: File, reading: ReadOptions) -> Look:
    from holdfast.agent_files.databases import detect_database

    try:
        guess = detect_database(file.path)
    except DecodeError as error:
        return UnreadableFile(file, error.problem)
    if not guess.format:
        return SkippedFile(file, guess.reason)
    return FoundFile(files=(file,), guess=guess, reading=reading)


def _stream(file: File, reading: ReadOptions) -> Iterator[SourceRecord | Problem]:
    """Return the values of a file, with what is wrong with its packing at the end."""
    blocks = Blocks(file.path, reading.seen)
    line = 1
    for each in _patient(blocks) if reading.live else _values(blocks):
        line = each.line
        yield each
    if blocks.damage and not reading.live:
        yield Problem(line, blocks.damage, _name(blocks))


def _values(blocks: Blocks) -> Iterator[SourceRecord | Problem]:
    try:
        yield from _records(blocks)
    except DecodeError as error:
        yield Problem(1, f"{error.path}: {error.problem}", _name(blocks))


def _records(blocks: Blocks) -> Iterator[SourceRecord | Problem]:
    """Return the values of a file with its path: some agents say who is who by that alone.

    Raises:
        DecodeError: when the file as a whole is not JSON, with the place.
    """
    return stream_records(blocks, _name(blocks))


def _patient(blocks: Blocks) -> Iterator[SourceRecord | Problem]:
    """Hold back what is wrong with a last line that was not ended: its writer may be about to."""
    held: Problem | None = None
    for each in _values(blocks):
        if held is not None:
            yield held
        held = each if isinstance(each, Problem) else None
        if held is None:
            yield each
    if held is not None and blocks.ends_line:
        yield held


def _name(blocks: Blocks) -> str:
    return _posix(blocks.path)


def _posix(path: Path) -> str:
    return place_of(path).replace(os.sep, "/")


def _spread(format_name: str) -> Callable[[str], str] | None:
    reader = _READERS.get(format_name)
    return None if reader is None else reader.spread


def gather(
    files: Sequence[File],
    reading: ReadOptions,
    examine: Callable[[Sequence[File], ReadOptions], Iterable[Look]] = examine_all,
) -> tuple[Look, ...]:
    """Detect the formats of files; return what is read as one, parents before their children.

    All files of a spread session below one folder that was named are one. Files of it that were
    named themselves are one as well.

    Args:
        examine: Detects the format of each of them.
    """
    looks: list[Look] = []
    spread: dict[_Unit, list[FoundFile]] = {}
    for look in examine(files, reading):
        if not isinstance(look, FoundFile):
            looks.append(look)
        elif look.guess.format in DIALECTS and look.files[0].is_stray:
            # Tools leave such files among an agent's sessions.
            looks.append(SkippedFile(look.files[0], _REQUEST))
        elif look.is_spread:
            spread.setdefault(_unit(look), []).append(look)
        else:
            looks.append(look)
    looks += map(_together, spread.values())
    return tuple(_parents_first(looks))


def _together(parts: Sequence[FoundFile]) -> FoundFile:
    files = tuple(file for part in parts for file in part.files)
    return replace(max(parts, key=lambda part: part.guess.confidence), files=files)


def _parents_first(looks: Sequence[Look]) -> list[Look]:
    """Return what was found in its order, save that a parent goes before its children."""
    known = {
        (look.guess.format, look.about.id): look
        for look in reversed(looks)
        if isinstance(look, FoundFile) and look.about.id
    }
    ordered: dict[int, Look] = {}
    for look in looks:
        line, seen = [look], {id(look)}
        while isinstance(at := line[-1], FoundFile) and at.about.parent:
            parent = known.get((at.guess.format, at.about.parent))
            if parent is None or id(parent) in ordered or id(parent) in seen:
                break
            seen.add(id(parent))
            line.append(parent)
        for each in reversed(line):
            ordered.setdefault(id(each), each)
    return list(ordered.values())


class FileWatch:
    """Knows how each file was when it was last looked at."""

    def __init__(
        self, find: Callable[[], Walk], reading: ReadOptions, known: Iterable[File] = ()
    ) -> None:
        """Begin to watch.

        Args:
            find: Finds the files, each time anew: some may have come, others gone.
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
        # With those that are told together with them.
        wanted = {file.path for file in changed}
        wanted |= {
            path
            for paths in self._together.values()
            if not wanted.isdisjoint(paths)
            for path in paths
        }
        looks = self._gathered(files, wanted)
        # What a new file belongs to is known when it was looked at.
        whole = wanted.union(
            *(self._together[unit] for unit in map(_unit, _spread_sessions(looks)))
        )
        return looks if whole == wanted else self._gathered(files, whole)

    def _gathered(self, files: Iterable[File], wanted: AbstractSet[Path]) -> tuple[Look, ...]:
        looks = gather([file for file in files if file.path in wanted], self._reading)
        for look in _spread_sessions(looks):
            paths = {file.path for file in look.files}
            self._together.setdefault(_unit(look), set()).update(paths)
        return looks


def _spread_sessions(looks: Iterable[Look]) -> list[FoundFile]:
    return [look for look in looks if isinstance(look, FoundFile) and look.is_spread]


def _unit(found: FoundFile) -> _Unit:
    return found.guess.format, found.files[0].group, found.unit


def _state(file: File) -> tuple[int, int]:
    return file.size, file.modified
