"""Parents are linked: files may be imported in any order, and the lineage is the same after it."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.formats.events import MAIN, About, StrandStarted
from holdfast.session import Fork, Usage
from holdfast.stores.sqlite import SqliteStore
from holdfast.transfer import ImportOrigin, read_small_file, stated_parent, unlinked_children
from tests.transfer.taking import NOW, START, begun, importer, opened, sessions, take, told

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holdfast.formats.events import Event, MessageEvent
    from holdfast.ports import Amendment, Store
    from holdfast.session import Entry, Session

PAID = Usage(1, 10, 5, 3, 2, 0.25)


class Watched(SqliteStore):
    """A store that knows whose logs were read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.read: set[str] = set()
        self.asked = 0
        """How often somebody looked what a session begins with."""

    def entries(self, id_: str, first: int, last: int) -> tuple[Entry, ...]:
        self.read.add(id_)
        return super().entries(id_, first, last)

    def said(self, id_: str, position: int, *, before: int, after: int) -> tuple[Entry, ...]:
        self.asked += 1
        return super().said(id_, position, before=before, after=after)


class Stopping(SqliteStore):
    """A store whose user presses Ctrl-C when sessions are amended so many times."""

    left: int | None = None

    def amend(self, id_: str, amendment: Amendment) -> Session:
        if self.left is not None:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
        return super().amend(id_, amendment)


def paid(key: str, **native: object) -> MessageEvent:
    """Tell a reply that cost something."""
    event = told(key)
    fields = {"reply": f"msg-{key}", "usage": PAID, **native}
    return replace(event, native=replace(event.native, **fields))  # type: ignore[arg-type]


def file(id_: str, *events: Event, parent: str = "", fork: Fork | None = None) -> list[Event]:
    return [begun(id_, parent=parent, fork=fork), *events]


PARENT = file("parent", told("u1"), paid("a1"), told("u2"), paid("a2"))
AGENT = file("agent", told("u8"), paid("a8"), parent="parent", fork=Fork.DELEGATION)
FORK = file("fork", *PARENT[1:], told("u3"), paid("a3"), parent="parent", fork=Fork.BRANCH)
FORK_OF_FORK = file("next", *FORK[1:], told("u4"), paid("a4"), parent="fork")
STRANGER = file("stranger", told("u1"), paid("a1"))
FILES = (PARENT, AGENT, FORK, FORK_OF_FORK, STRANGER)


def origin(events: Sequence[Event]) -> ImportOrigin:
    (first, *_) = events
    return ImportOrigin("claude-code", f"/logs/{first.about.id}.jsonl")  # type: ignore[union-attr]


def take_file(store: Store, events: Sequence[Event]) -> str:
    (id_,) = take(store, events, origin(events)).sessions
    return id_


def named(store: Store) -> dict[str, Session]:
    found = sessions(store)
    return {each.metadata["import"]["id"]: each for each in found}  # type: ignore[index,misc]


def test_files_of_a_family_make_the_same_sessions_in_any_order() -> None:
    with ExitStack() as stack:
        expected = stack.enter_context(opened())
        for each in FILES:
            take_file(expected, each)
        rows = named(expected)
        assert rows["agent"].parent == rows["fork"].parent == rows["parent"].id
        assert rows["next"].parent == rows["fork"].id
        assert rows["next"].root == rows["parent"].id
        assert rows["stranger"].parent is rows["parent"].parent is None
        for order in permutations(FILES):
            with opened() as store:
                for each in order:
                    take_file(store, each)
                assert named(store) == rows


def test_what_several_imported_at_once_is_joined_when_all_are_done() -> None:
    again = file("again", *STRANGER[1:], told("u9"), paid("a9"))
    files = (FORK_OF_FORK, FORK, PARENT, AGENT, again, STRANGER)
    early = [file(f"early-{place}", told(f"u7{place}")) for place in range(len(files))]
    with opened() as expected, opened() as store:
        for each in (*early, *files):
            take_file(expected, each)
        several = [importer(store) for _ in files]
        for one, each in zip(several, early, strict=True):
            one.take(origin(each), partial(iter, each))
        made: set[str] = set()
        for one, each in zip(several, files, strict=True):
            made.update(one.take(origin(each), partial(iter, each)).sessions)
        assert named(store) != named(expected)
        several[0].join(["claude-code"], made)
        assert named(store) == named(expected)


def test_a_reply_is_counted_once_in_a_family() -> None:
    for order in permutations((PARENT, FORK, FORK_OF_FORK)):
        with opened() as store:
            for each in order:
                take_file(store, each)
            counted = {name: each.usage for name, each in named(store).items()}
            assert counted == {"parent": PAID + PAID, "fork": PAID, "next": PAID}


def test_files_that_are_written_together_find_each_other() -> None:
    for order in permutations((PARENT, AGENT, FORK)):
        with opened() as store:
            stories = [
                read_small_file(origin(each), lambda each=each: iter(each)) for each in order
            ]
            importer(store).take_all(stories)
            rows = named(store)
            assert rows["agent"].parent == rows["fork"].parent == rows["parent"].id
            assert rows["fork"].usage == PAID


