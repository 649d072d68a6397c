"""Showing: what the file of a fork copied from its parent's is told once."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.events import CompactionEvent, MessageEvent, StrandStarted
from holdfast.session import Fork, Usage
from holdfast.transfer import export_session
from tests.transfer.taking import begun, folded, opened, sessions, take, told, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store

PARENT = [begun("parent"), told("u1"), told("a1"), told("u2"), told("a2")]
FORK = [begun("fork", parent="parent"), *PARENT[1:4], told("a3"), told("u4")]
NEXT = [begun("next", parent="fork"), *FORK[1:], told("a4")]


def kept(store: Store, files: Iterable[Sequence[Event]]) -> str:
    """Take files in their order, and return the session of the one that has no parent."""
    for each in files:
        take(store, each)
    (root,) = [each.id for each in sessions(store) if each.parent is None]
    return root


def family(store: Store, id_: str) -> list[Event]:
    return list(export_session(store, id_, family=True))


def test_copies_in_the_files_of_forks_are_told_once() -> None:
    for order in permutations((PARENT, FORK, NEXT)):
        with opened() as store:
            events = family(store, kept(store, order))
            keys = [each.key for each in events if isinstance(each, MessageEvent)]
            assert keys == ["u1", "a1", "u2", "a2", "a3", "u4", "a4"]
            left = [
                (each.about.id, each.after) for each in events if isinstance(each, StrandStarted)
            ]
            assert left == [("parent", ""), ("fork", "u2"), ("next", "u4")]


def test_a_family_that_is_taken_elsewhere_shows_the_same() -> None:
    with opened() as store, opened() as other:
        root = kept(store, (PARENT, FORK, NEXT))
        take(other, family(store, root))
        shown = {tuple(words(store, each.id)) for each in sessions(store)}
        assert len(shown) == 3
        assert {tuple(words(other, each.id)) for each in sessions(other)} == shown
        assert sum(each.size for each in sessions(other)) == 7


def test_a_fork_that_is_told_alone_begins_with_its_copies() -> None:
    with opened() as store:
        kept(store, (PARENT, FORK))
        (fork,) = [each.id for each in sessions(store) if each.parent is not None]
        alone = list(export_session(store, fork))
        assert [each.key for each in alone if isinstance(each, MessageEvent)] == [
            each.key for each in FORK if isinstance(each, MessageEvent)
        ]
        (first, *_) = alone
        assert isinstance(first, StrandStarted)
        assert (first.about.id, first.about.parent) == ("fork", "parent")


def test_a_compaction_that_was_copied_is_told_once() -> None:
    parent = [begun("parent"), told("u1"), told("a1"), *folded("s1", "a1"), told("u2")]
    fork = [begun("fork", parent="parent"), *parent[1:], told("a3"), *folded("s2", "a3")]
    with opened() as store, opened() as other:
        root = kept(store, (fork, parent))
        events = family(store, root)
        assert [each.id for each in events if isinstance(each, CompactionEvent)] == [
            "fold-s1",
            "fold-s2",
        ]
        take(other, events)
        assert [words(other, each.id) for each in sessions(other)] == [
            words(store, each.id) for each in sessions(store)
        ]


def test_copies_with_ids_of_their_own_are_told_once() -> None:
    renamed = [
        replace(each, key=f"x{each.key}", native=replace(each.native, id=f"x{each.key}"))
        for each in FORK[1:]
        if isinstance(each, MessageEvent)
    ]
    with opened() as store:
        events = family(store, kept(store, ([FORK[0], *renamed], PARENT)))
        keys = [each.key for each in events if isinstance(each, MessageEvent)]
        assert keys == ["u1", "a1", "u2", "a2", "xa3", "xu4"]


def test_a_fork_that_shares_nothing_with_its_parent_is_told_whole() -> None:
    fork = [begun("fork", parent="parent"), told("u7"), told("a1")]
    with opened() as store:
        events = family(store, kept(store, (PARENT, fork)))
        assert [each.message.text for each in events if isinstance(each, MessageEvent)][-2:] == [
            "words of u7",
            "words of a1",
        ]
        assert [each.after for each in events if isinstance(each, StrandStarted)] == ["", ""]


def test_what_was_copied_is_paid_once_by_what_is_told() -> None:
    cost = Usage(1, 7, 3)
    answer = told("a1")
    answer = replace(answer, native=replace(answer.native, reply="msg-1", usage=cost))
    parent = [begun("parent"), told("u1"), answer]
    fork = [begun("fork", parent="parent", fork=Fork.BRANCH), told("u1"), answer, told("u2")]
    with opened() as store, opened() as other:
        take(other, family(store, kept(store, (fork, parent))))
        for each in (store, other):
            assert sum((session.usage for session in sessions(each)), Usage()) == cost
