"""What a store must do when many sessions are written in one step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.ports import Capability
from holdfast.recall import Filters
from holdfast.session import Addition, EndReason, Fork, Session, Spawn, Usage
from holdfast.testing.store_case import FIRST, SECOND, StoreCase, cases_of, drafts, refused, texts

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.ports import Store
    from holdfast.session import Draft

__all__ = ["AdditionCases"]

_THIRD = "20261116_090000_00000c"


@cases_of(Capability.LOG)
class AdditionCases(StoreCase):
    """Many sessions at once: created, written, or nothing of it."""

    def test_an_addition_is_as_much_as_creating_and_appending(self, tmp_path: Path) -> None:
        """Sessions, logs, costs and words are the same as if they had come one by one."""
        fresh = Session(id=SECOND, source="import:pi", started=5, metadata={"a": 1})
        child = Session(id=_THIRD, source="cli", started=7, parent=FIRST, fork=Fork.BRANCH)
        known, own, branched = drafts("quay"), drafts("pier", "jetty"), drafts("mole")
        with self.opened(tmp_path) as store:
            shows = store.append(FIRST, drafts("shared"))
            store.add(
                (
                    Addition(to=fresh, drafts=tuple(own), usage=Usage(1, 2, 3), size=0),
                    Addition(to=FIRST, drafts=tuple(known), size=1),
                    Addition(to=Spawn(child=child, shows=shows), drafts=tuple(branched)),
                )
            )
        with self.reopened(tmp_path) as store:
            stored = replace(fresh, root=SECOND, touched=3_000, size=2, usage=Usage(1, 2, 3))
            assert store.session(SECOND) == stored
            assert store.session(_THIRD) == replace(child, root=FIRST, touched=2_000, size=1)
            windows = [texts(store.window(id_).entries) for id_ in (FIRST, SECOND, _THIRD)]
            assert windows == [["shared", "quay"], ["pier", "jetty"], ["shared", "mole"]]
            for word, id_ in (("quay", FIRST), ("jetty", SECOND), ("mole", _THIRD)):
                hits = store.search(word, Filters(), limit=5, now=3_000)
                assert [hit.session_id for hit in hits] == [id_]
            assert store.check().problems == ()

    def test_of_additions_all_are_written_or_none(self, tmp_path: Path) -> None:
        """Whatever is wrong with the last of them: the id, the size, the session."""
        fresh = Addition(to=Session(id=SECOND, source="cli", started=5), drafts=_words())
        child = Session(id=_THIRD, source="cli", started=5)
        wrong = (
            (Addition(to=Session(id=FIRST, source="cli", started=5)), Conflict),
            (Addition(to=FIRST, drafts=_words(), size=3), Conflict),
            (Addition(to="nowhere", drafts=_words()), UnknownSession),
            (Addition(to=Spawn(child=child)), StoreError),
        )
        with self.opened(tmp_path) as store:
            for addition, kind in wrong:
                with refused(kind):
                    store.add((fresh, addition))
                assert _is_untouched(store)
            store.end(FIRST, EndReason.CLOSED, 9)
            with refused(SessionEnded):
                store.add((fresh, Addition(to=FIRST, drafts=_words())))
            assert _is_untouched(store)
            store.add((fresh,))
            assert texts(store.window(SECOND).entries) == ["words"]

    def test_long_texts_are_kept_behind_an_addition_that_says_nothing(self, tmp_path: Path) -> None:
        """A session may be created empty in the same step."""
        empty = Addition(to=Session(id=SECOND, source="cli", started=5))
        long = "a long text, stored apart from its message " * 200
        with self.opened(tmp_path) as store:
            store.add((empty, Addition(to=FIRST, drafts=tuple(drafts(long)))))
        with self.reopened(tmp_path) as store:
            assert texts(store.window(FIRST).entries) == [long]
            assert store.session(SECOND).size == 0

    def test_nothing_is_added_to_a_new_session_that_has_ended(self, tmp_path: Path) -> None:
        """Nor to one that should be longer than a new one is."""
        over = Session(id=SECOND, source="cli", started=5, ended=6, end_reason=EndReason.CLOSED)
        fresh = Session(id=SECOND, source="cli", started=5)
        with self.opened(tmp_path) as store:
            with refused(SessionEnded):
                store.add((Addition(to=over, drafts=_words()),))
            with refused(Conflict):
                store.add((Addition(to=fresh, drafts=_words(), size=2),))
            assert _is_untouched(store)

    def test_a_session_may_be_added_to_twice_in_one_step(self, tmp_path: Path) -> None:
        """The second addition follows the first, and none adds nothing."""
        with self.opened(tmp_path) as store:
            store.add(())
            store.add(
                (
                    Addition(to=FIRST, drafts=tuple(drafts("one")), size=0),
                    Addition(to=FIRST, drafts=tuple(drafts("two")), size=1),
                )
            )
            assert texts(store.window(FIRST).entries) == ["one", "two"]


def _words() -> tuple[Draft, ...]:
    return tuple(drafts("words"))


def _is_untouched(store: Store) -> bool:
    with refused(UnknownSession):
        store.session(SECOND)
    found = store.search("words", Filters(), limit=5, now=3_000)
    return store.session(FIRST).size == 0 and found == ()
