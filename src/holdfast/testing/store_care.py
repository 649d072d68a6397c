"""What a store must do with leases, with the trash, with its health and with copies of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import SessionEnded, StoreError, UnknownSession
from holdfast.ports import Capability, FileUpkeep, Lease, Listing, Store, file_upkeep
from holdfast.recall import Filters, Hit
from holdfast.session import Fork, Session, Spawn
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


_LONG = "a sentence about a walrus, " * 200


@cases_of(Capability.LEASES)
class LeaseCases(StoreCase):
    """Leases: one holder at a time."""

    def test_a_lease_is_held_by_one(self, tmp_path: Path) -> None:
        """Until it is given back or expires; its holder may renew it."""
        with self.opened(tmp_path) as store:
            mine, other = Lease(FIRST, "1:1:me:a", 100), Lease(FIRST, "2:1:you:b", 150)
            assert store.acquire(mine, 0) == mine
            assert store.acquire(other, 99) == mine
            renewed = Lease(FIRST, mine.holder, 200)
            assert store.acquire(renewed, 50) == renewed
            store.release(other)
            assert store.acquire(other, 199) == renewed
            assert store.acquire(other, 200) == other
            store.release(mine)
            assert store.acquire(mine, 149) == other
            store.release(other)
            assert store.acquire(mine, 0) == mine

    def test_one_of_many_threads_gets_the_lease(self, tmp_path: Path) -> None:
        """All of them learn who."""
        with self.opened(tmp_path) as store:

            def attempt(number: int) -> str:
                return store.acquire(Lease(FIRST, f"holder {number}", 100), 0).holder

            with ThreadPoolExecutor(8) as pool:
                assert len(set(pool.map(attempt, range(8)))) == 1

    def test_a_lease_needs_a_session(self, tmp_path: Path) -> None:
        """One that is not there is unknown."""
        with self.opened(tmp_path) as store, refused(UnknownSession):
            store.acquire(Lease(SECOND, "me", 100), 0)


@cases_of(Capability.TRASH)
class TrashCases(StoreCase):
    """The trash: nothing is thrown away unless somebody asks for it by name."""

    def test_the_trash_hides_and_gives_back(self, tmp_path: Path) -> None:
        """Out of lists and search, closed to messages, and back as it was."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a walrus"))
            before, window = store.session(FIRST), store.window(FIRST)
            assert store.trash([FIRST, FIRST], 5_000) == 1
            assert store.sessions(Listing()) == ()
            (trashed,) = store.sessions(Listing(trashed=True))
            assert (trashed.id, trashed.trashed) == (FIRST, 5_000)
            assert _found(store) == []
            with refused(SessionEnded, "trash"):
                store.append(FIRST, drafts("more"))
            assert store.lineage(FIRST) == (trashed,)
            assert store.restore([FIRST, FIRST]) == 1
            assert (store.session(FIRST), store.window(FIRST)) == (before, window)
            assert _found(store) == [FIRST]
            store.append(FIRST, drafts("more"))

    def test_what_a_fork_shows_of_the_trash_is_found(self, tmp_path: Path) -> None:
        """And nothing else of the session that is in it; a fork in the trash shows nothing."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, drafts("a walrus", "another walrus", "a third walrus"))
            child = Session(id=SECOND, source="cli", started=4, parent=FIRST, fork=Fork.BRANCH)
            store.spawn(Spawn(child=child, shows=entries[:2]))
            store.trash([FIRST], 5_000)
            shown = {entries[0].id, entries[1].id}
            for filters in (Filters(), Filters(sources=("cli",)), Filters(lineages=(FIRST,))):
                hits = store.search("walrus", filters, limit=9, now=10_000)
                assert {hit.message_id for hit in hits} == shown
            self.compact(store, SECOND, [said("s"), entries[1]])
            assert [hit.message_id for hit in _hits(store)] == [entries[1].id]
            store.trash([SECOND], 5_000)
            assert _found(store) == []
            store.restore([FIRST])
            assert _found(store) == [FIRST] * 3

    def test_the_trash_takes_all_or_none(self, tmp_path: Path) -> None:
        """A name that is not there stops the whole list."""
        with self.opened(tmp_path) as store:
            with refused(UnknownSession):
                store.trash([FIRST, SECOND], 1)
            assert store.session(FIRST).trashed is None
            store.trash([FIRST], 1)
            for work in (store.restore, store.purge):
                with refused(UnknownSession):
                    work([FIRST, SECOND])
                assert store.session(FIRST).trashed == 1

    def test_the_trash_leaves_what_was_used_meanwhile(self, tmp_path: Path) -> None:
        """A conversation counts as a whole: one used session keeps all of them."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a"))
            child = Session(id=SECOND, source="cli", started=4, parent=FIRST, fork=Fork.BRANCH)
            store.spawn(Spawn(child=child, shows=()))
            store.append(SECOND, [said("b", 9_000)])
            assert store.trash([FIRST, SECOND], 9_500, unless_used_since=9_000) == 0
            assert store.sessions(Listing(trashed=True)) == ()
            assert store.trash([FIRST, SECOND], 9_500, unless_used_since=9_001) == 2

    def test_only_what_is_in_the_trash_is_purged(self, tmp_path: Path) -> None:
        """Deleting takes two steps."""
        with self.opened(tmp_path) as store:
            with refused(StoreError, "trash"):
                store.purge([FIRST])
            assert store.session(FIRST).is_live

    def test_a_purge_deletes(self, tmp_path: Path) -> None:
        """The session, its messages, its words and what only it had; others keep theirs."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=1))
            entries = store.append(FIRST, [said(_LONG), said(f"{_LONG} alone")])
            store.append(SECOND, [said(_LONG)])
            store.pin(FIRST, entries[0].id, pinned=True)
            store.acquire(Lease(FIRST, "me", 9), 0)
            self.compact(store, FIRST, [said("s"), entries[1]])
            self.compact(store, FIRST, [said("t")])
            store.trash([FIRST], 5)
            assert store.purge([FIRST]) == 1
            with refused(UnknownSession):
                store.session(FIRST)
            for entry in entries:
                with refused(UnknownSession):
                    store.entry(entry.id)
            assert _found(store) == [SECOND]
            assert texts(store.window(SECOND).entries) == [_LONG]
            health = store.check()
            assert (health.problems, health.sessions, health.messages) == ((), 1, 1)

    def test_a_purge_keeps_what_others_show(self, tmp_path: Path) -> None:
        """A branch shows what it showed, and the last one that does takes it along."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, drafts(_LONG, "shown", "not shown"))
            child = Session(id=SECOND, source="cli", started=4, parent=FIRST, fork=Fork.BRANCH)
            store.spawn(Spawn(child=child, shows=entries[:2]))
            store.trash([FIRST], 5)
            assert store.purge([FIRST]) == 1
            with refused(UnknownSession):
                store.session(FIRST)
            assert store.sessions(Listing(trashed=True)) == ()
            assert texts(store.window(SECOND).entries) == [_LONG, "shown"]
            with refused(UnknownSession):
                store.entry(entries[2].id)
            assert store.check().problems == ()
            self.compact(store, SECOND, [said("s"), *store.window(SECOND).entries[1:]])
            assert texts(store.window(SECOND).entries) == ["s", "shown"]
            store.trash([SECOND], 6)
            store.purge([SECOND])
            health = store.check()
            assert (health.problems, health.sessions, health.messages) == ((), 0, 0)

    def test_a_purge_keeps_what_a_stand_in_needs(self, tmp_path: Path) -> None:
        """A shortened message leads to the whole one as long as it is shown anywhere."""
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, [said(_LONG)])
            child = Session(id=SECOND, source="cli", started=4, parent=FIRST, fork=Fork.BRANCH)
            store.spawn(Spawn(child=child, shows=(entry,)))
            self.compact(store, SECOND, [replace(said("short"), stands_for=entry.id)])
            store.trash([FIRST], 5)
            store.purge([FIRST])
            (shown,) = store.window(SECOND).entries
            assert store.whole(shown.id) == entry.message


