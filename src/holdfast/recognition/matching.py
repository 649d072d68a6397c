"""Decides where in the tree of messages a request goes on, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING

from holdfast.recognition.atoms import AtomKind, prefix_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.request import WireRequest
    from holdfast.recognition.tree import Node, Tree

__all__ = ["Continuity", "Recognition", "recognize"]

_ANSWER = (AtomKind.ASSISTANT, AtomKind.CALL)
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
    session: str = ""
    """The session that it goes on with; nothing where it begins one."""
    follows: str = ""
    """The session that a new root goes on with, after a client compacted by itself."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a request is known, and the nodes where that ends."""

    known: int = 0
    nodes: Sequence[Node] = ()
    is_fork: bool = False
    """Whether only other sessions were there."""
    changed: int = -1
    """The first atom that is told otherwise; -1 if none is."""
    compacted: Node | None = None
    """The last known call of a history that is left out otherwise."""


def recognize(request: WireRequest, tree: Tree) -> Recognition:
    """Find the node of the tree that a request extends.

    Content decides; ids only tell conversations with the same content apart.
    """
    prefixes = prefix_hashes(request.atoms)
    place = _changed(request, tree, _known(request, tree, prefixes))
    if side := _side(request, tree, place):
        node = place.nodes[0] if place.nodes else place.compacted
        return Recognition(Continuity.SIDE, side, prefixes, node, place.known)
    if place.compacted:
        why = "its client compacted: only the last calls are known"
        return Recognition(Continuity.ROOT, why, prefixes, follows=place.compacted.session)
    return _onward(request, tree, place, prefixes) or _begun(request, tree, place, prefixes)


def _has_answer(atoms: Sequence[Atom], known: int) -> bool:
    """Say whether an answer is among the first atoms; words before another call are half of one."""
    if known < len(atoms) and atoms[known].kind is AtomKind.CALL:
        while known and atoms[known - 1].kind is AtomKind.ASSISTANT:
            known -= 1
    return any(atom.kind in _ANSWER for atom in atoms[:known])


def _known(request: WireRequest, tree: Tree, prefixes: tuple[bytes, ...]) -> _Place:
    """Find the longest beginning of a request that is known."""
    key = request.identity.key
    known, nodes = tree.longest(prefixes, key) or (0, ())
    is_fork = False
    if key and not _has_answer(request.atoms, known):
        # Sessions may begin with the same words; an answer in common shows that one came from
        # the other.
        others = tree.longest(prefixes, "")
        if others and _has_answer(request.atoms, others[0]):
            (known, nodes), is_fork = others, True
    walked = [_walked(request, tree, known, node, "" if is_fork else key) for node in nodes]
    known = max((count for count, _ in walked), default=0)
    ends = [node for count, each in walked if count == known for node in each]
    return _Place(known, ends, is_fork)


def _walked(
    request: WireRequest, tree: Tree, known: int, node: Node, key: str
) -> tuple[int, Sequence[Node]]:
    """Follow what is said after a node, where it was reached by other words or call ids.

    Only who says to be the same may rename calls; others who do the same work have other ids.
    """
    nodes = [node]
    for atom in request.atoms[known:]:
        same = [
            child
            for child in tree.children(nodes[0].id, key)
            if child.atom.digest == atom.digest
            and (key or not atom.call or not child.atom.call or child.atom.call == atom.call)
        ]
        if not same:
            break
        nodes, known = same, known + 1
    return known, nodes


def _changed(request: WireRequest, tree: Tree, place: _Place) -> _Place:
    """Look whether calls after the last known message are known again."""
    atoms, start, key = request.atoms, place.known, request.identity.key
    # Other results of the calls at the end are another way to go on, not an old message.
    group = takewhile(lambda atom: atom.kind is AtomKind.RESULT, atoms[start:])
    later = [
        at
        for at in range(start + len([*group]), len(atoms))
        if atoms[at].kind is AtomKind.RESULT and atoms[at].call
    ]
    for at in reversed(later):
        nodes = [
            node for node in tree.called(atoms[at].call) if not key or tree.was_seen(node.id, key)
        ]
        asked = [
            atom.call for atom in atoms[: at + 1] if atom.kind is AtomKind.RESULT and atom.call
        ]
        for node in nodes:
            if [*_calls_to(tree, node)] == asked and later.index(at) + 1 >= _LEAST_CALLS:
                known, ends = _walked(request, tree, at + 1, node, key)
                return _Place(known, ends, changed=start)
        if nodes and set(_calls_to(tree, nodes[0])) - set(asked):
            return _Place(place.known, place.nodes, place.is_fork, compacted=nodes[0])
        if nodes:
            break
    return place


def _calls_to(tree: Tree, node: Node) -> Iterator[str]:
    return (
        each.atom.call
        for each in reversed([*_path(tree, node)])
        if each.atom.kind is AtomKind.RESULT and each.atom.call
    )


def _path(tree: Tree, node: Node) -> Iterator[Node]:
    """Yield a node and all before it, the last one first."""
    at: Node | None = node
    while at is not None:
        yield at
        at = None if at.parent is None else tree.node(at.parent)


def _side(request: WireRequest, tree: Tree, place: _Place) -> str:
    if request.side:
        return f"it says that it is a {request.side}"
    key = request.identity.key
    nearest = place.compacted or (place.nodes[0] if place.nodes else None)
    session = nearest.session if nearest else key and tree.session_of(key)
    usual = tree.envelope(session)
    if usual.tools and not request.tools:
        wanted = "follows a schema" if request.has_schema else "has no tools"
        return f"it {wanted}, and the conversation has tools"
    if session and request.has_schema and not usual.has_schema and place.nodes:
        return "its answer follows a schema, and those of the conversation do not"
    return ""


