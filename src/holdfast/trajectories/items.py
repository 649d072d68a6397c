"""Reads trajectories from files of any size: JSON lines, lists, single objects, agents' sessions.

Trajectories are handed out as raw JSON, a batch at a time, so that other processes decode them and
memory stays constant however large a file is. The session of an agent is a batch of its own, and
whoever takes it opens the file.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from holdfast.agent_files.detection import (
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    gather,
)
from holdfast.agent_files.files import BLOCK, Blocks, Unreadable, begins_database, head_of
from holdfast.agent_files.finding import find_files
from holdfast.errors import MissingExtra
from holdfast.formats.catalog import DOCUMENTS, recognize
from holdfast.formats.documents import key_of
from holdfast.formats.json_access import is_array, is_object
from holdfast.formats.reader import Guess
from holdfast.formats.source import LONGEST_LINE, SourceRecord
from holdfast.wire.recognition import is_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.agent_files.finding import File, Walk

_BATCH_ITEMS, _BATCH_BYTES = 64, 1 << 20
"""A batch is closed by whichever is reached first; both depend on the input alone."""
_LOOKED_AT, _DAMAGED = 4, 64
"""Lines that show what a file is, and lines among which they are looked for."""
_MARK = b"\xef\xbb\xbf"
_DOCUMENTS = frozenset(each.name for each in DOCUMENTS)
_OPENING = re.compile(r"[\ufeff\s]*\[")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")
_END = "\0"
"""Stands where a text ends; no JSON holds it."""
_CUT = "the list ends before its end, or is no JSON from here on"
_TOO_LONG = f"it is longer than {LONGEST_LINE >> 20} MiB"


class Layout(StrEnum):
    """How a file holds its trajectories."""

    LINES = "lines"
    """One a line."""
    LIST = "list"
    """As the elements of one JSON list."""
    WHOLE = "whole"
    """The file is one."""
    SESSION = "session"
    """It is the log of an agent, or a database."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file with trajectories."""

    found: FoundFile
    layout: Layout

    @property
    def source(self) -> str:
        """Return what its trajectories are known by: its path as it was named."""
        return self.found.files[0].shown

    @property
    def size(self) -> int:
        """Return the bytes of the file as it lies on the disk."""
        return self.found.size


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """Something that was named, or lies in a folder that was, and holds no trajectory."""

    path: str
    reason: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class Item:
    """One trajectory as JSON, or why there is none at its place."""

    number: int
    """Its line in the file, or its place in the list, from 1."""
    content: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TrajectoryBatch:
    """Trajectories of one file that are taken together."""

    source: str
    items: tuple[Item, ...] = ()
    session: FoundFile | None = None
    """The log of an agent instead, to be read by whoever takes the batch."""


def find_inputs(
    names: Sequence[str], format_name: str
) -> tuple[list[InputFile], list[SkippedInput]]:
    """Return the files that hold trajectories, in what names lead to; see `inputs_in`."""
    return inputs_in(find_files(names), format_name)


def inputs_in(walk: Walk, format_name: str) -> tuple[list[InputFile], list[SkippedInput]]:
    """Return the files that hold trajectories, sorted by path, and what was passed over.

    Args:
        format_name: What every file is taken for; `auto` goes by content.
    """
    skipped = [SkippedInput(str(each.path), each.reason, each.is_named) for each in walk.refused]
    inputs: list[InputFile] = []
    reading = ReadOptions(format=format_name)
    sessions: list[File] = []
    for file in walk.files:
        layout = None
        if file.size and format_name in {"auto", *_DOCUMENTS}:
            # What cannot be opened is said where sessions are looked at.
            with suppress(Unreadable, MissingExtra):
                layout = _layout(file)
        if layout is None:
            sessions.append(file)
        else:
            found = FoundFile(files=(file,), guess=Guess(layout, 1.0, ""), reading=reading)
            inputs.append(InputFile(found, layout))
    for look in gather(sessions, reading):
        match look:
            case FoundFile():
                inputs.append(InputFile(look, Layout.SESSION))
            case SkippedFile(file, reason) | UnreadableFile(file, reason):
                skipped.append(SkippedInput(file.shown, reason, file.is_named))
    return sorted(inputs, key=lambda each: each.source), skipped


def batches(inputs: Iterable[InputFile], read: Callable[[int], None]) -> Iterator[TrajectoryBatch]:
    """Yield everything that the files hold, in order; who reads hears of bytes as they come.

    Raises:
        Unreadable: a file can no longer be read.
    """
    for each in inputs:
        if each.layout is Layout.SESSION:
            yield TrajectoryBatch(each.source, session=each.found)
            read(each.size)
        else:
            group: list[Item] = []
            size = 0
            for item in _items(each, read):
                group.append(item)
                size += len(item.content)
                if len(group) == _BATCH_ITEMS or size >= _BATCH_BYTES:
                    yield TrajectoryBatch(each.source, tuple(group))
                    group, size = [], 0
            if group:
                yield TrajectoryBatch(each.source, tuple(group))


