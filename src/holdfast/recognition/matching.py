"""Decides where in the tree of messages a request goes on, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from holdfast.recognition.atoms import ANSWERS, AtomKind, is_telling, prefix_hashes, token_of
from holdfast.recognition.tree import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.request import WireRequest
    from holdfast.recognition.tree import Node, Tree

_T = TypeVar("_T")

_SIDES = {
    "compaction": "it asks for a summary of the conversation",
    "count": "it asks how many tokens there are",
    "prewarm": "it warms the provider's cache and wants no answer",
    "title": "it asks for a title",
}
_LEAST_CALLS = 2
"""Calls that must be known again before a changed history is taken for an old one."""
_MOST_PATHS = 32
"""Ways through the tree that are compared with a history whose calls are known, the newest first:
a client could send calls that are known in many."""


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
    is_renamed: bool = False
    """Whether its calls have other ids."""
    compacted: Node | None = None
    """The last known call of a history that is left out otherwise."""


def recognize(
    request: WireRequest,
    tree: Tree,
    hashes: Callable[[tuple[Atom, ...]], tuple[bytes, ...]] = prefix_hashes,
) -> Recognition:
    """Find the node of the tree that a request extends.

    Content decides; ids only tell conversations with the same content apart.

    Args:
        request: What was asked.
        tree: What was said before.
        hashes: Does what `prefix_hashes` does, for whoever remembers some.
    """
    prefixes, tree = hashes(request.atoms), remembered(tree)
    place = _changed(request, tree, _known(request, tree, prefixes))
    if side := _side(request, tree, place):
        node = place.nodes[0] if place.nodes else place.compacted
        return Recognition(Continuity.SIDE, side, prefixes, node, place.known)
    if request.trouble:
        return Recognition(Continuity.SIDE, request.trouble, prefixes)
    if place.compacted:
        why = "its client compacted: only the last calls are known"
        follows, key = place.compacted.session, request.identity.key
        if key and tree.envelope(follows).identity != key:
            follows = tree.session_of(key) or follows
        return Recognition(Continuity.ROOT, why, prefixes, follows=follows)
    found = _onward(request, tree, place, prefixes)
    if found is None and request.identity.key and not place.is_fork:
        found = _onward(request, tree, _renamed(request, tree, place), prefixes)
    return found or _begun(request, tree, place, prefixes)


def _has_answer(atoms: Sequence[Atom], known: int) -> bool:
    """Say whether an answer is among the first atoms; words before another call are half of one."""
    if known < len(atoms) and atoms[known].kind is AtomKind.CALL:
        while known and atoms[known - 1].kind is AtomKind.ASSISTANT:
            known -= 1
    return any(atom.kind in ANSWERS for atom in atoms[:known])


def _known(request: WireRequest, tree: Tree, prefixes: tuple[bytes, ...]) -> _Place:
    """Find the longest beginning of a request that is known."""
    key = request.identity.key
    known, nodes = tree.longest(prefixes, key) or (0, ())
    is_fork = False
    is_own = any(_is_answered(request, tree, known, each) for each in _sessions(tree, nodes, key))
    if key and not is_own and not _has_answer(request.atoms, known):
        # Sessions may begin with the same words; an answer in common shows that one came from
        # the other.
        count, others = tree.longest(prefixes, "") or (0, ())
        if not _has_answer(request.atoms, count):
            calls = {each for each in _answer(request, count) if is_telling(each)}
            others = [
                node
                for node in others
                if any(
                    not calls.isdisjoint(tree.issued(each)) for each in _sessions(tree, [node], "")
                )
            ]
        is_fork = bool(others)
        known, nodes = (count, others) if is_fork else (known, nodes)
    walked = [_walked(request, tree, known, node, "" if is_fork else key) for node in nodes]
    return _farthest(walked, is_fork=is_fork)


def _farthest(walked: Sequence[tuple[int, Sequence[Node]]], *, is_fork: bool = False) -> _Place:
    known = max((count for count, _ in walked), default=0)
    return _Place(
        known, [node for count, each in walked if count == known for node in each], is_fork
    )


def _renamed(request: WireRequest, tree: Tree, place: _Place) -> _Place:
    """Follow what a session said, whatever ids it gives to its calls now."""
    key = request.identity.key
    walked = [
        _walked(request, tree, place.known, node, key, is_renamed=True) for node in place.nodes
    ]
    return replace(_farthest(walked), is_renamed=True)


def _sessions(tree: Tree, nodes: Sequence[Node], key: str) -> Iterator[str]:
    """Yield the sessions that ended at nodes, or with words of the user after them."""
    for node in nodes:
        for path in ([node], *_tails(tree, node, AtomKind.USER, key)):
            yield from tree.ends_at(path[-1].id, key)


def _answer(request: WireRequest, known: int) -> set[str]:
    """Return what the answer that follows what is known can be told by."""
    answer = takewhile(lambda atom: atom.kind in ANSWERS, request.atoms[known:])
    return {token_of(atom) for atom in answer}


def _walked(
    request: WireRequest, tree: Tree, known: int, node: Node, key: str, *, is_renamed: bool = False
) -> tuple[int, Sequence[Node]]:
    """Follow what is said after a node, where it was reached by other words."""
    nodes = [node]
    for atom in request.atoms[known:]:
        same = [
            child
            for child in _children(tree, nodes[0], key)
            if child.atom.digest == atom.digest and (is_renamed or child.atom.call == atom.call)
        ]
        if not same:
            break
        nodes, known = same, known + 1
    return known, nodes


def _children(tree: Tree, node: Node, key: str) -> Sequence[Node]:
    return () if node.is_leaf else tree.children(node.id, key)


def _changed(request: WireRequest, tree: Tree, place: _Place) -> _Place:
    """Look whether calls after the last known message are known again."""
    atoms, start, key = request.atoms, place.known, request.identity.key
    # Other results of the calls at the end are another way to go on, not an old message.
    group = takewhile(lambda atom: atom.kind is AtomKind.RESULT, atoms[start:])
    later = [
        at
        for at in range(start + len([*group]), len(atoms))
        if atoms[at].kind is AtomKind.RESULT and is_telling(atoms[at].call)
    ]
    heard = tree.heard_of({atoms[at].call for at in later}) if later else ()
    if not heard:
        return place
    told, made = _first_places(atoms, start), _first_places([atom.call for atom in atoms])
    tries = 0
    for at in reversed([at for at in later if atoms[at].call in heard]):
        nodes = [
            node for node in tree.called(atoms[at].call) if not key or tree.was_seen(node.id, key)
        ]
        for node in nodes:
            path = [*_path(tree, node)]
            asked = [each.call for each in atoms[: at + 1] if _is_result(each)]
            stored = [each.atom.call for each in reversed(path) if _is_result(each.atom)]
            same = {atoms[each].call for each in later if each <= at}
            same &= {each.atom.call for each in path if told.get(each.atom, at + 1) <= at}
            if stored == asked and len(same) >= _LEAST_CALLS:
                known, ends = _walked(request, tree, at + 1, node, key)
                return _Place(known, ends, changed=start)
            if same and set(stored) - set(asked):
                return _Place(place.known, place.nodes, place.is_fork, compacted=node)
            tries += 1
            if tries >= _MOST_PATHS:
                return place
        call = made[atoms[at].call]
        if call < at and not nodes and not place.nodes and (node := tree.issuer(atoms[call])):
            return _Place(compacted=node)
    return place


def _is_result(atom: Atom) -> bool:
    return atom.kind is AtomKind.RESULT and bool(atom.call)


def _first_places(values: Sequence[_T], start: int = 0) -> dict[_T, int]:
    """Return where each value stands first."""
    return {values[at]: at for at in range(len(values) - 1, start - 1, -1)}


def _path(tree: Tree, node: Node) -> Iterator[Node]:
    """Yield a node and all before it, the last one first."""
    at: Node | None = node
    while at is not None:
        yield at
        at = None if at.parent is None else tree.node(at.parent)


def _side(request: WireRequest, tree: Tree, place: _Place) -> str:
    if request.side:
        return _SIDES.get(request.side, f"it says that it is a {request.side}")
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
    for end, here, back, why in _ends(request, tree, place, prefixes):
        sessions = (
            each
            for each in tree.ends_at(end.id, key)
            if place.is_renamed or _is_answered(request, tree, known - back, each)
        )
        session = next(sessions, "")
        if not session:
            continue
        if request.tools * 2 < tree.envelope(session).tools:
            # A helper that is given the whole history and little to do with it.
            continue
        how = Continuity.EXTENDS
        if is_all and end in place.nodes:
            how, why = Continuity.RETRY, "all of it is known"
        if place.changed >= 0:
            how = Continuity.REVISION
            at = request.places[place.changed]
            why = f"message {at} is told otherwise, later calls are the same"
        return Recognition(how, why, prefixes, here, known - back, session)
    return None if is_all else _retold(request, tree, place, prefixes)


def _is_answered(request: WireRequest, tree: Tree, known: int, session: str) -> bool:
    """Say whether what a request goes on with may be the answer that a session was given.

    Once an answer is in common nobody else has it, and a client may tell the next one otherwise.
    """
    if _has_answer(request.atoms, known):
        return True
    answer, issued = _answer(request, known), tree.issued(session)
    calls = {each for each in answer if is_telling(each)}
    key = request.identity.key
    if calls and issued and (not key or any(map(is_telling, issued))):
        return not calls.isdisjoint(issued)
    if key or ("" not in answer and not answer.isdisjoint(issued)):
        return True
    # The first words alone say nothing: the same client has the same tools, or the same prompt.
    usual = tree.envelope(session)
    is_alike = request.tool_names == usual.tool_names or request.prompt == usual.prompt
    return is_alike and not usual.identity


def _ends(
    request: WireRequest, tree: Tree, place: _Place, prefixes: tuple[bytes, ...]
) -> Iterator[tuple[Node, Node, int, str]]:
    """Yield where the last request of a session may have ended.

    With it go the node to go on from, how many atoms before the last known it is, and the reason.
    """
    on, atoms = "it goes on at the end", request.atoms
    for node in place.nodes:
        yield node, node, 0, on
    new = atoms[place.known :]
    # A request ends in words of the user where these are asked anew.
    is_next = (new[0] if new else atoms[-1]).kind is not AtomKind.USER
    for node in place.nodes:
        for kind in (AtomKind.USER, AtomKind.ASSISTANT):
            for path in _tails(tree, node, kind, "" if place.is_fork else request.identity.key):
                said = [each.atom.digest for each in path]
                is_moved = said == [atom.digest for atom in new[-len(said) :]]
                if kind is AtomKind.USER and (is_next or is_moved):
                    yield path[-1], node, 0, f"{on}; the last words of the user were moved"
                if kind is AtomKind.ASSISTANT and is_next and new:
                    yield path[-1], node, 0, f"{on}; an answer that was cut off is whole"
    answer = [*takewhile(lambda atom: atom.kind in ANSWERS, reversed(atoms[: place.known]))]
    if new and answer:
        # Others may have been given the same answer, or half of it.
        asked = place.known - len(answer)
        count, nodes = tree.longest(prefixes[:asked], request.identity.key) or (0, ())
        for node in nodes if count == asked else ():
            yield node, node, len(answer), f"{on}; others had the same answer"


def _tails(tree: Tree, node: Node, kind: AtomKind, key: str) -> Iterator[list[Node]]:
    """Yield every way on from a node on which only one kind of words was said."""
    for child in _children(tree, node, key):
        if child.atom.kind is kind:
            yield [child]
            yield from ([child, *rest] for rest in _tails(tree, child, kind, key))


def _retold(
    request: WireRequest, tree: Tree, place: _Place, prefixes: tuple[bytes, ...]
) -> Recognition | None:
    """Look whether a session tells its last answers otherwise.

    It is one that names itself, or whose older messages are told otherwise as well.
    """
    session = tree.session_of(request.identity.key) if request.identity.key else ""
    if place.changed >= 0 and place.nodes and not session:
        session = place.nodes[0].session
    tip = tree.tip_of(session) if session and place.nodes else None
    if tip is None:
        return None
    known = {node.id for node in place.nodes}
    path = [*takewhile(lambda each: each.id not in known, _path(tree, tip))]
    words = (AtomKind.USER, AtomKind.ASSISTANT)
    if (
        not path
        or path[-1].parent not in known
        or any(each.atom.kind not in words for each in path)
    ):
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
    if place.nodes and (place.is_fork or _has_answer(request.atoms, place.known)):
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
        why += ", but its session id is: the client began anew"
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
