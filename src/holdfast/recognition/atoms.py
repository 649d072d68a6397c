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
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from holdfast.errors import DecodeError
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Message

_MARKS = re.compile(r"[^0-9A-Za-z]+")
_ITEM = re.compile(r"(?<=.)[^0-9A-Za-z]fc_.*")
"""The id of an item that some clients add to that of its call when the model changes."""
_TWICE = re.compile(r"(.+)__(?=\1_)")
"""The name of a tool that one client sets before ids which begin with it."""
_COUNTED = re.compile(r"[A-Za-z]*\d{1,4}")
_MADE_UP = re.compile(r"gemini_\d+_")
_WORDS = "="
_Told: TypeAlias = str | ToolCall | ToolResult | Media | Opaque
_SIZE = 16
"""Bytes of a digest: enough that no two messages of a store ever share one by chance."""
_MOST = 80_000
"""Atoms of which the hashes are remembered, some 50 bytes each."""


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
    return _MARKS.sub("", _ITEM.sub("", _TWICE.sub("", id_)))


def is_telling(call: str) -> bool:
    """Say whether no other conversation has a call of this id; some servers count from nought."""
    return bool(call) and not call.startswith(_WORDS) and not _COUNTED.fullmatch(call)


def token_of(atom: Atom) -> str:
    """Return what a part of an answer is known by: the id of a call, or what was said."""
    return atom.call if atom.kind is AtomKind.CALL else _WORDS + atom.digest.hex()


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
    return tuple([_atom_of(message, each) for each in _told(message)])


def count_atoms(message: Message) -> int:
    """Return how many atoms a message has, without a look at what they are known by."""
    return sum(1 for _ in _told(message))


def prefix_hashes(atoms: tuple[Atom, ...], at: bytes = b"") -> tuple[bytes, ...]:
    """Return for each atom the hash of all that was said up to it, and of the calls' ids.

    Providers give every call an id of its own: those who say the same by other ids are two.

    Args:
        atoms: What was said.
        at: The hash of what was said before.
    """
    found: list[bytes] = []
    for atom in atoms:
        at = sha256(at + atom.digest + atom.call.encode()).digest()[:_SIZE]
        found.append(at)
    return tuple(found)


class PrefixMemory:
    """Hashes histories that grow: of one that begins like a known one, only what is new.

    One is remembered for each first message, the newest, and of all together so many atoms. Only
    one thread at a time may use it.
    """

    def __init__(self, most: int = _MOST) -> None:
        """Begin with nothing; `most` bounds the atoms that are remembered."""
        self._most = self._room = most
        self._known: dict[bytes, tuple[tuple[Atom, ...], tuple[bytes, ...]]] = {}

    def hashes(self, atoms: tuple[Atom, ...]) -> tuple[bytes, ...]:
        """Return what `prefix_hashes` returns."""
        if not atoms:
            return ()
        first = atoms[0].digest
        known, hashes = self._known.pop(first, ((), ()))
        self._room += len(known)
        if known != atoms[: len(known)]:
            known, hashes = (), ()
        if len(known) < len(atoms):
            hashes += prefix_hashes(atoms[len(known) :], hashes[-1] if hashes else b"")
        self._known[first] = atoms, hashes
        self._room -= len(atoms)
        while self._room < 0:
            oldest, _ = self._known.pop(next(iter(self._known)))
            self._room += len(oldest)
        return hashes


def _told(message: Message) -> Iterator[_Told]:
    """Yield what each atom of a message says: words that stand together, or another part."""
    if message.role is Role.SYSTEM:
        return
    words: list[str] = []
    for part in message.parts:
        match part:
            case Text(text) | Summary(text):
                words.append(text)
            case Thinking() | Recalled():
                pass
            case _:
                if words and (said := _folded("\n".join(words))):
                    yield said
                words = []
                yield part
    if words and (said := _folded("\n".join(words))):
        yield said


def _atom_of(message: Message, said: _Told) -> Atom:
    match said:
        case str():
            is_asked = message.role is Role.USER
            return _atom(AtomKind.USER if is_asked else AtomKind.ASSISTANT, said)
        case ToolCall():
            content = f"{said.name} {_arguments(said.arguments)}"
            return _atom(AtomKind.CALL, content, bare_call_id(said.id))
        case ToolResult():
            return _atom(AtomKind.RESULT, _folded(said.text), bare_call_id(said.call_id))
        case Media():
            return _atom(AtomKind.OTHER, f"{said.kind} {said.data or said.url}")
        case Opaque():
            return _atom(AtomKind.OTHER, json.dumps(said.value, sort_keys=True, default=str))
        case _:
            assert_never(said)


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
