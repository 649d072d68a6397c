"""What a store must do with windows: changes are compared, swapped, undone and done again."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import Conflict, SessionEnded, UnknownSession
from holdfast.ports import Capability, Store
from holdfast.session import (
    Cause,
    CompactionRecord,
    EndReason,
    Head,
    Kind,
    Refreshed,
    Session,
    SessionState,
    Span,
    redo_target,
)
from holdfast.testing.store_case import (
    FIRST,
    SECOND,
    StoreCase,
    cases_of,
    drafts,
    refused,
    said,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path


@cases_of(Capability.LOG)
class WindowCases(StoreCase):
    """Windows: computed from the log by views, which follow from one another."""

    def test_a_fresh_session_shows_its_log(self, tmp_path: Path) -> None:
        """Without any view."""
        with self.opened(tmp_path) as store:
            assert store.head(FIRST) == Head(0, None, 0)
            store.append(FIRST, drafts("a", "b"))
            window = store.window(FIRST)
            assert (window.head, texts(window.entries)) == (Head(0, None, 2), ["a", "b"])
            assert window.tokens == 2

    def test_a_change_shows_its_pieces_in_their_order(self, tmp_path: Path) -> None:
        """Derived ones are written to the log, the others are shown where they stand."""
        with self.opened(tmp_path) as store:
            a, b, c, d = store.append(FIRST, drafts("a", "b", "c", "d"))
            before = store.window(FIRST)
            head = store.change(FIRST, self.change(before, [said("s"), c, d, a, said("t")]))
            window = store.window(FIRST)
            assert texts(window.entries) == ["s", "c", "d", "a", "t"]
            assert window.entries[1:4] == (c, d, a)
            assert {entry.kind for entry in window.entries[::4]} == {Kind.DERIVED}
            assert head == window.head == store.head(FIRST)
            assert (head.generation, head.size) == (1, 6)
            assert store.entry(b.id) == b
            (view,) = store.views(FIRST)
            spans = (Span(FIRST, 5, 5), Span(FIRST, 3, 4), Span(FIRST, 1, 1), Span(FIRST, 6, 6))
            assert (view.id, view.parent, view.cause) == (head.view, None, Cause.COMPACTION)
            assert (view.spans, view.upto) == (spans, 6)

    def test_the_record_of_a_pass_is_kept(self, tmp_path: Path) -> None:
        """With the views before and after it."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            record = CompactionRecord(
                at=9_000,
                trigger="hygiene",
                strategy="in_place",
                focus="the \ud83d",
                summary="what was said",
                report={"tokens": [1, "ä"]},
                duration_ms=7,
                cost=0.5,
                cache_cost=0.25,
            )
            for _ in range(2):
                change = self.change(store.window(FIRST), [said("s")])
                store.change(FIRST, dataclasses.replace(change, compaction=record))
            first, second = store.compactions(FIRST)
            assert store.count_compactions(FIRST) == 2
            views = [view.id for view in store.views(FIRST)]
            assert [(first.before, first.after), (second.before, second.after)] == [
                (None, views[0]),
                (views[0], views[1]),
            ]
            expected = dataclasses.replace(
                record, id=second.id, session=FIRST, before=views[0], after=views[1]
            )
            assert second == expected

    def test_what_is_said_meanwhile_follows_the_change(self, tmp_path: Path) -> None:
        """A message that was accepted while a summary was written is shown after it."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            read = store.window(FIRST)
            store.append(FIRST, drafts("meanwhile"))
            store.change(FIRST, self.change(read, [said("s"), read.entries[1]]))
            store.append(FIRST, drafts("after"))
            assert texts(store.window(FIRST).entries) == ["s", "b", "meanwhile", "after"]

    def test_the_second_of_two_changes_conflicts(self, tmp_path: Path) -> None:
        """It wrote nothing: neither a row nor a view nor a record."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            read = store.window(FIRST)
            store.change(FIRST, self.change(read, [said("one")]))
            before = (store.window(FIRST), store.views(FIRST), store.compactions(FIRST))
            with refused(Conflict, "read it again"):
                store.change(FIRST, self.change(read, [said("two")]))
            with refused(Conflict):
                store.move(FIRST, None, read.head.generation)
            after = (store.window(FIRST), store.views(FIRST), store.compactions(FIRST))
            assert after == before

    def test_one_of_many_threads_wins(self, tmp_path: Path) -> None:
        """And the others are told."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            read = store.window(FIRST)

            def attempt(number: int) -> bool:
                try:
                    store.change(FIRST, self.change(read, [said(str(number))]))
                except Conflict:
                    return False
                return True

            with ThreadPoolExecutor(8) as pool:
                won = list(pool.map(attempt, range(8)))
            assert sum(won) == 1
            assert texts(store.window(FIRST).entries) == [str(won.index(True))]

    def test_appending_is_no_conflict(self, tmp_path: Path) -> None:
        """The generation counts changes alone."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            assert store.head(FIRST).generation == 0
            self.compact(store, FIRST, [said("s")])
            store.append(FIRST, drafts("b"))
            assert store.head(FIRST).generation == 1

    def test_undo_gives_back_the_exact_window(self, tmp_path: Path) -> None:
        """Byte for byte, with what was said since after it, and redo leads back."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b", "c"))
            windows = [store.window(FIRST).entries]
            for text in ("s", "t"):
                self.compact(store, FIRST, [said(text), store.window(FIRST).entries[-1]])
                windows.append(store.window(FIRST).entries)
            (late,) = store.append(FIRST, drafts("late"))
            for entries in (windows[1], windows[0]):
                _undo(store)
                assert store.window(FIRST).entries == (*entries, late)
            for entries in (windows[1], windows[2]):
                assert _redo(store)
                assert store.window(FIRST).entries == (*entries, late)
            assert not _redo(store)
            assert store.head(FIRST).generation == 6

    def test_a_change_after_an_undo_begins_another_line(self, tmp_path: Path) -> None:
        """What was undone stays readable, and redo no longer leads to it."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            self.compact(store, FIRST, [said("old")])
            left = store.head(FIRST).view
            _undo(store)
            self.compact(store, FIRST, [said("other")])
            assert store.tip(FIRST) == store.head(FIRST).view
            assert not _redo(store)
            assert texts(store.window_at(FIRST, left).entries) == ["old"]
            _undo(store)
            assert _redo(store)
            assert texts(store.window(FIRST).entries) == ["other"]

    def test_any_view_can_be_looked_through(self, tmp_path: Path) -> None:
        """Without moving to it."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            self.compact(store, FIRST, [said("s")])
            head = store.head(FIRST)
            plain = store.window_at(FIRST, None)
            assert (plain.head, texts(plain.entries)) == (head, ["a"])
            assert store.window_at(FIRST, head.view) == store.window(FIRST)
            assert store.head(FIRST) == head

    def test_a_view_of_another_session_is_unknown(self, tmp_path: Path) -> None:
        """So that no session shows what was never in it."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=1))
            store.append(FIRST, drafts("a"))
            self.compact(store, FIRST, [said("s")])
            view = store.head(FIRST).view
            for ask in (
                lambda: store.window_at(SECOND, view),
                lambda: store.move(SECOND, view, 0),
                lambda: store.move(FIRST, 999, 1),
            ):
                with refused(UnknownSession, "view"):
                    ask()

    def test_a_change_shows_only_what_is_there(self, tmp_path: Path) -> None:
        """An entry that no log holds is refused, and nothing is written."""
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            for missing in (replace(entry, position=9), replace(entry, position=0)):
                with refused(UnknownSession, "to show"):
                    store.change(FIRST, self.change(window, [said("s"), missing]))
            with refused(UnknownSession):
                store.change(FIRST, self.change(window, [replace(entry, session=SECOND)]))
            assert store.window(FIRST) == window
            assert store.session(FIRST).size == 1

    def test_what_ended_changes_no_more(self, tmp_path: Path) -> None:
        """The window of an ended session is as it was when it ended."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            window = store.window(FIRST)
            store.end(FIRST, EndReason.COMPRESSION, 5)
            with refused(SessionEnded):
                store.change(FIRST, self.change(window, [said("s")]))
            with refused(SessionEnded):
                store.move(FIRST, None, 0)
            assert store.window(FIRST) == window

    def test_pins_show_in_the_window(self, tmp_path: Path) -> None:
        """And no longer when they are taken away."""
        with self.opened(tmp_path) as store:
            a, b = store.append(FIRST, drafts("a", "b"))
            for _ in range(2):
                store.pin(FIRST, a.id, pinned=True)
            assert store.pins(FIRST) == frozenset({a.id})
            pinned = replace(a, message=replace(a.message, pinned=True))
            assert store.window(FIRST).entries == (pinned, b)
            assert store.since(FIRST, 0) == (pinned, b)
            assert store.entry(a.id) == pinned
            store.pin(FIRST, a.id, pinned=False)
            assert store.window(FIRST).entries == (a, b)
            with refused(UnknownSession, "999"):
                store.pin(FIRST, 999, pinned=True)

    def test_a_state_is_everything_but_the_messages(self, tmp_path: Path) -> None:
        """Session, head, tip, pins and the number of passes, as single questions have them."""
        with self.opened(tmp_path) as store:
            (a,) = store.append(FIRST, drafts("a"))
            self.compact(store, FIRST, [said("s"), a])
            self.compact(store, FIRST, [said("t"), a])
            store.pin(FIRST, a.id, pinned=True)
            _undo(store)
            state = store.state(FIRST)
            assert state == SessionState(
                session=store.session(FIRST),
                head=store.head(FIRST),
                tip=store.tip(FIRST),
                pins=store.pins(FIRST),
                compactions=2,
            )
            assert (state.head.generation, state.pins, state.is_undone) == (3, {a.id}, True)

    def test_a_reader_is_brought_up_to_date(self, tmp_path: Path) -> None:
        """By what was said since, or by the whole window where another view shows."""
        with self.opened(tmp_path) as store:
            (a,) = store.append(FIRST, drafts("a"))
            first = store.refresh(FIRST, None)
            assert first == Refreshed(store.state(FIRST), (a,), is_whole=True)
            known = first.state.head
            assert store.refresh(FIRST, known) == Refreshed(first.state, (), is_whole=False)
            store.pin(FIRST, a.id, pinned=True)
            fresh = store.append(FIRST, [replace(said("b"), pinned=True), said("c")])
            assert store.refresh(FIRST, known) == Refreshed(
                store.state(FIRST), fresh, is_whole=False
            )
            assert store.refresh(FIRST, dataclasses.replace(known, size=99)).is_whole
            for seen in (None, known, store.head(FIRST)):
                self.compact(store, FIRST, [said("s"), *store.window(FIRST).entries[1:]])
                found = store.refresh(FIRST, seen)
                assert found.is_whole
                assert found.entries == store.window(FIRST).entries
            head = store.head(FIRST)
            _undo(store)
            assert store.refresh(FIRST, head).entries == store.window(FIRST).entries


def _undo(store: Store) -> None:
    head = store.head(FIRST)
    (parent,) = (view.parent for view in store.views(FIRST) if view.id == head.view)
    store.move(FIRST, parent, head.generation)


def _redo(store: Store) -> bool:
    head = store.head(FIRST)
    target = redo_target(store.views(FIRST), head.view, store.tip(FIRST))
    if target is not None:
        store.move(FIRST, target, head.generation)
    return target is not None
