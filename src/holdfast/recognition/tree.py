"""The messages of all conversations as a tree, found by the hash of everything before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.recognition.atoms import Atom

__all__ = ["Node", "Tree"]


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


class Tree(Protocol):
    """What recognition reads of the conversations of one tenant."""

    def longest(self, prefixes: Sequence[bytes], identity: str) -> tuple[int, Node] | None:
        """Return how many prefixes are known, and the node of the longest.

        Args:
            prefixes: The hashes of a request's atoms, in their order.
            identity: Who must have been at the node; nothing for anybody.
        """
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

    def session_of(self, identity: str) -> str:
        """Return the newest session of an identity; nothing for one never seen."""
        ...

    def has_tools(self, session: str) -> bool:
        """Say whether a session was ever given tools."""
        ...
