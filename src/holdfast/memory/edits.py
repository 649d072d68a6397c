"""An edit of a memory file as a value: read from what a model or a person asks, and carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.errors import MemoryRefused
from holdfast.memory.entries import add, plain, remove, replace
from holdfast.memory.notebooks import NOTEBOOKS
from holdfast.memory.screening import screen
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from holdfast.memory.entries import Edition, Entries
    from holdfast.memory.notebooks import Notebook

__all__ = ["Add", "Edit", "Remove", "Replace", "applied", "edit_from"]


@dataclass(frozen=True, slots=True)
class Add:
    """Remember something more."""

    target: str
    content: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Put another entry in the place of one."""

    target: str
    old: str
    content: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Forget an entry."""

    target: str
    old: str


Edit: TypeAlias = Add | Replace | Remove


def edit_from(arguments: Mapping[str, object]) -> Edit:
    """Return the edit that the arguments of the tool ask for.

    Raises:
        MemoryRefused: when they ask for none; the message says what is missing.
    """
    action = arguments.get("action")
    target = arguments.get("target", "memory")
    if not isinstance(target, str) or target not in NOTEBOOKS:
        raise MemoryRefused(f"target is {target!r}; allowed: {', '.join(NOTEBOOKS)}")
    match action:
        case "add":
            return Add(target, _text(arguments, "content", "add"))
        case "replace":
            old = _text(arguments, "old_text", "replace")
            return Replace(target, old, _text(arguments, "content", "replace"))
        case "remove":
            return Remove(target, _text(arguments, "old_text", "remove"))
        case _:
            raise MemoryRefused(f"action is {action!r}; allowed: add, replace, remove")


def applied(
    edit: Edit, entries: Entries, notebook: Notebook, redact: Callable[[str], str]
) -> Edition:
    """Return the entries after an edit.

    What is kept is redacted: a key that was once seen would stand in every prompt from then on.

    Raises:
        MemoryRefused: when the edit is not allowed; the message says why.
    """
    match edit:
        case Add(content=content):
            return add(entries, _checked(content, redact), notebook)
        case Replace(old=old, content=content):
            return replace(entries, old, _checked(content, redact), notebook)
        case Remove(old=old):
            return remove(entries, old, notebook)
        case _:
            assert_never(edit)


def _checked(content: str, redact: Callable[[str], str]) -> str:
    if encodable(content) != content:
        raise MemoryRefused(
            "this is not remembered, because it is not UTF-8 text; nothing was changed, write it "
            "anew"
        )
    # What would be taken out of the middle of a word afterwards cannot hide one before.
    content = plain(content)
    found = screen(content)
    if found:
        first = found[0]
        raise MemoryRefused(
            f"this is not remembered, because it looks like {first.reason}: {first.excerpt!r}; "
            "state the fact in other words"
        )
    return redact(content)


def _text(arguments: Mapping[str, object], name: str, action: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise MemoryRefused(f"{action} needs {name}, a text")
    return value
