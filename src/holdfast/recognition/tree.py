"""The messages of all conversations as a tree, found by the hash of everything before them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest

__all__ = ["MemoryTree", "Node", "Tree"]


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree: an atom, and all that was said before it."""

    id: int
    parent: int | None
    depth: int
    """How many atoms there are up to here, this one included."""
    atom: Atom
    conversation: str
    """The conversation in which it was first said."""


class Tree(Protocol):
    """What recognition reads of the conversations of one tenant."""

    def longest(self, prefixes: Sequence[bytes], key: str | None) -> tuple[int, Node] | None:
        """Return how many prefixes are known, and the node of the longest.

        Args:
            prefixes: The hashes of a request's atoms, in their order.
            key: The identity that must have been seen at the node; None for any.
        """
        ...

    def called(self, call: str) -> Sequence[Node]:
        """Return the nodes that are the result of a call, the newest first."""
        ...

    def node(self, id_: int) -> Node:
        """Return a node."""
        ...

    def children(self, id_: int) -> Sequence[Node]:
        """Return what was said after a node."""
        ...

    def was_seen(self, id_: int, key: str) -> bool:
        """Say whether an identity was at a node."""
        ...

    def conversation_of(self, key: str) -> str:
        """Return the newest conversation of an identity; nothing for one never seen."""
        ...

    def has_tools(self, conversation: str) -> bool:
        """Say whether a conversation was ever given tools."""
        ...


@dataclass(slots=True)
class MemoryTree:
    """The tree in memory."""

    nodes: list[Node] = field(default_factory=list[Node])
    _by_prefix: dict[bytes, list[int]] = field(default_factory=dict[bytes, list[int]])
    _keys: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    _by_call: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _children: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _newest: dict[str, str] = field(default_factory=dict[str, str])
    _tools: set[str] = field(default_factory=set[str])

    def longest(self, prefixes: Sequence[bytes], key: str | None) -> tuple[int, Node] | None:
        """Return how many prefixes are known, and the node of the longest."""
        for count in range(len(prefixes), 0, -1):
            for id_ in self._by_prefix.get(prefixes[count - 1], ()):
                if key is None or key in self._keys[id_]:
                    return count, self.nodes[id_]
        return None

    def called(self, call: str) -> Sequence[Node]:
        """Return the nodes that are the result of a call, the newest first."""
        return [self.nodes[id_] for id_ in reversed(self._by_call.get(call, ()))]

    def node(self, id_: int) -> Node:
        """Return a node."""
        return self.nodes[id_]

    def children(self, id_: int) -> Sequence[Node]:
        """Return what was said after a node."""
        return [self.nodes[each] for each in self._children.get(id_, ())]

    def was_seen(self, id_: int, key: str) -> bool:
        """Say whether an identity was at a node."""
        return key in self._keys[id_]

    def conversation_of(self, key: str) -> str:
        """Return the newest conversation of an identity."""
        return self._newest.get(key, "")

    def has_tools(self, conversation: str) -> bool:
        """Say whether a conversation was ever given tools."""
        return conversation in self._tools

    def record(self, request: WireRequest, recognition: Recognition, new: str) -> str:
        """Take in what is new in a request; return its conversation, `new` for another one.

        A changed history is known by its own words from then on.
        """
        key, node = request.identity.key, recognition.node
        if recognition.how == "side call":
            # Nothing goes on from it, and what looks like it is a side call again.
            return new
        goes_on = recognition.how in ("extends", "retry", "revision")
        conversation = node.conversation if goes_on and node else new
        if goes_on and node and key and (own := self._newest.get(key)):
            conversation = own
        at = node
        if node is not None and recognition.known:
            ids = self._by_prefix.setdefault(recognition.prefixes[recognition.known - 1], [])
            if node.id not in ids:
                ids.append(node.id)
        for place in range(recognition.known, len(request.atoms)):
            at = self._added(at, request.atoms[place], recognition.prefixes[place], conversation)
        self._see(at, key)
        self._newest[key] = conversation
        if request.has_tools:
            self._tools.add(conversation)
        return conversation

    def _added(self, at: Node | None, atom: Atom, prefix: bytes, conversation: str) -> Node:
        ids = self._by_prefix.setdefault(prefix, [])
        parent = None if at is None else at.id
        for id_ in ids:
            if self.nodes[id_].parent == parent:
                return self.nodes[id_]
        node = Node(len(self.nodes), parent, 1 if at is None else at.depth + 1, atom, conversation)
        self.nodes.append(node)
        ids.append(node.id)
        if parent is not None:
            self._children[parent].append(node.id)
        if atom.kind == "result" and atom.call:
            self._by_call[atom.call].append(node.id)
        return node

    def _see(self, at: Node | None, key: str) -> None:
        while at is not None and key not in self._keys[at.id]:
            self._keys[at.id].add(key)
            at = None if at.parent is None else self.nodes[at.parent]
