"""Decides where in the tree of messages a request goes on, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.recognition.atoms import ANSWERS, AtomKind, prefix_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.request import WireRequest
    from holdfast.recognition.tree import Node, Tree

__all__ = ["Continuity", "Recognition", "recognize"]

_LEAST_CALLS = 2
"""Calls that must be known again before a changed history is taken for an old one."""


class Continuity(StrEnum):
    """How a request goes on with what was said before."""

    ROOT = "root"
    EXTENDS = "extends"
    RETRY = "retry"
    BRANCH = "branch"
    REVISION = "revision"
    SIDE = "side call"


@dataclass(frozen=True, slots=True)
class Recognition:
    """Where a request belongs."""

    how: Continuity
    why: str
    """A sentence for whoever asks for the reason."""
    prefixes: tuple[bytes, ...]
    node: Node | None = None
    """The last message that is known; None at a root."""
    known: int = 0
    """How many atoms of the request are known."""
    follows: str = ""
    """The session that a new root goes on with, after a client compacted by itself."""


def recognize(request: WireRequest, tree: Tree) -> Recognition:
    """Find the node of the tree that a request extends.

    Content decides; ids only tell conversations with the same content apart.
    """
    prefixes = prefix_hashes(request.atoms)
    key = request.identity.key
    found = tree.longest(prefixes, key)
    is_fork = False
    if key and not (found and _has_answer(request.atoms[: found[0]])):
        # Sessions may begin with the same words; an answer in common shows that one came from
        # the other.
        others = tree.longest(prefixes, "")
        if others and _has_answer(request.atoms[: others[0]]):
            found, is_fork = others, True
    if side := _side(request, tree, found):
        node, known = (found[1], found[0]) if found else (None, 0)
        return Recognition(Continuity.SIDE, side, prefixes, node, known)
    if found and found[0] == len(request.atoms):
        how = Continuity.BRANCH if is_fork else Continuity.RETRY
        why = "another session begins with all of it" if is_fork else "all of it is known"
        return Recognition(how, why, prefixes, found[1], found[0])
    changed = _changed(request, tree, found, prefixes)
    if changed is None and found and not _has_answer(request.atoms[: found[0]]):
        # A beginning without an answer is nobody's: calls that are known elsewhere tell more.
        elsewhere = _changed(request, tree, None, prefixes)
        is_told = elsewhere is not None and elsewhere.how is Continuity.REVISION
        changed = elsewhere if is_told else None
    return changed or _onward(request, tree, found, prefixes, is_fork=is_fork)


def _has_answer(atoms: Sequence[Atom]) -> bool:
    return any(atom.kind in ANSWERS for atom in atoms)


def _side(request: WireRequest, tree: Tree, found: tuple[int, Node] | None) -> str:
    if request.side:
        return f"it says that it is a {request.side}"
    if request.has_tools:
        return ""
    key = request.identity.key
    session = found[1].session if found else key and tree.session_of(key)
    if session and tree.has_tools(session):
        wanted = "follows a schema" if request.has_schema else "has no tools"
        return f"it {wanted}, and the conversation has tools"
    return ""


def _changed(
    request: WireRequest, tree: Tree, found: tuple[int, Node] | None, prefixes: tuple[bytes, ...]
) -> Recognition | None:
    """Look whether calls after the last known message are known again."""
    start = found[0] if found else 0
    later = [
        place
        for place, atom in enumerate(request.atoms)
        if place >= start and atom.kind is AtomKind.RESULT and atom.call
    ]
    for place in reversed(later):
        for node in tree.called(request.atoms[place].call):
            if found and not _is_below(tree, node, found[1]):
                continue
            if request.identity.key and not tree.was_seen(node.id, request.identity.key):
                continue
            stored = list(_calls_to(tree, node))
            asked = [
                atom.call
                for atom in request.atoms[: place + 1]
                if atom.kind is AtomKind.RESULT and atom.call
            ]
            if stored == asked and len([each for each in later if each <= place]) >= _LEAST_CALLS:
                why = f"message {request.places[start]} is told otherwise, later calls are the same"
                return Recognition(Continuity.REVISION, why, prefixes, node, place + 1)
            if not found and set(stored) & set(asked):
                why = "its client compacted: only the last calls are known"
                return Recognition(Continuity.ROOT, why, prefixes, follows=node.session)
            return None
    return None


def _calls_to(tree: Tree, node: Node) -> Iterator[str]:
    path: list[str] = []
    at: Node | None = node
    while at is not None:
        if at.atom.kind is AtomKind.RESULT and at.atom.call:
            path.append(at.atom.call)
        at = None if at.parent is None else tree.node(at.parent)
    yield from reversed(path)


def _is_below(tree: Tree, node: Node, ancestor: Node) -> bool:
    at = node
    while at.depth > ancestor.depth and at.parent is not None:
        at = tree.node(at.parent)
    return at.id == ancestor.id


def _onward(
    request: WireRequest,
    tree: Tree,
    found: tuple[int, Node] | None,
    prefixes: tuple[bytes, ...],
    *,
    is_fork: bool,
) -> Recognition:
    key = request.identity.key
    if found is None:
        follows = tree.session_of(key) if key else ""
        why = "nothing of it is known"
        if follows:
            why += ", but its session is: the client began anew"
        return Recognition(Continuity.ROOT, why, prefixes, follows=follows)
    known, node = found
    if is_fork:
        why = "another session has the same beginning"
        return Recognition(Continuity.BRANCH, why, prefixes, node, known)
    after = tree.children(node.id, key)
    if not after:
        return Recognition(Continuity.EXTENDS, "it goes on at the end", prefixes, node, known)
    is_moved = request.atoms[known].kind is not AtomKind.USER and all(
        each.atom.kind is AtomKind.USER and not tree.children(each.id, "") for each in after
    )
    if is_moved:
        why = "it goes on at the end; the last words of the user were moved"
        return Recognition(Continuity.EXTENDS, why, prefixes, node, known)
    if not _has_answer(request.atoms[:known]):
        why = "another conversation begins with the same words"
        return Recognition(Continuity.ROOT, why, prefixes, node, known)
    why = f"it goes another way after message {request.places[known - 1]}"
    return Recognition(Continuity.BRANCH, why, prefixes, node, known)
