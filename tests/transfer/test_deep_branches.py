"""Branches of branches, more of them than calls can go deep."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from holdfast.formats.events import MAIN, About, MessageEvent, StrandStarted
from holdfast.formats.replay import replay
from holdfast.session import Fork
from holdfast.stores.sqlite import SqliteStore
from holdfast.transfer import export_session
from tests.transfer.taking import begun, opened, sessions, take, told, words

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import Entry, Session, View

DEPTH = 1_100


class Watched(SqliteStore):
    """A store that counts what is read of logs and views."""

    asked = 0
    spans = 0

    def entries(self, id_: str, first: int, last: int) -> tuple[Entry, ...]:
        self.asked += 1
        return super().entries(id_, first, last)

    def views(self, id_: str) -> tuple[View, ...]:
        found = super().views(id_)
        self.asked += 1
        self.spans += sum(len(view.spans) for view in found)
        return found


def branch(number: int, after: str = "") -> StrandStarted:
    """Begin a branch of the branch before it."""
    of = f"b{number - 1}" if number > 1 else MAIN
    return StrandStarted(
        strand=f"b{number}", line=1, about=About(), of=of, fork=Fork.BRANCH, after=after
    )


def nested(*, shared: bool) -> list[Event]:
    """Tell a question and an answer on each branch.

    The next one leaves after the question, or before anything was said.
    """
    events: list[Event] = [begun(), told("u0"), told("a0")]
    for number in range(1, DEPTH):
        events.append(branch(number, after=f"u{number - 1}" if shared else ""))
        events += (told(f"{who}{number}", strand=f"b{number}") for who in "ua")
    return events


def silent() -> list[Event]:
    """Tell nothing but one message, on the last of all branches."""
    begins = (branch(number) for number in range(1, DEPTH))
    return [begun(), *begins, told("u1", strand=f"b{DEPTH - 1}")]


def rows(store: Store) -> list[Session]:
    return sorted(sessions(store), key=lambda session: session.id)


def test_branches_of_branches_are_imported_however_deep_they_go() -> None:
    assert sys.getrecursionlimit() < DEPTH
    with opened() as store:
        taken = take(store, nested(shared=True))
        assert (len(taken.sessions), taken.branches) == (DEPTH, DEPTH - 1)
        last = taken.sessions[-1]
        said = [*(f"words of u{number}" for number in range(DEPTH)), f"words of a{DEPTH - 1}"]
        assert words(store, last) == said
        assert store.session(last).title == f"The harbor #{DEPTH}"
        alone = [
            each.message.text
            for each in export_session(store, last)
            if isinstance(each, MessageEvent)
        ]
        assert alone == said
        assert take(store, nested(shared=True)).count.messages == 0


def test_branches_of_branches_are_exported_however_deep_they_go() -> None:
    with opened() as store, opened() as other:
        first, *_ = take(store, nested(shared=False)).sessions
        events = list(export_session(store, first, family=True))
        assert len(take(other, events).sessions) == DEPTH
        assert rows(other) == rows(store)
        (conversation,) = replay(events)
        assert len(conversation.window) == 2


def test_branches_of_branches_are_exported_without_reading_what_all_of_them_show(
    tmp_path: Path,
) -> None:
    with closing(Watched(tmp_path / "watched.db")) as store:
        first, *_ = take(store, nested(shared=True)).sessions
        store.asked = store.spans = 0
        events = list(export_session(store, first, family=True))
        assert [each.after for each in events if isinstance(each, StrandStarted)][1:] == [
            f"u{number}" for number in range(DEPTH - 1)
        ]
        assert store.asked <= 2 * DEPTH
        assert store.spans == 0


def test_a_file_of_nested_branches_is_played_again_up_to_the_last() -> None:
    (conversation,) = replay(nested(shared=True))
    assert len(conversation.window) == len(conversation.transcript) == DEPTH + 1


def test_branches_in_which_nothing_was_said_are_imported_however_deep_they_go() -> None:
    with opened() as store:
        take(store, silent())
        assert [session.size for session in rows(store)].count(0) == DEPTH - 1
        assert len(rows(store)) == DEPTH


def test_conversations_that_claim_to_come_from_each_other_are_imported() -> None:
    ring = [
        StrandStarted(strand=str(n), line=1, about=About(id=f"c{n}", parent=f"c{(n + 1) % DEPTH}"))
        for n in range(DEPTH)
    ]
    with opened() as store:
        take(store, [*ring, told("u0", strand="0")])
        found = rows(store)
        assert len(found) == DEPTH
        assert [session.parent is None for session in found].count(True) == 1
        assert {session.started for session in found} == {0, told("u0").native.at}
