"""What a store must do with the rows of sessions, with many at once, and what it must find."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.ports import Amendment, Capability, Listing, Store
from holdfast.recall import Filters, MatchTier
from holdfast.session import Addition, Draft, EndReason, Fork, Session, Spawn, Usage
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
from holdfast.transcript import Message, Role, Text, ToolResult

if TYPE_CHECKING:
    from pathlib import Path


@cases_of(Capability.LOG)
class SessionCases(StoreCase):
    """Sessions: created, found, listed, amended, ended."""

    def test_a_session_is_stored_as_it_was_given(self, tmp_path: Path) -> None:
        """Every field comes back, after the store was opened again too."""
        given = Session(
            id=SECOND,
            source="import:pi",
            started=5,
            title="Täst \ud83d\0 title",
            model="m",
            goal="ship it",
            usage=Usage(1, 2, 3, 4, 5, 0.5),
            metadata={"a": {"b": [1, "\ud83d"]}},
            key="user-42",
        )
        with self.opened(tmp_path) as store:
            stored = store.create(given)
        assert stored == replace(given, root=SECOND, touched=5)
        with self.reopened(tmp_path) as store:
            assert store.session(SECOND) == stored

    def test_an_id_is_given_once(self, tmp_path: Path) -> None:
        """A second session of the same id is refused, and the first stays as it is."""
        with self.opened(tmp_path) as store:
            before = store.session(FIRST)
            with refused(Conflict, FIRST):
                store.create(Session(id=FIRST, source="api", started=9))
            assert store.session(FIRST) == before

    def test_a_session_with_a_parent_is_not_created(self, tmp_path: Path) -> None:
        """It must be spawned, because something may become of the parent."""
        with self.opened(tmp_path) as store, refused(StoreError, "parent"):
            store.create(Session(id=SECOND, source="cli", started=1, parent=FIRST))

    def test_a_session_that_is_not_there_is_unknown(self, tmp_path: Path) -> None:
        """Whatever is asked of it, and whatever it is called."""
        with self.opened(tmp_path) as store:
            for id_ in ("", "20261116_090000_ffffff", "\0", "\ud83d", "' OR 1"):
                for asked in (
                    store.session,
                    store.window,
                    store.head,
                    store.lineage,
                    store.views,
                    store.state,
                    partial(store.refresh, known=None),
                ):
                    with refused(UnknownSession):
                        asked(id_)
                with refused(UnknownSession):
                    store.append(id_, [said("words")])

    def test_the_session_touched_last_is_listed_first(self, tmp_path: Path) -> None:
        """A session is touched by its start and by every message."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=2_000))
            assert _ids(store, Listing()) == [SECOND, FIRST]
            store.append(FIRST, [said("words", 3_000)])
            assert _ids(store, Listing()) == [FIRST, SECOND]
            assert store.session(FIRST).touched == 3_000

    def test_a_listing_is_narrowed(self, tmp_path: Path) -> None:
        """By source, time, title, life, limit and offset."""
        with self.opened(tmp_path) as store:
            store.create(
                Session(id=SECOND, source="import:pi", started=5_000, title="ÄRGER im 50%_Büro")
            )
            store.end(SECOND, EndReason.CLOSED, 6_000)
            only_second = (
                Listing(sources=("import:",)),
                Listing(sources=("import:pi", "api")),
                Listing(exclude_sources=("cli",)),
                Listing(since=5_000),
                Listing(title="ärger IM 50%_b"),
                Listing(live=False),
                Listing(limit=1),
            )
            for listing in only_second:
                assert _ids(store, listing) == [SECOND], listing
            for listing in (
                Listing(exclude_sources=("import:",)),
                Listing(until=4_999),
                Listing(live=True),
                Listing(offset=1),
            ):
                assert _ids(store, listing) == [FIRST], listing
            assert _ids(store, Listing(title="%")) == [SECOND]
            assert _ids(store, Listing(title="x_x")) == []
            assert _ids(store, Listing(limit=None)) == [SECOND, FIRST]

    def test_an_amendment_changes_what_it_names(self, tmp_path: Path) -> None:
        """And leaves the rest; a value of None takes a key away."""
        with self.opened(tmp_path) as store:
            store.amend(FIRST, Amendment(title="One", metadata={"a": 1, "b": 2}))
            amended = store.amend(FIRST, Amendment(goal="ship", metadata={"a": None, "c": 3}))
            found = (amended.title, amended.goal, amended.model, amended.metadata)
            assert found == ("One", "ship", "", {"b": 2, "c": 3})
            assert store.session(FIRST) == amended

    def test_an_amendment_is_for_the_session_that_was_seen(self, tmp_path: Path) -> None:
        """Whoever comes second changes nothing; what was counted twice is taken back once."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [], Usage(3, 10, 20, 3, 4, 0.75))
            seen = store.amend(FIRST, Amendment(metadata={"a": [1, {"b": 2}]})).metadata
            back = Usage(-1, -4, -5, -1, -2, -0.5)
            change = Amendment(title="One", metadata={"c": 3}, usage=back, was=seen)
            amended = store.amend(FIRST, change)
            assert amended.usage == Usage(2, 6, 15, 2, 2, 0.25)
            assert amended.metadata == {"a": [1, {"b": 2}], "c": 3}
            with refused(Conflict, FIRST):
                store.amend(FIRST, change)
            assert store.session(FIRST) == amended

    def test_a_key_finds_the_session_of_its_caller(self, tmp_path: Path) -> None:
        """One session has it: a second that asks for it is refused, and nothing is written."""
        with self.opened(tmp_path) as store:
            assert store.keyed("user-42") is None
            amended = store.amend(FIRST, Amendment(key="user-42"))
            assert amended.key == "user-42"
            assert store.keyed("user-42") == store.session(FIRST) == amended
            with refused(Conflict, "user-42"):
                store.create(Session(id=SECOND, source="cli", started=1, key="user-42"))
            with refused(UnknownSession):
                store.session(SECOND)
            other = store.create(Session(id=SECOND, source="cli", started=1, key="\ud83d \0"))
            with refused(Conflict, FIRST):
                store.amend(SECOND, Amendment(key="user-42", title="not this either"))
            assert store.session(SECOND) == other
        with self.reopened(tmp_path) as store:
            assert store.keyed("user-42") == amended
            assert store.keyed("\ud83d \0") == other
            assert store.keyed("") is None
            assert store.amend(FIRST, Amendment(key="")).key is None
            assert store.keyed("user-42") is None
            assert store.amend(SECOND, Amendment(key="user-42")).key == "user-42"
            assert store.keyed("\ud83d \0") is None

    def test_of_many_threads_one_creates_the_session_of_a_key(self, tmp_path: Path) -> None:
        """And the others are told."""
        with self.opened(tmp_path) as store:

            def attempt(number: int) -> bool:
                try:
                    store.create(Session(id=f"s{number}", source="api", started=1, key="mine"))
                except Conflict:
                    return False
                return True

            with ThreadPoolExecutor(8) as pool:
                won = list(pool.map(attempt, range(8)))
            assert sum(won) == 1
            found = store.keyed("mine")
            assert found is not None
            assert found.id == f"s{won.index(True)}"

    def test_the_trash_gives_a_key_away(self, tmp_path: Path) -> None:
        """A session that comes back has it again, unless another took it meanwhile."""
        with self.opened(tmp_path) as store:
            store.amend(FIRST, Amendment(key="mine"))
            store.trash([FIRST], 5)
            assert store.keyed("mine") is None
            store.restore([FIRST])
            assert store.keyed("mine") == store.session(FIRST)
            store.trash([FIRST], 5)
            second = store.create(Session(id=SECOND, source="cli", started=1, key="mine"))
            store.restore([FIRST])
            assert store.keyed("mine") == second
            assert store.session(FIRST).key is None
            store.trash([SECOND], 5)
            store.purge([SECOND])
            assert store.keyed("mine") is None
            assert store.amend(FIRST, Amendment(key="mine")).key == "mine"

    def test_an_ended_session_takes_no_more(self, tmp_path: Path) -> None:
        """Nothing of a batch is written then."""
        with self.opened(tmp_path) as store:
            ended = store.end(FIRST, EndReason.CLOSED, 7_000)
            assert (ended.ended, ended.end_reason) == (7_000, EndReason.CLOSED)
            with refused(SessionEnded, "closed"):
                store.append(FIRST, [said("words")], Usage(calls=1))
            assert store.session(FIRST) == ended

    def test_an_end_that_follows_from_nothing_can_be_taken_back(self, tmp_path: Path) -> None:
        """A closed session goes on; one that was compacted away goes on elsewhere."""
        with self.opened(tmp_path) as store:
            store.end(FIRST, EndReason.CLOSED, 7_000)
            assert store.end(FIRST, None, 8_000).is_live
            assert store.end(FIRST, None, 8_000).is_live
            store.append(FIRST, [said("words")])
            store.end(FIRST, EndReason.COMPRESSION, 9_000)
            with refused(SessionEnded, "compression"):
                store.end(FIRST, None, 9_500)

    def test_the_first_end_stands(self, tmp_path: Path) -> None:
        """Closing a session that was compacted away does not make it one that may reopen."""
        with self.opened(tmp_path) as store:
            ended = store.end(FIRST, EndReason.COMPRESSION, 7_000)
            assert store.end(FIRST, EndReason.CLOSED, 8_000) == ended

    def test_usage_adds_up(self, tmp_path: Path) -> None:
        """With messages and without."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said("words")], Usage(1, 10, 20, 3, 4, 0.25))
            store.append(FIRST, [], Usage(1, 1, 1, 1, 1, 0.25))
            assert store.session(FIRST).usage == Usage(2, 11, 21, 4, 5, 0.5)

    def test_small_values_are_remembered(self, tmp_path: Path) -> None:
        """Under their names, the newest for each."""
        with self.opened(tmp_path) as store:
            assert store.remembered("window:m") is None
            store.remember("window:m", "8000")
            store.remember("window:m", "16000 \ud83d")
        with self.reopened(tmp_path) as store:
            assert store.remembered("window:m") == "16000 \ud83d"


