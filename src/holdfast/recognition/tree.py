"""The messages of all conversations as a tree, found by the hash of everything before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from holdfast.recognition.atoms import Atom

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree: an atom, and all that was said before it."""

    id: int
    parent: int | None
    depth: int
    """How many atoms there are up to here, this one included."""
    atom: Atom
    session: str
    """The key of the conversation in which it was first said."""
    message: int
    """The id of its message in the store."""
    is_leaf: bool = False
    """Whether nothing was said after it when it was read."""


@dataclass(frozen=True, slots=True)
class SessionEnvelope:
    """What the requests of a session came with."""

    identity: str = ""
    """Who they said to be."""
    tools: int = 0
    """The most tools that one of them offered."""
    has_schema: bool = False
    """Whether one of them asked for an answer by a schema."""
    tool_names: bytes = b""
    """The digest of the names of the last one's tools."""
    prompt: bytes = b""
    """The digest of how the last one's system prompt begins."""


class Tree(Protocol):
    """What recognition reads of the conversations of one tenant."""

    def longest(
        self, prefixes: Sequence[bytes], identity: str
    ) -> tuple[int, Sequence[Node]] | None:
        """Return how many prefixes are known, and the nodes of the longest, the newest first.

        Conversations that begin alike have nodes of their own.

        Args:
            prefixes: The hashes of a request's atoms, in their order.
            identity: Who must have been at the node; nothing for anybody.
        """
        ...

    def heard_of(self, calls: Collection[str]) -> Collection[str]:
        """Return those of some ids of calls that a node or an answer has."""
        ...

    def called(self, call: str) -> Sequence[Node]:
        """Return the nodes that are the result of a call, the newest first."""
        ...

    def node(self, id_: int) -> Node:
        """Return a node."""
        ...

    def children(self, id_: int, identity: str) -> Sequence[Node]:
        """Return what was said after a node, by one identity or by anybody."""
        ...

    def was_seen(self, id_: int, identity: str) -> bool:
        """Say whether an identity was at a node."""
        ...

    def ends_at(self, id_: int, identity: str) -> Sequence[str]:
        """Return the sessions whose last request ended at a node, the newest first.

        With an identity it is those of that identity, or that never told any.
        """
        ...

    def issued(self, session: str) -> Collection[str]:
        """Return the tokens of the answers to the last request of a session."""
        ...

    def issuer(self, call: Atom) -> Node | None:
        """Return the last node of the request whose answer had a call."""
        ...

    def session_of(self, identity: str) -> str:
        """Return the newest session of an identity; nothing for one never seen."""
        ...

    def tip_of(self, session: str) -> Node | None:
        """Return where the last request of a session ended."""
        ...

    def envelope(self, session: str) -> SessionEnvelope:
        """Return what the requests of a session came with."""
        ...


class _Remembered:
    """A tree that is asked each question once."""

    def __init__(self, tree: Tree) -> None:
        self.longest, self.called, self.node = tree.longest, tree.called, tree.node
        self.heard_of, self.issuer, self.tip_of = tree.heard_of, tree.issuer, tree.tip_of
        self.was_seen, self.session_of = tree.was_seen, tree.session_of
        self.children, self.ends_at = _once(tree.children), _once(tree.ends_at)
        self.issued, self.envelope = _once(tree.issued), _once(tree.envelope)


def _once(ask: Callable[..., _Told]) -> Callable[..., _Told]:
    # The decorators of the library take longer to be made than one answer to be read.
    known: dict[object, _Told] = {}

    def asked(*values: object) -> _Told:
        if values not in known:
            known[values] = ask(*values)
        return known[values]

    return asked


def remembered(tree: Tree) -> Tree:
    """Return a tree as it is while one request is looked at: what was read is not read again."""
    return _Remembered(tree)