def test_a_second_import_changes_nothing() -> None:
    with opened() as store:
        for each in (FORK, PARENT):
            take_file(store, each)
        rows = named(store)
        for each in (FORK, PARENT, FORK):
            assert not take(store, each, origin(each)).sessions
        assert named(store) == rows


def test_what_an_import_left_undone_is_done_by_the_next(tmp_path: Path) -> None:
    for number, (first, second) in enumerate(permutations((PARENT, FORK))):
        for count in range(3):
            with closing(Stopping(tmp_path / f"{number}-{count}.db")) as store:
                take_file(store, first)
                store.left = count
                with suppress(KeyboardInterrupt):
                    take_file(store, second)
                store.left = None
                take(store, second, origin(second))
                rows = named(store)
                counted = {name: each.usage for name, each in rows.items()}
                assert counted == {"parent": PAID + PAID, "fork": PAID}
                assert rows["fork"].parent == rows["parent"].id


def test_a_parent_whose_growth_was_stopped_pays_for_what_was_copied(tmp_path: Path) -> None:
    with closing(Stopping(tmp_path / "stopping.db")) as store:
        take_file(store, PARENT[:3])
        take_file(store, FORK)
        store.left = 0
        with pytest.raises(KeyboardInterrupt):
            take(store, PARENT, origin(PARENT))
        store.left = None
        assert named(store)["fork"].usage == PAID + PAID
        assert not take(store, PARENT, origin(PARENT)).grown
        assert named(store)["fork"].usage == PAID


def test_a_stated_total_is_not_counted_beside_what_was_copied() -> None:
    about = dataclasses.replace(FORK[0].about, usage=PAID + PAID + PAID)  # type: ignore[union-attr]
    stated = [dataclasses.replace(FORK[0], about=about)]  # type: ignore[type-var]
    fork = [*stated, *FORK[1:]]
    with opened() as store:
        take_file(store, PARENT)
        take_file(store, fork)
        assert named(store)["fork"].usage == PAID
        take(store, fork, origin(fork))
        assert named(store)["fork"].usage == PAID


def test_copies_are_known_when_the_parent_grows_after_them() -> None:
    with opened() as store:
        take_file(store, PARENT[:3])
        take_file(store, FORK)
        assert named(store)["fork"].usage == PAID + PAID
        take(store, PARENT, origin(PARENT))
        counted = {name: each.usage for name, each in named(store).items()}
        assert counted == {"parent": PAID + PAID, "fork": PAID}


def test_copies_are_known_when_the_fork_grows() -> None:
    with opened() as store:
        take_file(store, PARENT)
        take_file(store, FORK[:3])
        assert named(store)["fork"].usage == Usage()
        take(store, FORK, origin(FORK))
        assert named(store)["fork"].usage == PAID


def test_copies_with_ids_of_their_own_are_known_by_what_they_say() -> None:
    renamed = replace(paid("a1"), key="a9", native=replace(paid("a1").native, id="a9"))
    other = replace(paid("a2"), key="a7", native=replace(paid("a2").native, id="", reply="msg-x"))
    with opened() as store:
        take_file(store, PARENT)
        take_file(store, file("fork", renamed, other, parent="parent"))
        assert named(store)["fork"].usage == PAID


def test_replies_of_a_sub_agent_are_its_own_though_they_are_called_alike() -> None:
    alike = replace(paid("a8"), native=replace(paid("a8").native, id="", reply="msg-a1"))
    with opened() as store:
        take_file(store, PARENT)
        take_file(store, file("agent", told("u8"), alike, parent="parent", fork=Fork.DELEGATION))
        assert named(store)["agent"].usage == PAID


def test_a_sub_agent_that_was_given_the_whole_conversation_pays_for_its_own_part() -> None:
    with opened() as store:
        take_file(store, file("agent", *FORK[1:], parent="parent", fork=Fork.DELEGATION))
        take_file(store, PARENT)
        rows = named(store)
        assert rows["agent"].fork is Fork.DELEGATION
        assert rows["agent"].usage == PAID


def test_what_the_user_took_back_is_copied_and_paid_once_too() -> None:
    left = StrandStarted(strand="b", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="u1")
    other = replace(paid("a5"), strand="b")
    parent = [*PARENT, left, other]
    again = replace(other, key="a6", native=replace(other.native, id="a6"))
    as_branch = file("fork", *PARENT[1:], left, again, paid("a3"), parent="parent")
    as_one = file("fork", *PARENT[1:], replace(again, strand=MAIN), paid("a3"), parent="parent")
    for fork in (as_branch, as_one):
        for order in ((parent, fork), (fork, parent)):
            with opened() as store:
                for each in order:
                    take(store, each, origin(each))
                total = sum((each.usage for each in sessions(store)), Usage())
                assert total == sum([PAID] * 4, Usage())