def _ids(store: Store, listing: Listing) -> list[str]:
    return [session.id for session in store.sessions(listing)]


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


_TEXTS = (
    "The deployment of the billing service failed on Tuesday",
    "we went to the harbour and bought three lobsters",
    "rotate max_retries in src/retry_policy.py, then run make check",
    "naïve café, C# and C++ are not C",
    "今日は港で魚を買いました",
    "the failed tests of the billing team were run twice",
)
_QUERIES = {
    "lobster": [2],
    "Deploy": [1],
    '"billing service"': [1],
    "billing": [1, 6],
    "harb*": [2],
    "retry_pol": [3],
    "max_retries": [3],
    "cafe": [4],
    "C#": [4],
    "魚": [5],
    "billing NOT tests": [1],
    "lobsters OR 今日": [2, 5],
    "where did we purchase the lobsters?": [2],
    "elephant": [],
    '"service billing"': [],
}
"""What must be found, by position, in whatever order."""


@cases_of(Capability.SEARCH)
class SearchCases(StoreCase):
    """Search: what was said is found by its words, however it is asked for."""

    def test_a_query_finds_what_it_says(self, tmp_path: Path) -> None:
        """By words and their forms, phrases, beginnings, parts, operators and questions."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts(*_TEXTS))
            for query, expected in _QUERIES.items():
                hits = store.search(query, Filters(), limit=len(expected) or 1, now=9_000)
                assert sorted(hit.position for hit in hits) == expected, query

    def test_what_fits_better_comes_first(self, tmp_path: Path) -> None:
        """All the words, then words within longer ones, then some of them."""
        with self.opened(tmp_path) as store:
            store.append(
                FIRST, drafts("a red kite flew", "the kitesurfer is red", "a kite is blue", "dusk")
            )
            hits = store.search("red kite", Filters(), limit=4, now=9_000)
            assert [(hit.position, hit.tier) for hit in hits] == [
                (1, MatchTier.WORDS),
                (2, MatchTier.PARTS),
                (3, MatchTier.SOME),
            ]

    def test_filters_narrow_a_search(self, tmp_path: Path) -> None:
        """By source, session, lineage, model, role and time."""
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="import:pi", started=5_000, model="m"))
            store.append(FIRST, [said("a walrus", 2_000)])
            message = Message(Role.ASSISTANT, (Text("a walrus"),))
            store.append(SECOND, [Draft(message=message, at=6_000)])
            for filters in (
                Filters(sources=("import:",)),
                Filters(exclude_sources=("cli",)),
                Filters(sessions=(SECOND,)),
                Filters(lineages=(SECOND,)),
                Filters(exclude_lineages=(FIRST,)),
                Filters(models=("m",)),
                Filters(roles=(Role.ASSISTANT,)),
                Filters(since=5_500),
            ):
                assert _sessions(store, filters) == [SECOND], filters
            assert _sessions(store, Filters(until=3_000)) == [FIRST]
            assert sorted(_sessions(store, Filters())) == [FIRST, SECOND]

    def test_what_is_appended_is_found_at_once(self, tmp_path: Path) -> None:
        """In any session, the whole text of what was shortened too; what is derived is not."""
        whole = Message(Role.TOOL, (ToolResult("c", (Text("the zebrafish of the matter"),)),))
        short = Message(Role.TOOL, (ToolResult("c", (Text("…"),)),))
        with self.opened(tmp_path) as store:
            store.create(Session(id=SECOND, source="cli", started=1))
            (one,) = store.append(FIRST, drafts("a giraffe appears"))
            (other,) = store.append(SECOND, [Draft(message=short, at=1, whole=whole)])
            self.compact(store, FIRST, [said("summary of the giraffe")])

            def found(query: str) -> list[tuple[int, str]]:
                hits = store.search(query, Filters(), limit=9, now=10_000)
                return [(hit.message_id, hit.session_id) for hit in hits]

            assert found("giraffe") == [(one.id, FIRST)]
            assert found("zebrafish") == [(other.id, SECOND)]
            assert found("elephant") == []

    def test_any_query_has_an_answer(self, tmp_path: Path) -> None:
        """Punctuation is never an error."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said("half a pair \ud83d and words")])
            for query in ("", "\0", "\ud83d", '"', "don't", "NEAR(", "a" * 9_999):
                assert len(store.search(query, Filters(), limit=5, now=1)) <= 1


def _sessions(store: Store, filters: Filters) -> list[str]:
    return [hit.session_id for hit in store.search("walrus", filters, limit=9, now=10_000)]
