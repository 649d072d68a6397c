"""What a store must do with its log, and when one session comes from another."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.ports import Amendment, Capability, Listing
from holdfast.session import (
    MESSAGE_ID_MARK,
    Cause,
    Draft,
    EndReason,
    Fork,
    Kind,
    Session,
    Span,
    Spawn,
    Usage,
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
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from pathlib import Path

_PICTURE = base64.b64encode(bytes(range(256)) * 40).decode()
_HARD = (
    Message(Role.SYSTEM, (Text("Be kind."),)),
    Message(Role.USER, (Text(""),), form="string"),
    Message(Role.USER, (), form="null"),
    Message(Role.USER, (Text("zero\0byte"),), form="string"),
    Message(Role.USER, (Text("half a pair \ud83d"),), form="string"),
    Message(Role.USER, (Text("日本語 🧵 naïve"),), form="string", pinned=True),
    Message(Role.USER, (Text("long " * 40_000),), form="string"),
    Message(Role.USER, (Text("t"), Media("image", "image/png", _PICTURE)), extras={"a": [None]}),
    Message(Role.USER, (Media("file", url="file-1", extras={"x": 1}),)),
    Message(
        Role.ASSISTANT,
        (Thinking("hm \ud83d" * 2_000, ""), Thinking("", "s" * 5_000), ToolCall("c", "run", "{}")),
    ),
    Message(Role.TOOL, (ToolResult("c", (Text("out " * 4_000),), is_error=True, name="run"),)),
    Message(Role.TOOL, (ToolResult("c", (Opaque("openai", {"k": 1}, "shown"),), form="parts"),)),
    Message(Role.USER, (Summary("what was said", "hermes"),), synthetic=Synthetic.SUMMARY),
    Message(Role.ASSISTANT, (Opaque("gemini", {"$text": "0" * 64}),)),
)
"""Messages that a careless store would change."""


@cases_of(Capability.LOG)
class LogCases(StoreCase):
    """The log: what is appended is durable, dense and unchanged."""

    def test_what_is_appended_comes_back_as_it_was(self, tmp_path: Path) -> None:
        """Any text and any part, from this store and from one that opens the file later."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, [Draft(message=each, at=1) for each in _HARD])
            assert store.window(FIRST).transcript == _HARD
        with self.reopened(tmp_path) as store:
            window = store.window(FIRST)
            assert window.transcript == _HARD
            assert window.entries == entries
            assert tuple(store.whole(entry.id) for entry in entries) == _HARD

    def test_positions_are_dense_and_ids_grow(self, tmp_path: Path) -> None:
        """So that a reader sees when something is missing."""
        with self.opened(tmp_path) as store:
            first = store.append(FIRST, drafts("a", "b"))
            second = store.append(FIRST, drafts("c"))
            entries = (*first, *second)
            assert [entry.position for entry in entries] == [1, 2, 3]
            assert sorted({entry.id for entry in entries}) == [entry.id for entry in entries]
            assert {entry.kind for entry in entries} == {Kind.SAID}
            assert store.head(FIRST).size == store.session(FIRST).size == 3

    def test_a_batch_may_ask_for_a_log_of_a_certain_length(self, tmp_path: Path) -> None:
        """So that of two who write the same messages one comes first, and the other is told."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"), size=0)
            with refused(Conflict):
                store.append(FIRST, drafts("a", "b"), size=0)
            store.append(FIRST, drafts("c"), size=2)
            assert texts(store.window(FIRST).entries) == ["a", "b", "c"]

    def test_nothing_is_appended_by_nothing(self, tmp_path: Path) -> None:
        """An empty batch leaves the session as it was."""
        with self.opened(tmp_path) as store:
            before = store.session(FIRST)
            assert store.append(FIRST, [], Usage()) == ()
            assert store.session(FIRST) == before

    def test_stretches_of_the_log_are_read(self, tmp_path: Path) -> None:
        """By positions, by what came after one, and one by one."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, drafts("a", "b", "c", "d"))
            assert store.entries(FIRST, 2, 3) == entries[1:3]
            assert store.entries(FIRST, 4, 99) == entries[3:]
            assert store.entries(FIRST, 3, 2) == ()
            assert store.since(FIRST, 2) == entries[2:]
            assert store.since(FIRST, 99) == ()
            assert store.entry(entries[1].id) == entries[1]
            for ask in (store.entry, store.whole):
                with refused(UnknownSession, "999"):
                    ask(999)

    def test_what_was_said_next_to_a_place_is_read(self, tmp_path: Path) -> None:
        """So many before it, itself included, and so many behind; what is derived is skipped."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b", "c"))
            self.compact(store, FIRST, [said("summary")])
            store.append(FIRST, drafts("d", "e"))
            asked = {
                (2, 2, 2): ["a", "b", "c", "d"],
                (4, 1, 1): ["c", "d"],
                (5, 1, 9): ["d", "e"],
                (3, 0, 1): ["d"],
                (3, 1, 0): ["c"],
                (0, 9, 1): ["a"],
                (99, 1, 1): ["e"],
            }
            for (position, before, after), expected in asked.items():
                found = store.said(FIRST, position, before=before, after=after)
                assert texts(found) == expected, (position, before, after)
            assert [store.count_said(FIRST, upto) for upto in (0, 2, 4, 5, 99)] == [0, 2, 3, 4, 5]

    def test_the_log_holds_what_was_derived_and_since_does_not(self, tmp_path: Path) -> None:
        """A summary is not something that somebody said."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            self.compact(store, FIRST, [said("summary")])
            store.append(FIRST, drafts("c"))
            assert texts(store.entries(FIRST, 1, 9)) == ["a", "b", "summary", "c"]
            assert texts(store.since(FIRST, 1)) == ["b", "c"]

    def test_a_shortened_message_keeps_the_whole_one(self, tmp_path: Path) -> None:
        """The window shows the short form, and the store gives the long one back."""
        whole = _HARD[10]
        short = Message(Role.TOOL, (ToolResult("c", (Text("out …"),)),))
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, [Draft(message=short, at=1, whole=whole)])
            assert (entry.message, entry.shortened) == (short, True)
        with self.reopened(tmp_path) as store:
            assert store.window(FIRST).entries == (entry,)
            assert store.whole(entry.id) == whole

    def test_a_shortened_message_can_name_itself(self, tmp_path: Path) -> None:
        """Its id is known when it is written, and takes the place of the mark."""
        pointer = f"… see message {MESSAGE_ID_MARK}"
        shorts = [
            Message(Role.USER, (Text(pointer),), form="string"),
            Message(Role.TOOL, (ToolResult("c", (Media(url="u"), Text(pointer))), Media(url="v"))),
        ]
        whole = Message(Role.USER, (Text("all of it"),), form="string")
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("before"))
            given = [Draft(message=short, at=1, whole=whole) for short in shorts]
            plain, result = store.append(FIRST, given)
            assert plain.message.text == f"… see message {plain.id}"
            assert result.message.results[0].text == f"… see message {result.id}"
            assert store.window(FIRST).entries[1:] == (plain, result)

    def test_a_user_may_write_the_mark(self, tmp_path: Path) -> None:
        """Only what was shortened is changed on its way in."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said(MESSAGE_ID_MARK)])
            assert texts(store.window(FIRST).entries) == [MESSAGE_ID_MARK]

    def test_a_stand_in_leads_to_what_was_said(self, tmp_path: Path) -> None:
        """However often it was shortened."""
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, drafts("all of it"))
            for short in ("all of", "all"):
                (shown,) = store.window(FIRST).entries
                message = Message(Role.USER, (Text(short),))
                stand_in = Draft(message=message, at=3, stands_for=shown.id)
                self.compact(store, FIRST, [stand_in])
            (shown,) = store.window(FIRST).entries
            assert (shown.message.text, shown.kind) == ("all", Kind.DERIVED)
            assert store.whole(shown.id) == entry.message

    def test_many_threads_append_to_one_session(self, tmp_path: Path) -> None:
        """No message is lost, none is doubled, positions have no holes."""
        with self.opened(tmp_path) as store:

            def talk(thread: int) -> None:
                for turn in range(20):
                    store.append(FIRST, drafts(f"{thread}:{turn}:a", f"{thread}:{turn}:b"))

            with ThreadPoolExecutor(8) as pool:
                list(pool.map(talk, range(8)))
            entries = store.window(FIRST).entries
            assert [entry.position for entry in entries] == list(range(1, 321))
            expected = {f"{t}:{n}:{x}" for t in range(8) for n in range(20) for x in "ab"}
            assert set(texts(entries)) == expected
            pairs = texts(entries)
            assert all(a[:-1] == b[:-1] for a, b in zip(pairs[::2], pairs[1::2], strict=True))

    def test_threads_read_while_others_write(self, tmp_path: Path) -> None:
        """A reader sees whole batches, never a part of one."""
        with self.opened(tmp_path) as store:

            def work(number: int) -> bool:
                if number % 2:
                    store.append(FIRST, drafts("a", "b", "c"))
                window = store.window(FIRST)
                return len(window.entries) % 3 == 0 and len(window.entries) == window.head.size

            with ThreadPoolExecutor(4) as pool:
                assert all(pool.map(work, range(60)))


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
