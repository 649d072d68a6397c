"""A lineage is a tree whose nodes stand below the session they came from."""

from holdfast.session import Fork, Session
from holdfast.views.timeline import LineageNode, LineageTree


def session(id_: str, parent: str | None = None, started: int = 0) -> Session:
    fork = Fork.BRANCH if parent else None
    return Session(id=id_, source="cli", started=started, parent=parent, fork=fork)


def test_children_stand_below_their_parent_oldest_first() -> None:
    sessions = (session("a"), session("c", "a", 2), session("b", "a", 1), session("d", "b", 3))
    nodes = {each.id: LineageNode(each) for each in sessions}
    tree = LineageTree("a", "a", tuple(nodes.values()))
    assert tree.children() == {
        "": [nodes["a"]],
        "a": [nodes["b"], nodes["c"]],
        "b": [nodes["d"]],
    }


def test_a_session_whose_parent_is_gone_is_a_root() -> None:
    node = LineageNode(session("b", "gone"))
    assert LineageTree("b", "b", (node,)).children() == {"": [node]}


def test_a_tree_is_plain_json() -> None:
    tree = LineageTree("a", "b", (LineageNode(session("a")),), early=(session("c"),)).as_json()
    assert (tree["session"], tree["leaf"], tree["belongs_to"]) == ("a", "b", None)
    assert tree["imported_before"] == ["c"]
