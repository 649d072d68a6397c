"""What a store must do when one session comes from another: everything in one step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.ports import Amendment, Capability, Listing
from holdfast.session import (
    Cause,
    EndReason,
    Fork,
    Session,
    Span,
    Spawn,
    latest_leaf,
)
from holdfast.testing.store_case import (
    FIRST,
    SECOND,
    StoreCase,
    cases_of,
    drafts,
    refused,
    rotation,
    said,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LineageCases"]

_THIRD = "20261116_090000_00000c"
_FOURTH = "20261116_090000_00000d"


@cases_of(Capability.LOG)
class LineageCases(StoreCase):
    """Lineage: branches share what was said, rotations hand over, failures leave no trace."""

    def test_a_branch_shares_what_was_said_before_it(self, tmp_path: Path) -> None:
        """By reference; afterwards both go their own ways."""
        with self.opened(tmp_path) as store:
            a, b, _ = store.append(FIRST, drafts("a", "b", "c"))
            child = store.spawn(Spawn(child=_branch(SECOND, FIRST), shows=(a, b)))
            assert (child.parent, child.root, child.fork) == (FIRST, FIRST, Fork.BRANCH)
            assert store.window(SECOND).entries == (a, b)
            assert child.size == 0
            store.append(FIRST, drafts("d"))
            store.append(SECOND, drafts("e"))
            assert texts(store.window(FIRST).entries) == ["a", "b", "c", "d"]
            assert texts(store.window(SECOND).entries) == ["a", "b", "e"]
            (view,) = store.views(SECOND)
            assert (view.cause, view.spans) == (Cause.FORK, (Span(FIRST, 1, 2),))
            assert (view.parent, view.upto, store.tip(SECOND)) == (None, 0, view.id)

    def test_a_branch_of_a_branch_knows_its_root(self, tmp_path: Path) -> None:
        """And shows what its grandparent said."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            for child, parent in ((SECOND, FIRST), (_THIRD, SECOND)):
                shows = store.window(parent).entries
                store.spawn(Spawn(child=_branch(child, parent), shows=shows))
                store.append(child, drafts(child[-1]))
            assert texts(store.window(_THIRD).entries) == ["a", "b", "c"]
            assert [session.id for session in store.lineage(SECOND)] == [FIRST, SECOND, _THIRD]
            assert {session.root for session in store.lineage(_THIRD)} == {FIRST}
            self.compact(store, _THIRD, [said("s"), *store.window(_THIRD).entries[1:]])
            assert texts(store.window(_THIRD).entries) == ["s", "b", "c"]

    def test_a_key_goes_where_the_conversation_goes_on(self, tmp_path: Path) -> None:
        """A rotation hands it over; a branch beside a session that lives on leaves it."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            store.amend(FIRST, Amendment(key="mine"))
            branch = store.spawn(Spawn(child=_branch(_THIRD, FIRST)))
            assert (branch.key, store.session(FIRST).key) == (None, "mine")
            window = store.window(FIRST)
            child = store.spawn(rotation(window, self.change(window, [said("s")])))
            assert (child.key, store.session(FIRST).key) == ("mine", None)
            assert store.keyed("mine") == child
            own = replace(_branch(_FOURTH, SECOND), key="its own")
            with refused(Conflict, "mine"):
                store.spawn(Spawn(child=replace(own, key="mine")))
            other = store.spawn(Spawn(child=own, parent_end=EndReason.BRANCHED))
            assert (other.key, store.session(SECOND).key) == ("its own", "mine")
            last = replace(_branch("last", _FOURTH), key="its own")
            assert store.spawn(Spawn(child=last, parent_end=EndReason.RESET)).key == "its own"
            assert store.session(_FOURTH).key is None

    def test_a_child_may_begin_empty(self, tmp_path: Path) -> None:
        """As after a reset, or with a sub-agent."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            child = replace(_branch(SECOND, FIRST), fork=Fork.DELEGATION)
            store.spawn(Spawn(child=child))
            assert store.window(SECOND).entries == ()
            assert store.views(SECOND) == ()
            assert store.session(FIRST).is_live

    def test_the_goal_goes_with_the_conversation(self, tmp_path: Path) -> None:
        """Unless the child has one of its own; pins go too."""
        with self.opened(tmp_path) as store:
            (a,) = store.append(FIRST, drafts("a"))
            store.amend(FIRST, Amendment(goal="ship it"))
            store.pin(FIRST, a.id, pinned=True)
            child = store.spawn(Spawn(child=_branch(SECOND, FIRST), shows=(a,)))
            own = store.spawn(Spawn(child=replace(_branch(_THIRD, FIRST), goal="rest")))
            assert (child.goal, own.goal) == ("ship it", "rest")
            assert store.pins(SECOND) == frozenset({a.id})

    def test_a_rotation_hands_over(self, tmp_path: Path) -> None:
        """The parent ends, the child shows the compacted window, and undo shows the whole one."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            window = store.window(FIRST)
            change = self.change(window, [said("s"), window.entries[1]])
            store.append(FIRST, drafts("meanwhile"))
            child = store.spawn(rotation(window, change))
            parent = store.session(FIRST)
            assert (parent.ended, parent.end_reason) == (8_000, EndReason.COMPRESSION)
            assert texts(store.window(SECOND).entries) == ["s", "b", "meanwhile"]
            assert (child.generation, child.size, child.is_live) == (1, 1, True)
            fork, compaction = store.views(SECOND)
            assert (fork.cause, compaction.cause) == (Cause.FORK, Cause.COMPACTION)
            assert compaction.parent == fork.id
            (record,) = store.compactions(SECOND)
            assert (record.before, record.after) == (fork.id, compaction.id)
            store.append(SECOND, drafts("on"))
            store.move(SECOND, fork.id, 1)
            assert texts(store.window(SECOND).entries) == ["a", "b", "meanwhile", "on"]
            assert latest_leaf(store.lineage(FIRST), FIRST).id == SECOND

    def test_what_is_said_to_a_session_that_moved_on_says_where(self, tmp_path: Path) -> None:
        """So that a caller can follow."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            store.spawn(rotation(window, self.change(window, [said("s")])))
            with refused(SessionEnded, SECOND):
                store.append(FIRST, drafts("late"))

    def test_one_of_two_rotations_wins(self, tmp_path: Path) -> None:
        """There is one live leaf afterwards."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            change = self.change(window, [said("s")])
            store.spawn(rotation(window, change))
            for generation in (0, None):
                late = replace(rotation(window, change, _THIRD), generation=generation)
                with refused(SessionEnded):
                    store.spawn(late)
            assert [session.id for session in store.lineage(FIRST)] == [FIRST, SECOND]

    def test_a_rotation_from_an_old_window_conflicts(self, tmp_path: Path) -> None:
        """Nothing was written then."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            self.compact(store, FIRST, [said("other")])
            with refused(Conflict):
                store.spawn(rotation(window, self.change(window, [said("s")])))
            assert store.session(FIRST).is_live
            with refused(UnknownSession):
                store.session(SECOND)

    def test_a_failure_before_the_end_undoes_everything(self, tmp_path: Path) -> None:
        """The parent lives, the child is not there, and the caller sees its own error."""

        def fail_with(failure: BaseException) -> None:
            raise failure

        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            spawn = rotation(window, self.change(window, [said("s")]))
            before = store.session(FIRST)
            for failure in (OverflowError("switch"), KeyboardInterrupt(), StoreError()):
                with refused(type(failure)) as raised:
                    store.spawn(spawn, partial(fail_with, failure))
                assert raised == [failure]
                assert store.session(FIRST) == before
                assert store.sessions(Listing()) == (before,)
                assert store.window(FIRST) == window
            seen: list[str] = []
            store.spawn(spawn, lambda: seen.append("called"))
            assert seen == ["called"]
            assert texts(store.window(SECOND).entries) == ["s"]

    def test_nothing_is_seen_of_a_child_before_the_end(self, tmp_path: Path) -> None:
        """Other readers see the parent live until everything is final."""
        with self.opened(tmp_path) as store:
            seen: list[bool] = []
            spawn = Spawn(child=_branch(SECOND, FIRST), parent_end=EndReason.BRANCHED)
            store.spawn(spawn, lambda: seen.append(store.session(FIRST).is_live))
            assert seen == [True]
            assert not store.session(FIRST).is_live

    def test_a_session_may_be_found_to_come_from_another(self, tmp_path: Path) -> None:
        """Once, and whatever came from it goes along; what was said stays where it is."""
        with self.opened(tmp_path) as store:
            for id_ in (SECOND, _THIRD):
                store.create(Session(id=id_, source="cli", started=3_000, goal=id_))
            (a,) = store.append(SECOND, drafts("a"))
            store.spawn(Spawn(child=_branch(_FOURTH, SECOND), shows=(a,)))
            found = store.amend(SECOND, Amendment(parent=FIRST, fork=Fork.DELEGATION))
            assert (found.parent, found.fork, found.root) == (FIRST, Fork.DELEGATION, FIRST)
            assert found == store.session(SECOND)
            assert (found.size, found.generation, found.goal) == (1, 0, SECOND)
            child = store.session(_FOURTH)
            assert (child.parent, child.root, child.fork) == (SECOND, FIRST, Fork.BRANCH)
            assert [each.id for each in store.lineage(_FOURTH)] == [FIRST, SECOND, _FOURTH]
            assert [each.id for each in store.lineage(_THIRD)] == [_THIRD]
            assert texts(store.window(SECOND).entries) == ["a"]
            with refused(Conflict, SECOND):
                store.amend(SECOND, Amendment(parent=_THIRD, fork=Fork.BRANCH, title="other"))
            assert store.session(SECOND) == found

    def test_the_root_of_a_lineage_comes_first(self, tmp_path: Path) -> None:
        """Though another that was found to come from it began earlier."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=500))
            store.amend(SECOND, Amendment(parent=FIRST, fork=Fork.BRANCH))
            assert [each.id for each in store.lineage(SECOND)] == [FIRST, SECOND]

    def test_no_session_comes_from_itself(self, tmp_path: Path) -> None:
        """Not by way of others either, nor from one that is not there."""
        with self.opened(tmp_path) as store:
            store.spawn(Spawn(child=_branch(SECOND, FIRST)))
            store.spawn(Spawn(child=_branch(_THIRD, SECOND)))
            before = store.lineage(FIRST)
            for parent in (FIRST, SECOND, _THIRD):
                with refused(Conflict, parent):
                    store.amend(FIRST, Amendment(parent=parent, fork=Fork.BRANCH))
            with refused(UnknownSession):
                store.amend(FIRST, Amendment(parent=_FOURTH, fork=Fork.BRANCH))
            assert store.lineage(FIRST) == before

    def test_a_child_needs_a_parent_and_an_id(self, tmp_path: Path) -> None:
        """Each that is missing or taken is said."""
        with self.opened(tmp_path) as store:
            with refused(StoreError, "no parent"):
                store.spawn(Spawn(child=Session(id=SECOND, source="cli", started=1)))
            with refused(UnknownSession):
                store.spawn(Spawn(child=_branch(SECOND, _THIRD)))
            with refused(StoreError, FIRST):
                store.spawn(Spawn(child=_branch(FIRST, FIRST), parent_end=EndReason.BRANCHED))
            assert store.session(FIRST).is_live


def _branch(id_: str, parent: str) -> Session:
    return Session(id=id_, source="cli", started=4_000, parent=parent, fork=Fork.BRANCH)
