"""What a message says whichever client sends it: the parts by which a conversation is known again.

Agents write the same message differently from one request to the next: they move cache markers,
re-serialize arguments, rename call ids, fold white space and drop reasoning. An atom is what stays.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.transcript import Media, Recalled, Role, Summary, Text, Thinking, ToolCall, ToolResult
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Message

__all__ = ["ANSWERS", "Atom", "AtomKind", "atoms_in", "atoms_of", "bare_call_id", "prefix_hashes"]

_MARKS = re.compile(r"[^0-9A-Za-z]+")
_ITEM = re.compile(r"(?<=.)[^0-9A-Za-z]fc_.*")
"""The id of an item that some clients add to that of its call when the model changes."""
_MADE_UP = re.compile(r"gemini_\d+_")
_SIZE = 16
"""Bytes of a digest: enough that no two messages of a store ever share one by chance."""


class AtomKind(StrEnum):
    """Who said what a part of a message says."""

    USER = "user"
    ASSISTANT = "assistant"
    CALL = "call"
    RESULT = "result"
    OTHER = "other"


ANSWERS = frozenset({AtomKind.ASSISTANT, AtomKind.CALL})
"""What a model says."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a message in its canonical form, as a digest."""

    kind: AtomKind
    digest: bytes
    call: str = ""
    """The id of the call that it is, or answers, without anything but letters and digits."""


def bare_call_id(id_: str) -> str:
    """Return a call id as clients agree on it: some take marks out of ids that they are given.

    One that was made up for a call without an id, from its place in a request, is none.
    """
    if _MADE_UP.match(id_):
        return ""
    return _MARKS.sub("", _ITEM.sub("", id_))


def atoms_of(message: dict[str, object], dialect: str) -> tuple[Atom, ...]:
    """Return the atoms of one message of a request; a system prompt has none.

    A message that cannot be read is an atom as a whole.
    """
    try:
        read = DIALECTS[dialect].decode(Body([message]))
    except DecodeError:
        return (_atom(AtomKind.OTHER, json.dumps(message, sort_keys=True)),)
    return tuple(atom for each in read for atom in atoms_in(each))


def atoms_in(message: Message) -> tuple[Atom, ...]:
    """Return the atoms of a message that was read."""
    return tuple(_atoms(message))


def prefix_hashes(atoms: tuple[Atom, ...]) -> tuple[bytes, ...]:
    """Return for each atom the hash of all that was said up to it."""
    found: list[bytes] = []
    at = b""
    for atom in atoms:
        at = sha256(at + atom.digest).digest()[:_SIZE]
        found.append(at)
    return tuple(found)


def _atoms(message: Message) -> Iterator[Atom]:
    if message.role is Role.SYSTEM:
        return
    kind = AtomKind.USER if message.role is Role.USER else AtomKind.ASSISTANT
    words: list[str] = []
    for part in message.parts:
        match part:
            case Text(text) | Summary(text):
                words.append(text)
                continue
            case Thinking() | Recalled():
                continue
            case _:
                yield from _spoken(kind, words)
                words = []
        match part:
            case ToolCall():
                content = f"{part.name} {_arguments(part.arguments)}"
                yield _atom(AtomKind.CALL, content, bare_call_id(part.id))
            case ToolResult():
                yield _atom(AtomKind.RESULT, _folded(part.text), bare_call_id(part.call_id))
            case Media():
                yield _atom(AtomKind.OTHER, f"{part.kind} {part.data or part.url}")
            case _:
                yield _atom(AtomKind.OTHER, json.dumps(part.value, sort_keys=True, default=str))
    yield from _spoken(kind, words)


def _spoken(kind: AtomKind, words: list[str]) -> Iterator[Atom]:
    if text := _folded("\n".join(words)):
        yield _atom(kind, text)


def _atom(kind: AtomKind, content: str, call: str = "") -> Atom:
    encoded = f"{kind}\0{content}".encode("utf-8", "surrogatepass")
    return Atom(kind, sha256(encoded).digest()[:_SIZE], call)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _arguments(written: str) -> str:
    """Return arguments in one spelling; what is false or absent may be left out by a client."""
    try:
        return json.dumps(_without_defaults(json.loads(written)), sort_keys=True)
    except (ValueError, RecursionError):
        return _folded(written)


def _without_defaults(value: object) -> object:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {
            name: _without_defaults(each)
            for name, each in items
            if each is not None and each is not False
        }
    if isinstance(value, list):
        return [_without_defaults(each) for each in cast("list[object]", value)]
    return value
