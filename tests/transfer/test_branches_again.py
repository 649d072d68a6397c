"""Branches again: one that is exported alone and imported into its own store is known there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given

from holdfast.formats.events import MAIN, About, CompactionEvent, RewindEvent, StrandStarted
from holdfast.session import Fork
from holdfast.transfer import export_session
from tests.formats.event_strategies import event_streams
from tests.transfer.taking import NOW, begun, opened, sessions, take, told, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transfer import ImportTally


def leaving(strand: str, after: str, of: str = MAIN) -> StrandStarted:
    return StrandStarted(strand=strand, line=1, about=About(), of=of, fork=Fork.BRANCH, after=after)


MIDWAY = (leaving("b", "a1"), told("u3", strand="b"), told("a3", strand="b"))
AT_THE_END = (leaving("e", "a2"), told("u4", strand="e"), told("a4", strand="e"))
FURTHER = (leaving("c", "u3", of="b"), told("a5", strand="c"), told("u5", strand="c"))
FILE = [
    begun(cwd="/srv/shop"),
    *(told(key) for key in ("u1", "a1", "u2", "a2")),
    *MIDWAY,
    *AT_THE_END,
    *FURTHER,
]


def branches(store: Store) -> Iterator[tuple[Session, list[Event]]]:
    """Return each branch with what is told of it alone."""
    for each in sessions(store):
        if each.fork is Fork.BRANCH:
            yield each, list(export_session(store, each.id))


def is_idle(tally: ImportTally) -> bool:
    return not (tally.sessions or tally.grown or tally.skipped or tally.count.messages)


def test_a_branch_that_was_exported_alone_changes_nothing() -> None:
    with opened() as store:
        take(store, FILE)
        before = sessions(store)
        found = list(branches(store))
        assert len(found) == 3
        for _, alone in found:
            tally = take(store, alone)
            assert is_idle(tally)
            assert tally.unchanged
        assert sessions(store) == before


@given(event_streams())
def test_whatever_was_exported_alone_changes_nothing(events: list[Event]) -> None:
    # What a branch does not show is not in its file, so that this is another one to an import.
    plain = [each for each in events if not isinstance(each, CompactionEvent | RewindEvent)]
    with opened() as store:
        take(store, plain)
        before = sessions(store)
        for _, alone in list(branches(store)):
            assert is_idle(take(store, alone))
        assert sessions(store) == before


def test_a_branch_that_went_on_elsewhere_goes_on_here() -> None:
    with opened() as store:
        take(store, FILE)
        for branch, alone in list(branches(store)):
            shown = words(store, branch.id)
            grown = [*alone, told(f"a9 {branch.id}")]
            tally = take(store, grown)
            assert (tally.sessions, tally.grown) == ((), (branch.id,))
            after = store.session(branch.id)
            assert (after.title, after.metadata) == (branch.title, branch.metadata)
            assert words(store, branch.id) == [*shown, f"words of a9 {branch.id}"]
            assert is_idle(take(store, grown))
        rows = sessions(store)
        assert is_idle(take(store, FILE))
        assert sessions(store) == rows


def test_a_branch_that_was_rewritten_elsewhere_is_a_branch_of_it() -> None:
    with opened() as store:
        take(store, FILE)
        branch, alone = next(branches(store))
        other = [*alone[:-1], told("a9")]
        (made,) = take(store, other).sessions
        assert store.session(made).parent == branch.id
        assert is_idle(take(store, other))


def test_the_main_strand_goes_on_where_it_ends_though_a_branch_leaves_there() -> None:
    with opened() as store:
        first, *_ = take(store, FILE).sessions
        grown = [*FILE, told("u9")]
        assert take(store, grown).grown == (first,)
        assert words(store, first)[-1] == "words of u9"
        assert is_idle(take(store, grown))


def test_a_branch_in_the_trash_is_left_there() -> None:
    with opened() as store:
        take(store, FILE)
        branch, alone = next(branches(store))
        store.trash([branch.id], NOW)
        assert is_idle(take(store, alone))
        (skipped,) = take(store, [*alone, told("a9")]).skipped
        assert skipped.session == branch.id
        assert len(sessions(store)) == 3


def test_a_sub_agent_is_no_branch_of_the_conversation() -> None:
    agent = replace(leaving("s", ""), fork=Fork.DELEGATION)
    events = [begun(), told("u1"), agent, told("u2", strand="s")]
    with opened() as store:
        take(store, events)
        tally = take(store, [begun(), told("u2")])
        assert len(tally.sessions) == 1
