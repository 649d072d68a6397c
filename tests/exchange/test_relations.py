"""Relations: a child that came first and the session it came from find each other."""

from __future__ import annotations

from holdfast.exchange import Elder, early_children, elder_of
from holdfast.session import Fork
from tests.exchange.taking import begun, opened, take, talk, told

CHILD = [begun("child", parent="native-1", fork=Fork.DELEGATION), told("u9")]


def test_a_child_that_came_first_is_found_from_both_sides() -> None:
    with opened() as store:
        (child,) = take(store, CHILD).sessions
        early = store.session(child)
        assert elder_of(store, early) == Elder("native-1", Fork.DELEGATION, None)
        (parent,) = take(store, talk("u1")).sessions
        assert elder_of(store, early) == Elder("native-1", Fork.DELEGATION, parent)
        assert early_children(store, store.session(parent)) == (early,)
        assert store.session(child).parent is None


def test_a_child_that_came_later_has_its_place_in_the_tree() -> None:
    with opened() as store:
        (parent,) = take(store, talk("u1")).sessions
        (child,) = take(store, CHILD).sessions
        assert elder_of(store, store.session(child)) is None
        assert early_children(store, store.session(parent)) == ()
        assert store.session(child).parent == parent