@cases_of(Capability.LOG)
class HealthCases(StoreCase):
    """Checks and the end: a store says what it holds, and that it was closed."""

    def test_a_healthy_store_has_no_problems(self, tmp_path: Path) -> None:
        """And says what it holds."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said(_LONG), *drafts("a walrus", "b")])
            self.compact(store, FIRST, [said("s")])
            health = store.check()
            assert (health.problems, health.sessions, health.messages) == ((), 1, 4)

    def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        """And closing twice is harmless."""
        with self.opened(tmp_path) as store:
            assert store.name
            store.close()
            store.close()
            for work in (lambda: store.session(FIRST), lambda: store.append(FIRST, drafts("a"))):
                with refused(StoreError, "closed"):
                    work()


@cases_of(Capability.DURABLE)
class DurableCases(StoreCase):
    """What outlives the store that wrote it."""

    def test_what_was_written_is_there_when_the_store_is_opened_again(self, tmp_path: Path) -> None:
        """Sessions, windows, words, leases and small values, from two stores at once."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a walrus", "b"))
            self.compact(store, FIRST, [said("s"), store.window(FIRST).entries[1]])
            lease = store.acquire(Lease(FIRST, "me", 9), 0)
            before = (store.state(FIRST), store.window(FIRST), store.views(FIRST))
            with self.reopened(tmp_path) as other:
                assert (other.state(FIRST), other.window(FIRST), other.views(FIRST)) == before
                assert other.acquire(Lease(FIRST, "you", 99), 8) == lease
                other.append(FIRST, drafts("c"))
            assert texts(store.window(FIRST).entries) == ["s", "b", "c"]
        with self.reopened(tmp_path) as store:
            assert _found(store) == [FIRST]
            assert store.capabilities >= {Capability.DURABLE}


