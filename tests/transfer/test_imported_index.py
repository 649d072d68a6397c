"""Relations: a session whose parent is not stored says what it came from."""

from __future__ import annotations

from holdfast.session import Fork
from holdfast.transfer import StatedParent, stated_parent, unlinked_children
from tests.transfer.taking import begun, opened, take, talk, told

CHILD = [begun("child", parent="native-1", fork=Fork.DELEGATION), told("u9")]


def test_a_child_whose_parent_is_not_there_knows_its_name() -> None:
    with opened() as store:
        (child,) = take(store, CHILD).sessions
        assert stated_parent(store, store.session(child)) == StatedParent(
            "native-1", Fork.DELEGATION, None
        )


def test_nothing_is_left_to_say_of_sessions_that_were_joined() -> None:
    parent_file = talk("u1")
    for files in ((CHILD, parent_file), (parent_file, CHILD)):
        with opened() as store:
            made = [take(store, each).sessions[0] for each in files]
            parent, child = sorted(
                map(store.session, made), key=lambda each: each.parent is not None
            )
            assert child.parent == parent.id
            assert stated_parent(store, child) is None
            assert unlinked_children(store, parent) == ()
