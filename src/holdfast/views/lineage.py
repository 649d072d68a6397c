"""The tree of the sessions that came from one another, with what became of their windows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from holdfast.session import latest_leaf
from holdfast.transfer import stated_parent, unlinked_children
from holdfast.views.sessions import compaction_fields, session_fields
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Session, View
    from holdfast.transfer import StatedParent

__all__ = ["LineageNode", "LineageTree", "lineage_tree", "parent_words"]


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A session with what became of its window."""

    session: Session
    views: tuple[View, ...] = ()
    compactions: tuple[CompactionRecord, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the session and its windows as plain JSON values."""
        passes = {each.after: compaction_fields(each) for each in self.compactions}
        return {
            **session_fields(self.session),
            "views": [
                {
                    "id": view.id,
                    "parent": view.parent,
                    "cause": str(view.cause),
                    "at": iso_time(view.at),
                    "compaction": passes.get(view.id),
                }
                for view in self.views
            ],
        }


@dataclass(frozen=True, slots=True)
class LineageTree:
    """All sessions of a lineage, seen from one of them."""

    session: str
    leaf: str
    """The session in which it goes on."""
    nodes: tuple[LineageNode, ...]
    elder: StatedParent | None = None
    """What the tree belongs to, where the files alone say so."""
    early: tuple[Session, ...] = ()
    """What belongs to the tree and was imported before it."""

    def children(self) -> dict[str, list[LineageNode]]:
        """Return the nodes by their parents, oldest first; those without one under `""`."""
        known = {node.session.id for node in self.nodes}
        found: dict[str, list[LineageNode]] = {}
        # Forks that copied their beginning are of one age, and may have been imported in any order.
        for node in sorted(self.nodes, key=lambda each: (each.session.started, each.session.id)):
            parent = node.session.parent or ""
            found.setdefault(parent if parent in known else "", []).append(node)
        return found

    def as_json(self) -> dict[str, object]:
        """Return the tree as plain JSON values."""
        return {
            "session": self.session,
            "leaf": self.leaf,
            "sessions": [each.as_json() for each in self.nodes],
            "belongs_to": None if self.elder is None else asdict(self.elder),
            "imported_before": [each.id for each in self.early],
        }


def lineage_tree(store: Store, session: Session, *, views: bool) -> LineageTree:
    """Return the lineage of a session.

    Args:
        store: Where it is kept.
        session: The session from which it is looked at.
        views: Whether compactions and rewinds are read as well.
    """
    lineage = store.lineage(session.id)
    return LineageTree(
        session=session.id,
        leaf=latest_leaf(lineage, session.id).id,
        nodes=tuple(
            LineageNode(each, store.views(each.id), store.compactions(each.id))
            if views
            else LineageNode(each)
            for each in lineage
        ),
        elder=stated_parent(store, lineage[0]),
        early=tuple(unlinked_children(store, lineage[0])),
    )


def parent_words(elder: StatedParent) -> str:
    """Return in words what a session came from that was imported before it."""
    if elder.session is None:
        return f"{elder.name}, which was not imported (by {elder.fork})"
    return f"{elder.session}, which was imported later (by {elder.fork})"