@cases_of(Capability.REPAIR)
class RepairCases(StoreCase):
    """Repairs of a file."""

    def test_a_repair_changes_nothing_that_is_in_order(self, tmp_path: Path) -> None:
        """Windows and what a search finds are as before."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said(_LONG), *drafts("a walrus", "b")])
            self.compact(store, FIRST, [said("s")])
            window, health = store.window(FIRST), store.check()
            assert health.bytes > 0
            assert health.version > 0
            assert _upkeep(store).repair()
            assert store.check().problems == ()
            assert store.window(FIRST) == window
            assert _found(store) == [FIRST, FIRST]


@cases_of(Capability.BACKUP)
class BackupCases(StoreCase):
    """Copies of a file."""

    def test_a_backup_is_a_store(self, tmp_path: Path) -> None:
        """With everything that was written before it; the original goes on."""
        target = tmp_path / "copies" / "copy.db"
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            for _ in range(2):
                _upkeep(store).backup(target)
            store.append(FIRST, drafts("c"))
        copy = self.make(target)
        try:
            assert texts(copy.window(FIRST).entries) == ["a", "b"]
            copy.append(FIRST, drafts("d"))
            assert copy.check().problems == ()
        finally:
            copy.close()

    def test_a_backup_never_takes_the_place_of_the_store(self, tmp_path: Path) -> None:
        """Nor of a directory."""
        with self.opened(tmp_path) as store:
            with refused(StoreError, "itself"):
                _upkeep(store).backup(tmp_path / "store.db")
            with refused(StoreError, "directory"):
                _upkeep(store).backup(tmp_path)
            assert store.session(FIRST).is_live


def _found(store: Store) -> list[str]:
    """Return the sessions in which a search finds a walrus."""
    return [hit.session_id for hit in _hits(store)]


def _hits(store: Store) -> tuple[Hit, ...]:
    return store.search("walrus", Filters(), limit=9, now=10_000)


def _upkeep(store: Store) -> FileUpkeep:
    return file_upkeep(store, store.name)