def _onward(
    request: WireRequest, tree: Tree, place: _Place, prefixes: tuple[bytes, ...]
) -> Recognition | None:
    """Look for a session that ended where the request goes on."""
    key, known = request.identity.key, place.known
    is_all = known == len(request.atoms)
    for end, here, back, why in _ends(request, tree, place):
        session = tree.ends_at(end.id, key)
        if not session:
            continue
        if request.tools * 2 < tree.envelope(session).tools:
            # A helper that is given the whole history and little to do with it.
            return None
        how = Continuity.EXTENDS
        if is_all and end in place.nodes:
            how, why = Continuity.RETRY, "all of it is known"
        if place.changed >= 0:
            how = Continuity.REVISION
            at = request.places[place.changed]
            why = f"message {at} is told otherwise, later calls are the same"
        return Recognition(how, why, prefixes, here, known - back, session)
    return None if is_all or not key else _retold(request, tree, place, prefixes)


def _ends(request: WireRequest, tree: Tree, place: _Place) -> Iterator[tuple[Node, Node, int, str]]:
    """Yield where the last request of a session may have ended.

    With it go the node to go on from, how many atoms before the last known it is, and the reason.
    """
    on = "it goes on at the end"
    for node in place.nodes:
        yield node, node, 0, on
    new = request.atoms[place.known :]
    # A request ends in words of the user where these are asked anew.
    is_next = (new[0] if new else request.atoms[-1]).kind is not AtomKind.USER
    for node in place.nodes:
        for kind in (AtomKind.USER, AtomKind.ASSISTANT):
            for path in _tails(tree, node, kind, "" if place.is_fork else request.identity.key):
                said = [each.atom.digest for each in path]
                is_moved = said == [atom.digest for atom in new[-len(said) :]]
                if kind is AtomKind.USER and (is_next or is_moved):
                    yield path[-1], node, 0, f"{on}; the last words of the user were moved"
                if kind is AtomKind.ASSISTANT and is_next and new:
                    yield path[-1], node, 0, f"{on}; an answer that was cut off is whole"
    for node in place.nodes if new else ():
        answer = [*takewhile(lambda each: each.atom.kind in _ANSWER, _path(tree, node))]
        if answer and answer[-1].parent is not None:
            asked = tree.node(answer[-1].parent)
            yield asked, asked, len(answer), f"{on}; a branch has the same answer"


def _tails(tree: Tree, node: Node, kind: AtomKind, key: str) -> Iterator[list[Node]]:
    """Yield every way on from a node on which only one kind of words was said."""
    for child in tree.children(node.id, key):
        if child.atom.kind is kind:
            yield [child]
            yield from ([child, *rest] for rest in _tails(tree, child, kind, key))


def _retold(
    request: WireRequest, tree: Tree, place: _Place, prefixes: tuple[bytes, ...]
) -> Recognition | None:
    """Look whether a session that names itself tells its last answers otherwise."""
    session = tree.session_of(request.identity.key)
    tip = tree.tip_of(session) if session else None
    if tip is None or not place.nodes:
        return None
    known = {node.id for node in place.nodes}
    path = [*takewhile(lambda each: each.id not in known, _path(tree, tip))]
    words = (AtomKind.USER, AtomKind.ASSISTANT)
    if path[-1].parent not in known or any(each.atom.kind not in words for each in path):
        return None
    asked = [each.atom.digest for each in reversed(path) if each.atom.kind is AtomKind.USER]
    rest = iter(atom.digest for atom in request.atoms[place.known :])
    if not asked or not all(digest in rest for digest in asked):
        return None
    why = f"message {request.places[place.known]} is told otherwise, what was asked is the same"
    return Recognition(Continuity.REVISION, why, prefixes, place.nodes[0], place.known, session)


def _begun(
    request: WireRequest, tree: Tree, place: _Place, prefixes: tuple[bytes, ...]
) -> Recognition:
    """Say what a request begins that goes on with no session."""
    if place.nodes and _has_answer(request.atoms, place.known):
        known, node = _whole(request, tree, place)
        why = f"it goes another way after message {request.places[known - 1]}"
        if place.is_fork:
            why = "another session has the same beginning"
        return Recognition(Continuity.BRANCH, why, prefixes, node, known)
    why = "another conversation begins with the same words"
    if not place.nodes:
        why = "nothing of it is known"
    key = request.identity.key
    follows = tree.session_of(key) if key else ""
    if follows and bool(tree.envelope(follows).tools) is bool(request.tools):
        why += ", but its session is: the client began anew"
    else:
        follows = ""
    return Recognition(Continuity.ROOT, why, prefixes, follows=follows)


def _whole(request: WireRequest, tree: Tree, place: _Place) -> tuple[int, Node]:
    """Go back to the end of a message, on either side: a branch begins with a whole one."""
    known, node = place.known, place.nodes[0]
    places = request.places
    while node.parent is not None and (
        places[known - 1 : known] == places[known : known + 1]
        or any(
            child.message == node.message and child.session == node.session
            for child in tree.children(node.id, "")
        )
    ):
        known, node = known - 1, tree.node(node.parent)
    return known, node
