"""The ledger: a file that did not change is not read again."""

from __future__ import annotations

from holdfast.transfer import FileFingerprint, ImportedFiles
from tests.transfer.taking import opened, take, talk


def test_a_file_is_known_by_its_size_and_time_once_it_was_entered() -> None:
    with opened() as store:
        ledger = ImportedFiles(store)
        assert not ledger.is_known("/a", FileFingerprint(5, 10))
        ledger.enter("/a", FileFingerprint(5, 10, "d"), ())
        assert ledger.is_known("/a", FileFingerprint(5, 10))
        assert not ledger.is_known("/a", FileFingerprint(6, 10))
        assert not ledger.is_known("/a", FileFingerprint(5, 11))
        assert not ledger.is_known("/b", FileFingerprint(5, 10))


def test_a_digest_says_more_than_a_time() -> None:
    with opened() as store:
        ledger = ImportedFiles(store)
        ledger.enter("/a", FileFingerprint(5, 10, "d"), ())
        assert ledger.is_known("/a", FileFingerprint(5, 99, "d"))
        assert not ledger.is_known("/a", FileFingerprint(5, 10, "e"))


def test_the_same_content_is_found_under_the_path_that_came_first() -> None:
    with opened() as store:
        ledger = ImportedFiles(store)
        ledger.enter("/a", FileFingerprint(5, 10, "d"), ())
        ledger.enter("/b", FileFingerprint(5, 10, "d"), ())
        assert ledger.twin("/b", "d") == "/a"
        assert ledger.twin("/a", "d") is None
        assert ledger.twin("/a", "e") is None


def test_what_other_readers_have_read_is_read_once_more() -> None:
    with opened() as store:
        store.remember("import:file:/a", '[0,"/a",[5,10,"d"],[]]')
        assert not ImportedFiles(store).is_known("/a", FileFingerprint(5, 10))


def test_a_file_is_known_only_while_its_sessions_are_there() -> None:
    with opened() as store:
        ledger, (id_,) = ImportedFiles(store), take(store, talk("u1")).sessions
        ledger.enter("/a", FileFingerprint(5, 10, "d"), (id_,))
        store.trash((id_,), at=1)
        assert (ledger.is_known("/a", FileFingerprint(5, 10)), ledger.twin("/b", "d")) == (
            False,
            None,
        )
        store.restore((id_,))
        assert (ledger.is_known("/a", FileFingerprint(5, 10)), ledger.twin("/b", "d")) == (
            True,
            "/a",
        )
        store.trash((id_,), at=1)
        store.purge((id_,))
        assert (ledger.is_known("/a", FileFingerprint(5, 10)), ledger.twin("/b", "d")) == (
            False,
            None,
        )
        ledger.enter("/b", FileFingerprint(5, 10, "d"), ())
        assert ledger.twin("/a", "d") == "/b"