def test_a_branch_that_grows_in_the_file_of_a_parent_pays_for_what_was_copied() -> None:
    left = StrandStarted(strand="b", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="u1")
    parent = [*PARENT, left, told("u5", strand="b"), replace(paid("a5"), strand="b")]
    fork = file("fork", *PARENT[1:], told("u5"), paid("a5"), parent="parent")
    with opened() as store:
        take(store, parent[:-1], origin(parent))
        take_file(store, fork)
        take(store, parent, origin(parent))
        assert named(store)["fork"].usage == Usage()


def test_a_sub_agent_with_words_of_its_own_is_compared_with_nothing(tmp_path: Path) -> None:
    with closing(Watched(tmp_path / "watched.db")) as store:
        take_file(store, PARENT)
        take_file(store, AGENT)
        assert named(store)["agent"].parent == named(store)["parent"].id
        assert not store.read
        take_file(store, FORK)
        assert store.read == {each.id for each in sessions(store)} - {named(store)["agent"].id}


def test_a_file_that_its_owner_rewrote_pays_once_for_what_it_tells_again() -> None:
    with opened() as store:
        take_file(store, PARENT)
        rewritten = file("parent", told("u1"), told("u9"), paid("a2"), paid("a3"))
        (branch,) = take(store, rewritten, origin(PARENT)).sessions
        assert store.session(branch).usage == PAID


def test_sessions_that_claim_to_come_from_each_other_are_one_family() -> None:
    ring = [file(f"c{n}", told("u1"), parent=f"c{(n + 1) % 3}") for n in range(3)]
    with opened() as store:
        for each in ring:
            take_file(store, each)
        rows = named(store)
        assert len({each.root for each in rows.values()}) == 1
        assert [each.parent is None for each in rows.values()].count(True) == 1


def test_a_session_that_names_itself_as_its_parent_has_none() -> None:
    with opened() as store:
        own = take_file(store, file("own", told("u1"), parent="own"))
        assert store.session(own).parent is None


def test_agents_may_use_the_same_names() -> None:
    with opened() as store:
        agent = take_file(store, AGENT)
        take(store, PARENT, ImportOrigin("codex", "/logs/parent.jsonl"))
        assert store.session(agent).parent is None


def test_what_was_not_there_when_its_parent_came_is_joined_by_the_next_import() -> None:
    with opened() as store:
        agent = take_file(store, AGENT)
        store.trash([agent], NOW)
        parent = take_file(store, PARENT)
        store.restore([agent])
        early = store.session(agent)
        elder = stated_parent(store, early)
        assert elder is not None
        assert elder.session == parent
        assert unlinked_children(store, store.session(parent)) == (early,)
        take_file(store, STRANGER)
        assert store.session(agent).parent == parent
        assert stated_parent(store, store.session(agent)) is None
        assert unlinked_children(store, store.session(parent)) == ()


RESUMED = file("resumed", *PARENT[1:], told("u6"), paid("a6"))
RESUMED_AGAIN = file("again", *RESUMED[1:], told("u7"), paid("a7"))


def test_a_session_that_was_taken_up_in_another_file_pays_for_its_own_part() -> None:
    for order in permutations((PARENT, RESUMED, RESUMED_AGAIN)):
        with opened() as store:
            for each in order:
                take_file(store, each)
            rows = named(store)
            counted = {name: each.usage for name, each in rows.items()}
            assert counted == {"parent": PAID + PAID, "resumed": PAID, "again": PAID}
            assert all(each.parent is None for each in rows.values())
            for each in order:
                take(store, each, origin(each))
            assert named(store) == rows


def test_sessions_that_were_taken_up_are_compared_when_one_of_them_grows() -> None:
    with opened() as store:
        take_file(store, PARENT[:3])
        take_file(store, RESUMED)
        take(store, PARENT, origin(PARENT))
        total = sum((each.usage for each in sessions(store)), Usage())
        assert total == PAID + PAID + PAID


def test_sessions_with_the_same_words_are_no_copies_of_each_other() -> None:
    first, second = (
        file(
            name,
            *(
                replace(each, native=replace(each.native, at=START + moment))
                for each in (told("u1"), paid("a1"))
            ),
        )
        for name, moment in (("one", 1), ("two", 2))
    )
    third, fourth = (
        file(
            name,
            *(
                replace(each, native=replace(each.native, id=""))
                for each in (told("u1"), paid("a1"))
            ),
        )
        for name in ("three", "four")
    )
    with opened() as store:
        for each in (first, second, third, fourth):
            take_file(store, each)
        assert {each.usage for each in sessions(store)} == {PAID}


def test_sessions_without_ids_are_looked_at_once_however_many_begin_alike(tmp_path: Path) -> None:
    nameless = [replace(each, native=replace(each.native, id="")) for each in PARENT[1:]]  # type: ignore[union-attr,type-var]
    with closing(Watched(tmp_path / "watched.db")) as store:
        taker = importer(store)
        for number in range(20):
            events = file(f"s{number}", *nameless)  # type: ignore[arg-type]
            taker.take(origin(events), lambda events=events: iter(events))
        assert not store.read
        assert store.asked <= 2 * 20