def _layout(file: File) -> Layout | None:
    """Return how a file holds trajectories, by its beginning; None when it may be a session."""
    path = file.path
    head = head_of(path).removeprefix(_MARK).lstrip()
    if begins_database(head) or not head.startswith((b"{", b"[")):
        return None
    if head.startswith(b"["):
        first = next(_elements(Blocks(path)), None)
        if first is not None and _is_trajectory(_decoded(first.content)):
            return Layout.LIST
    lines = (_decoded(item.content) for item in islice(_lines(Blocks(path)), _DAMAGED))
    if any(map(_is_trajectory, islice((line for line in lines if line is not None), _LOOKED_AT))):
        return Layout.LINES
    content = bytearray()
    for block in Blocks(path):
        content += block
        if len(content) > LONGEST_LINE:
            return None
    is_one = _is_trajectory(_decoded(bytes(content).removeprefix(_MARK)))
    return Layout.WHOLE if is_one else None


def _is_trajectory(value: object) -> bool:
    """Say whether a value holds the turns of a conversation, and is no line of an agent's log."""
    if is_array(value):
        return bool(value) and all(map(is_message, value[:_LOOKED_AT]))
    return is_object(value) and bool(key_of(value)) and recognize([SourceRecord(1, value)]) is None


def _items(file: InputFile, read: Callable[[int], None]) -> Iterator[Item]:
    path = file.found.files[0].path
    blocks = Blocks(path, read)
    match file.layout:
        case Layout.LINES:
            found = _lines(blocks)
        case Layout.LIST:
            found = _elements(blocks)
        case _:
            found = iter([Item(1, b"".join(blocks).removeprefix(_MARK))])
    last = 0
    for item in found:
        last = item.number
        yield item
    if blocks.damage:
        yield Item(last + 1, b"", blocks.damage)


def _lines(blocks: Iterable[bytes]) -> Iterator[Item]:
    """Yield the lines of a file that are not empty."""
    kept: list[bytes] = []
    size, number = 0, 0
    for block in chain(blocks, [b"\n"]):
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            number += 1
            size += end - start
            line = b"".join([*kept, block[start:end]]) if size <= LONGEST_LINE else b""
            if size > LONGEST_LINE:
                yield Item(number, b"", _TOO_LONG)
            elif line := line.removeprefix(_MARK).strip():
                yield Item(number, line)
            kept, size, start = [], 0, end + 1
        size += len(block) - start
        # What is too long to be read is only counted.
        kept = [*kept, block[start:]] if size <= LONGEST_LINE else []


def _elements(blocks: Iterable[bytes]) -> Iterator[Item]:
    """Yield the elements of a JSON list as they come."""
    decoder, decode = json.JSONDecoder(), getincrementaldecoder("utf-8")("replace").decode
    incoming = map(decode, blocks)
    text = ""
    while not (opened := _OPENING.match(text)) and len(text) < BLOCK:
        text += next(incoming)
    at = opened.end() if opened else 0
    number, tried = 1, 0
    while True:
        at = _BETWEEN.match(text, at).end()  # pyright: ignore[reportOptionalMemberAccess]
        if text.startswith("]", at):
            return
        is_over = text.endswith(_END)
        # A value that is not whole yet is tried again when there is twice as much of it.
        if is_over or len(text) - at > 2 * tried:
            end = _end_of(text, at, decoder)
            if end is None:
                tried = len(text) - at
            else:
                yield Item(number, text[at:end].encode())
                at, number, tried = end, number + 1, 0
                continue
        if is_over or len(text) - at > LONGEST_LINE:
            yield Item(number, b"", _CUT if is_over else f"{_TOO_LONG}, or is no JSON")
            return
        text, at = text[at:] + next(incoming, _END), 0


def _end_of(text: str, at: int, decoder: json.JSONDecoder) -> int | None:
    """Return where the value ends that begins at a place; None when it is not whole or no JSON."""
    try:
        return decoder.raw_decode(text, at)[1]
    except ValueError:
        return None
    except RecursionError:
        # Too deep to be read here; whoever takes it says so, and the others are read.
        depth = 0
        for token in _TOKENS.finditer(text, at):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
            if not depth:
                return token.end()
        return None


def _decoded(content: bytes) -> object:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
