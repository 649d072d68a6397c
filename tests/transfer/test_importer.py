"""Arriving: whatever was told once is stored once, however often and by whomever it is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.compaction.repair import repair
from holdfast.errors import DecodeError, StoreError
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
)
from holdfast.ports import Amendment
from holdfast.ports.store import Listing
from holdfast.session import Draft, Fork, Usage
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, call, tool, user
from holdfast.transcript import Media, Message, Role, Text, check
from holdfast.transfer import (
    Count,
    ImportOrigin,
    ImportTally,
    Skipped,
    export_session,
    import_record,
)
from tests.formats.comparing import comparable
from tests.formats.event_strategies import Sayable, event_streams
from tests.transfer.taking import (
    NOW,
    ORIGIN,
    START,
    begun,
    folded,
    importer,
    opened,
    sessions,
    take,
    talk,
    told,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord

EVERYTHING = Sayable(has_rewinds=True, has_heads=True, has_system=True)


def telling(store: Store) -> list[list[Event]]:
    """Return everything in a store, family by family."""
    return [
        comparable(export_session(store, each.id, family=True))
        for each in sessions(store)
        if each.parent is None
    ]


@given(event_streams(EVERYTHING))
def test_what_was_taken_is_told_again_as_it_was(events: list[Event]) -> None:
    with opened() as store:
        tally = take(store, events)
        assert tally.count.messages == sum(isinstance(each, MessageEvent) for each in events)
        assert telling(store) == [comparable(events)]


@given(event_streams(EVERYTHING), st.data())
def test_a_file_that_grows_is_stored_as_if_it_had_been_whole(
    events: list[Event], data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(1, len(events)), max_size=4).map(sorted))
    with opened() as store:
        for cut in cuts:
            take(store, events[:cut])
        take(store, events)
        assert telling(store) == [comparable(events)]
        again = take(store, events)
    assert (again.sessions, again.grown, again.count) == ((), (), Count())


def test_a_tally_says_what_was_new_and_what_was_there() -> None:
    picture = Message(Role.USER, (Text("look"), Media(data="aGk=")))
    failed = replace(tool("c").results[0], is_error=True)
    events = [
        *talk("u1", "a1"),
        told("u2", picture),
        told("a2", assistant("", call("c"))),
        told("t2", Message(Role.TOOL, (failed,))),
        *folded("s1", "u2"),
    ]
    with opened() as store:
        first = take(store, events)
        (session,) = sessions(store)
        ids = (session.id,)
        number = Count(messages=6, tool_calls=1, images=1, errors=1, compactions=1)
        assert first == ImportTally(sessions=ids, count=number)
        assert take(store, events) == ImportTally(unchanged=ids)
        assert take(store, [*events, told("u3")]) == ImportTally(grown=ids, count=Count(messages=1))


def test_a_session_says_where_it_comes_from() -> None:
    usage = Usage(1, 10, 5)
    native = SourceMetadata(id="a1", model="opus", usage=usage, at=START + 5)
    answer = MessageEvent(strand=MAIN, line=3, key="a1", message=assistant("aye"), native=native)
    about = About(cwd="/srv/port", git_branch="main", version="2.1")
    with opened() as store:
        take(store, [begun(), MetadataUpdated(strand=MAIN, about=about), told("u1"), answer])
        (session,) = sessions(store)
        imported = import_record(session)
        assert imported is not None
        assert (imported.identity.system, imported.identity.name) == ("claude-code", "native-1")
        assert imported.file == ORIGIN.file
        assert session.source == "import:claude-code"
        assert (session.title, session.model, session.usage) == ("The harbor", "opus", usage)
        assert session.started == START
        assert {key: session.metadata[key] for key in ("cwd", "git_branch", "version")} == {
            "cwd": "/srv/port",
            "git_branch": "main",
            "version": "2.1",
        }
        (_, stored) = store.window(session.id).entries
        assert stored.at == START + 5
        assert native_of(stored.message).model == "opus"


def test_a_title_is_made_of_the_first_words_and_gives_way_to_a_better_one() -> None:
    with opened() as store:
        take(store, [begun(title=""), told("u1", user("Paint the lighthouse red"))])
        (session,) = sessions(store)
        assert session.title == "Paint the lighthouse red"
        events = [begun(title=""), told("u1", user("Paint the lighthouse red"))]
        take(store, [*events, MetadataUpdated(strand=MAIN, about=About(title="Lighthouse"))])
        assert store.session(session.id).title == "Lighthouse"
        store.amend(session.id, Amendment(title="Mine"))
        take(store, [*events, MetadataUpdated(strand=MAIN, about=About(title="Other"))])
        assert store.session(session.id).title == "Mine"


def test_a_message_without_a_time_has_the_last_one_that_is_known() -> None:
    timeless = replace(told("u2"), native=SourceMetadata(id="u2"))
    absurd = replace(told("u3"), native=SourceMetadata(id="u3", at=1 << 80))
    with opened() as store:
        take(store, [begun(), told("u1"), timeless, absurd])
        (session,) = sessions(store)
        known = told("u1").native.at
        assert [entry.at for entry in store.window(session.id).entries] == [known] * 3
        begins = [begun("other", started=START), timeless]
        (id_,) = take(store, begins).sessions
        assert store.window(id_).entries[0].at == START


def test_a_session_without_any_time_is_listed_last_and_claims_no_date() -> None:
    timeless = replace(told("u2"), native=SourceMetadata(id="u2"))
    with opened() as store:
        (undated,) = take(store, [begun("other", started=None), timeless]).sessions
        (dated,) = take(store, talk("u1")).sessions
        assert [each.id for each in store.sessions(Listing())] == [dated, undated]
        assert undated.startswith("undated_")
        assert (store.session(undated).started, store.session(undated).touched) == (0, 0)
        assert store.window(undated).entries[0].at == 0


def test_a_total_that_the_file_states_is_counted_once_and_grows_with_it() -> None:
    def events(calls: int, *keys: str) -> list[Event]:
        total = About(usage=Usage(calls, 10 * calls, calls))
        return [*talk(*keys), MetadataUpdated(strand=MAIN, about=total)]

    with opened() as store:
        for _ in range(2):
            take(store, events(2, "u1"))
            assert sessions(store)[0].usage == Usage(2, 20, 2)
        for _ in range(2):
            take(store, events(5, "u1", "u2"))
            assert sessions(store)[0].usage == Usage(5, 50, 5)


def test_a_stated_total_is_not_added_to_what_its_messages_cost() -> None:
    native = SourceMetadata(id="a1", usage=Usage(1, 10, 1))
    answer = MessageEvent(strand=MAIN, line=1, key="a1", message=assistant("x"), native=native)
    for events in (
        [begun(usage=Usage(3, 30, 3)), told("u1"), answer],
        [
            begun(),
            told("u1"),
            answer,
            MetadataUpdated(strand=MAIN, about=About(usage=Usage(3, 30, 3))),
        ],
    ):
        with opened() as store:
            for _ in range(2):
                take(store, events)
                assert sessions(store)[0].usage == Usage(3, 30, 3)


def test_usage_that_no_provider_counts_is_left_out() -> None:
    native = SourceMetadata(id="a1", usage=Usage(1, 1 << 70, 1))
    absurd = MessageEvent(strand=MAIN, line=1, key="a1", message=assistant("x"), native=native)
    with opened() as store:
        take(store, [begun(), absurd])
        assert sessions(store)[0].usage == Usage()


def test_files_without_ids_are_told_apart_by_their_path() -> None:
    with opened() as store:
        for file in ("a.json", "b.json", "a.json"):
            take(store, [begun(""), told("u1")], ImportOrigin("openai", file))
        assert len(sessions(store)) == 2


def test_an_id_that_is_told_after_the_first_message_makes_no_other_session() -> None:
    late = MetadataUpdated(strand=MAIN, about=About(id="native-1", cwd="/srv/harbor"))
    branch = StrandStarted(strand="b", line=1, about=About(), of=MAIN, fork=Fork.BRANCH, after="u1")
    events = [begun(""), told("u1"), late, told("a1"), branch, told("a2", strand="b")]
    with opened() as store:
        first = take(store, events)
        again = take(store, [*events, told("u2")])
        assert (again.sessions, again.count.messages) == ((), 1)
        assert [each.id for each in sessions(store)] == sorted(first.sessions)
        (imported,) = [import_record(each) for each in sessions(store) if each.parent is None]
        assert imported is not None
        assert imported.about.id == "native-1"


def test_two_conversations_of_one_file_are_two_sessions() -> None:
    second = StrandStarted(strand="1", line=2, about=About(id="native-2", started=START))
    with opened() as store:
        take(store, [begun(), second, told("u1"), told("u2", strand="1")])
        assert [words(store, each.id) for each in sessions(store)] in (
            [["words of u1"], ["words of u2"]],
            [["words of u2"], ["words of u1"]],
        )


def test_a_rewritten_file_becomes_a_branch_and_the_old_session_stays() -> None:
    with opened() as store:
        take(store, talk("u1", "a1", "u2", "a2"))
        tally = take(store, talk("u1", "a1", "u3", "a3"))
        old, new = sessions(store)
        assert (tally.sessions, tally.branches) == ((new.id,), 1)
        assert tally.count == Count(messages=2)
        assert (new.parent, new.fork) == (old.id, Fork.BRANCH)
        assert words(store, old.id) == [f"words of {key}" for key in ("u1", "a1", "u2", "a2")]
        assert words(store, new.id) == [f"words of {key}" for key in ("u1", "a1", "u3", "a3")]
        assert len(store.entries(new.id, 1, 10)) == 2


def test_each_version_of_a_rewritten_file_goes_on_where_it_is() -> None:
    first, second = ("u1", "a1", "u2", "a2"), ("u1", "a1", "u3", "a3")
    with opened() as store:
        take(store, talk(*first))
        take(store, talk(*second))
        old, new = sessions(store)
        assert take(store, talk(*first)).unchanged
        assert take(store, talk(*second)).unchanged
        assert take(store, talk(*second, "u4")).grown == (new.id,)
        assert take(store, talk(*first, "u5")).grown == (old.id,)
        third = take(store, talk(*second, "u6"))
        assert len(third.sessions) == 1
        assert store.session(third.sessions[0]).parent == new.id
        assert words(store, third.sessions[0])[-2:] == ["words of a3", "words of u6"]
        assert len(sessions(store)) == 3


def test_a_file_that_lost_its_end_changes_nothing() -> None:
    with opened() as store:
        take(store, talk("u1", "a1", "u2"))
        tally = take(store, talk("u1", "a1"))
        assert (tally.sessions, tally.grown, tally.count) == ((), (), Count())
        assert len(tally.unchanged) == 1


def test_a_file_that_begins_differently_shares_nothing() -> None:
    with opened() as store:
        take(store, talk("u1", "a1"))
        take(store, talk("u2", "a2"))
        old, new = sessions(store)
        assert new.parent == old.id
        assert words(store, new.id) == ["words of u2", "words of a2"]


def test_a_file_whose_beginning_was_taken_away_becomes_a_branch() -> None:
    with opened() as store:
        (old,) = take(store, talk("u1", "a1", "u2")).sessions
        tally = take(store, [begun(started=START + 5_000), told("a1"), told("u2")])
        (branch,) = tally.sessions
        assert tally.branches == 1
        assert store.session(branch).parent == old
        assert words(store, branch) == ["words of a1", "words of u2"]
        assert words(store, old) == ["words of u1", "words of a1", "words of u2"]
        again = take(store, [begun(started=START + 5_000), told("a1"), told("u2")])
        assert again == ImportTally(unchanged=again.unchanged)


def test_a_child_whose_parent_was_deleted_meanwhile_is_a_session_of_its_own() -> None:
    with opened() as store:
        brings = importer(store)
        child = [begun("child", parent="native-1", fork=Fork.DELEGATION), told("u9")]
        (parent,) = brings.take(ORIGIN, lambda: iter(talk("u1"))).sessions
        brings.take(ORIGIN, lambda: iter([begun("one", parent="native-1"), told("u8")]))
        store.trash((parent,), at=1)
        store.purge((parent,))
        (made,) = brings.take(ORIGIN, lambda: iter(child)).sessions
        assert store.session(made).parent is None


def test_a_session_that_went_on_here_is_not_mixed_with_what_went_on_there() -> None:
    with opened() as store:
        take(store, talk("u1", "a1"))
        (session,) = sessions(store)
        store.append(session.id, [Draft(message=user("said here"), at=NOW)])
        assert take(store, talk("u1", "a1")).unchanged == (session.id,)
        tally = take(store, talk("u1", "a1", "u2"))
        assert words(store, session.id) == ["words of u1", "words of a1", "said here"]
        assert words(store, tally.sessions[0]) == ["words of u1", "words of a1", "words of u2"]
        grown = take(store, talk("u1", "a1", "u2", "a2"))
        assert grown.grown == tally.sessions


def test_a_branch_of_a_compacted_file_shows_what_the_agent_saw() -> None:
    common = [*talk("u1", "a1", "u2", "a2"), *folded("s1", "u2", "a2")]
    with opened() as store:
        take(store, [*common, told("u3")])
        (id_,) = take(store, [*common, told("u4")]).sessions
        facts = "the facts before s1"
        assert words(store, id_) == [facts, "words of u2", "words of a2", "words of u4"]


def test_a_session_in_the_trash_is_left_alone() -> None:
    with opened() as store:
        take(store, talk("u1"))
        (session,) = sessions(store)
        store.trash([session.id], NOW)
        tally = take(store, talk("u1", "a1"))
        reason = "it is in the trash; restore it, or delete it there to import it again"
        assert tally == ImportTally(skipped=(Skipped(session.id, reason),))
        assert store.session(session.id).size == 1


def test_the_strands_of_a_session_in_the_trash_are_left_alone_too() -> None:
    side = StrandStarted(strand="side", line=2, about=About(), of=MAIN, fork=Fork.DELEGATION)
    with opened() as store:
        take(store, talk("u1"))
        store.trash([sessions(store)[0].id], NOW)
        tally = take(store, [*talk("u1"), side, told("u2", strand="side")])
        assert (tally.sessions, len(tally.skipped)) == ((), 2)


def test_a_branch_in_the_trash_is_left_alone_and_not_made_again() -> None:
    with opened() as store:
        take(store, talk("u1", "u2"))
        (branch,) = take(store, talk("u1", "u3")).sessions
        store.trash([branch], NOW)
        tally = take(store, talk("u1", "u3", "u4"))
        assert [each.session for each in tally.skipped] == [branch]
        assert tally.count == Count()


def test_a_deleted_session_comes_back_with_its_file() -> None:
    with opened() as store:
        take(store, talk("u1", "a1"))
        (session,) = sessions(store)
        store.trash([session.id], NOW)
        store.purge([session.id])
        assert take(store, talk("u1", "a1", "u2")).count.messages == 3
        assert len(sessions(store)) == 1


def test_a_deleted_session_comes_back_though_a_branch_shows_some_of_it() -> None:
    with opened() as store:
        take(store, talk("u1", "u2"))
        (branch,) = take(store, talk("u1", "u3")).sessions
        (root,) = [each for each in sessions(store) if each.id != branch]
        store.trash([root.id], NOW)
        store.purge([root.id])
        tally = take(store, talk("u1", "u2"))
        (again,) = tally.sessions
        assert again != root.id
        assert words(store, again) == ["words of u1", "words of u2"]
        assert take(store, talk("u1", "u2")).unchanged == (again,)


def test_a_child_in_another_file_is_the_child_of_its_session() -> None:
    about = {"parent": "native-1", "fork": Fork.DELEGATION}
    with opened() as store:
        taking = importer(store)
        taking.take(ORIGIN, lambda: iter(talk("u1")))
        taking.take(
            ImportOrigin("claude-code", "child"), lambda: iter([begun("c", **about), told("u2")])
        )
        parent, child = sessions(store)
        assert (child.parent, child.fork) == (parent.id, Fork.DELEGATION)
        orphan = begun("d", parent="nobody", fork=Fork.BRANCH)
        taking.take(ImportOrigin("claude-code", "orphan"), lambda: iter([orphan, told("u3")]))
        assert [each.parent for each in sessions(store)].count(None) == 2


def test_a_child_in_the_same_file_is_the_child_of_its_session() -> None:
    about = About(id="native-2", parent="native-1", fork=Fork.DELEGATION, started=START)
    child = StrandStarted(strand="1", line=2, about=about)
    events = [*talk("u1"), child, told("u2", strand="1")]
    with opened() as store:
        take(store, events)
        parent, made = sessions(store)
        assert (made.parent, made.fork) == (parent.id, Fork.DELEGATION)
        assert take(store, events).count == Count()


def test_a_branch_shares_what_its_parent_showed() -> None:
    branch = StrandStarted(strand="b", line=9, about=About(), of=MAIN, fork=Fork.BRANCH, after="a1")
    events = [*talk("u1", "a1", "u2", "a2"), branch, told("u3", strand="b")]
    with opened() as store:
        tally = take(store, events)
        assert tally.branches == 1
        parent, child = sessions(store)
        assert words(store, child.id) == ["words of u1", "words of a1", "words of u3"]
        assert (child.parent, child.title) == (parent.id, "The harbor #2")
        more = [*events, told("a3", strand="b")]
        assert take(store, more).grown == (child.id,)


def test_a_branch_that_leaves_before_a_compaction_shows_what_was_seen_then() -> None:
    branch = StrandStarted(strand="b", line=9, about=About(), of=MAIN, fork=Fork.BRANCH, after="a1")
    events = [*talk("u1", "a1", "u2"), *folded("s1"), branch, told("u3", strand="b")]
    with opened() as store:
        take(store, events)
        _, child = sessions(store)
        assert words(store, child.id) == ["words of u1", "words of a1", "words of u3"]


def test_a_rewind_that_is_told_again_is_not_made_again() -> None:
    back = RewindEvent(strand=MAIN, line=3, shows=("u1",))
    events = [*talk("u1", "a1"), back]
    with opened() as store:
        assert take(store, events).count == Count(messages=2, rewinds=1)
        assert take(store, events).count == Count()
        assert take(store, [*events, told("u2")]).count == Count(messages=1)
        (session,) = sessions(store)
        assert words(store, session.id) == ["words of u1", "words of u2"]


def test_events_before_any_beginning_begin_a_conversation() -> None:
    with opened() as store:
        tally = take(store, [told("u1"), begun()])
        assert len(tally.sessions) == 1


def test_an_unknown_key_is_passed_over_in_a_window() -> None:
    fold = CompactionEvent(strand=MAIN, line=1, id="f", shows=("ghost", "a1"))
    with opened() as store:
        take(store, [*talk("u1", "a1"), fold])
        assert words(store, sessions(store)[0].id) == ["words of a1"]


def test_problems_are_told_and_what_stands_around_them_is_stored() -> None:
    problem = Problem(7, "not JSON")

    def torn() -> Iterator[Event]:
        yield from (begun(), told("u1"), problem, told("a1"))
        raise DecodeError("json", "line 9", "the text ends in the middle")

    with opened() as store:
        tally = importer(store).take(ORIGIN, torn)
        said = Problem(0, "json: line 9: the text ends in the middle")
        assert tally.problems == (problem, said)
        assert tally.count.messages == 2


def test_the_window_of_an_imported_session_is_valid_whenever_results_came_late() -> None:
    events = [
        begun(),
        told("u1"),
        told("a1", assistant("", call("x"))),
        told("a2", assistant("", call("y"))),
        told("t1", tool("y", "2")),
        told("u2", user("meanwhile")),
        told("t2", tool("x", "1")),
    ]
    with opened() as store:
        take(store, events)
        shown = repair(store.window(sessions(store)[0].id).transcript)
    assert check(shown) == ()
    assert [message.results[0].text for message in shown if message.results] == ["1", "2"]


class Failing:
    """A store whose nth write fails, as on a full disk."""

    def __init__(self, store: SqliteStore, fails_at: int) -> None:
        self._store = store
        self._fails_at = fails_at
        self._numbers = count()

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._store, name)
        if name not in {"create", "spawn", "add", "append", "change", "amend"}:
            return method

        def write(*arguments: object, **options: object) -> object:
            number = next(self._numbers)
            if number == self._fails_at:
                raise StoreError("there is no space left")
            return method(*arguments, **options)

        return write


def _rich() -> list[Event]:
    branch = StrandStarted(strand="b", line=9, about=About(), of=MAIN, fork=Fork.BRANCH, after="u3")
    side = StrandStarted(strand="side", line=9, about=About(), of=MAIN, fork=Fork.DELEGATION)
    return [
        *talk("u1", "a1"),
        side,
        told("u2", strand="side"),
        *folded("s1", "a1"),
        told("u3"),
        RewindEvent(strand=MAIN, line=1, shows=("s1",), at=START),
        *folded("s2"),
        told("a4"),
        branch,
        told("u5", strand="b"),
        MetadataUpdated(strand=MAIN, about=About(title="At last", usage=Usage(4, 40, 4))),
    ]


class Noticing(SqliteStore):
    """A store that knows how often somebody read all changes of a window."""

    looks = 0

    def compactions(self, id_: str) -> tuple[CompactionRecord, ...]:
        self.looks += 1
        return super().compactions(id_)


def test_the_changes_of_a_window_are_not_read_again_for_each_of_them(tmp_path: Path) -> None:
    folds = [event for number in range(30) for event in folded(f"s{number}")]
    rewinds = [
        RewindEvent(strand=MAIN, line=1, shows=(f"s{number}",), at=START) for number in range(30)
    ]
    events = [*talk("u1"), *folds, *rewinds]
    with closing(Noticing(tmp_path / "holdfast.db")) as store:
        assert take(store, events).count == Count(messages=31, compactions=30, rewinds=30)
        assert store.looks == 1
        assert take(store, [*events, told("u2"), *folds[:2], *rewinds[:1]]).count.compactions == 0


def test_an_import_that_failed_anywhere_goes_on_from_there() -> None:
    events = _rich()
    fails_at, failed = -1, True
    while failed:
        fails_at += 1
        with opened() as store:
            failing = importer(Failing(store, fails_at))  # type: ignore[arg-type]
            try:
                failing.take(ORIGIN, lambda: iter(events))
            except StoreError:
                failed = True
            else:
                failed = False
            take(store, events)
            assert telling(store) == [comparable(events)]
            assert {each.title for each in sessions(store)} >= {"At last"}
            assert sessions(store)[0].usage == Usage(4, 40, 4)
    assert fails_at > 8


def test_several_who_import_the_same_file_at_once_store_it_once(tmp_path: Path) -> None:
    events = [*talk(*(f"m{number}" for number in range(700))), *folded("s9"), *_rich()[1:]]
    events += [told(f"n{number}") for number in range(600)]
    path = tmp_path / "holdfast.db"
    with closing(SqliteStore(path)) as store:
        store.check()

        def run(_: int) -> ImportTally:
            with closing(SqliteStore(path)) as own:
                return take(own, events)

        with ThreadPoolExecutor(4) as pool:
            tallies = list(pool.map(run, range(4)))
        assert telling(store) == [comparable(events)]
        made = [id_ for tally in tallies for id_ in tally.sessions]
        assert sorted(made) == sorted(each.id for each in sessions(store))
        total = sum(tally.count.messages for tally in tallies)
        assert total == sum(isinstance(each, MessageEvent) for each in events)
