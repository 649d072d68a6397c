"""Leaving: a session is told as it was said, with everything that happened to its window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.replay import replay
from holdfast.session import (
    Cause,
    Change,
    CompactionRecord,
    Draft,
    EndReason,
    Fork,
    Session,
    Spawn,
    Usage,
)
from holdfast.testing.builders import assistant, user
from holdfast.transcript import Message, Role, Summary, Synthetic
from holdfast.transfer import export_session
from tests.transfer.taking import NOW, START, begun, folded, opened, sessions, take, talk, told

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry

SUMMARY = Message(Role.USER, (Summary("what was said"),), synthetic=Synthetic.SUMMARY)


def started(store: Store, *texts: str, id_: str = "own") -> tuple[Entry, ...]:
    store.create(Session(id=id_, source="cli", started=1, title="Mine", model="opus"))
    speakers = (user, assistant)
    drafts = [
        Draft(message=speakers[place % 2](text), at=place) for place, text in enumerate(texts)
    ]
    return store.append(id_, drafts)


def compacted(store: Store, kept: tuple[Entry, ...], id_: str = "own") -> None:
    head = store.head(id_)
    report = {"tokens_before": 9, "tokens_after": 3}
    record = CompactionRecord(at=7, trigger="manual", summary="what was said", report=report)
    store.change(
        id_,
        Change(
            cause=Cause.COMPACTION,
            pieces=(Draft(message=SUMMARY, at=7), *kept),
            generation=head.generation,
            seen=head.size,
            at=7,
            compaction=record,
        ),
    )


def texts_of(store: Store, id_: str, *, family: bool = False) -> list[str]:
    """Return what is told, in a word each."""
    found: list[str] = []
    for event in export_session(store, id_, family=family):
        match event:
            case MessageEvent(message=message):
                found.append(message.text or "summary")
            case StrandStarted(strand=strand, after=after):
                found.append(f"begun {strand} {after}".strip())
            case CompactionEvent() | RewindEvent():
                found.append(f"{type(event).__name__} {len(event.shows)}")
            case _:
                raise AssertionError(event)
    return found


def test_a_session_of_ours_is_told_with_its_own_id_times_and_model() -> None:
    with opened() as store:
        started(store, "hello there", "aye")
        begun, asked, answered = export_session(store, "own")
    assert isinstance(begun, StrandStarted)
    assert (begun.about.id, begun.about.title, begun.about.model) == ("own", "Mine", "opus")
    assert isinstance(asked, MessageEvent)
    assert isinstance(answered, MessageEvent)
    assert (asked.message, asked.native.at, asked.native.model) == (user("hello there"), None, "")
    assert (answered.native.at, answered.native.model) == (1, "opus")


def test_a_compaction_of_ours_is_told_as_one_of_an_agent() -> None:
    with opened() as store:
        entries = started(store, "one", "two", "three", "four")
        compacted(store, entries[2:])
        store.append("own", [Draft(message=user("five"), at=9)])
        events = list(export_session(store, "own"))
        window = store.window("own").transcript
    (fold,) = (each for each in events if isinstance(each, CompactionEvent))
    assert (fold.at, fold.trigger, fold.tokens_before, fold.tokens_after) == (7, "manual", 9, 3)
    (replayed,) = replay(events)
    assert [each.text for each in replayed.window] == [each.text for each in window]


def test_what_was_shortened_is_told_whole() -> None:
    with opened() as store:
        (entry,) = started(store, "short")
        whole = assistant("a very long answer")
        store.append("own", [Draft(message=assistant("a very…"), whole=whole, at=2)])
        head = store.head("own")
        stand_in = Draft(message=user("sh"), at=3, stands_for=entry.id)
        change = Change(
            cause=Cause.COMPACTION, pieces=(stand_in,), generation=head.generation, seen=2, at=3
        )
        store.change("own", change)
        assert texts_of(store, "own") == [
            "begun",
            "short",
            "a very long answer",
            "RewindEvent 1",
        ]


def test_a_summary_in_front_of_a_users_words_is_told() -> None:
    with opened() as store:
        entries = started(store, "one", "two", "three")
        both = replace(user("three"), parts=(*SUMMARY.parts, *user("three").parts))
        head = store.head("own")
        change = Change(
            cause=Cause.COMPACTION,
            pieces=(Draft(message=both, at=7, stands_for=entries[2].id),),
            generation=head.generation,
            seen=head.size,
            at=7,
            compaction=CompactionRecord(at=7, trigger="auto", summary="what was said"),
        )
        store.change("own", change)
        events = list(export_session(store, "own"))
    (replayed,) = replay(events)
    assert [each.parts for each in replayed.window] == [both.parts]


def test_a_compaction_that_was_taken_back_leaves_what_shows_now() -> None:
    with opened() as store:
        entries = started(store, "one", "two")
        compacted(store, entries[1:])
        store.move("own", None, store.head("own").generation)
        told = texts_of(store, "own")
    assert told == ["begun", "one", "two", "summary", "CompactionEvent 2", "RewindEvent 2"]


def test_a_rotated_session_is_told_from_its_first_word() -> None:
    with opened() as store:
        entries = started(store, "one", "two")
        child = Session(id="next", source="cli", started=5, parent="own", fork=Fork.COMPRESSION)
        record = CompactionRecord(at=5, trigger="in_loop")
        change = Change(
            cause=Cause.COMPACTION,
            pieces=(Draft(message=SUMMARY, at=5), entries[1]),
            generation=0,
            seen=2,
            at=5,
            compaction=record,
        )
        end = EndReason.COMPRESSION
        store.spawn(Spawn(child=child, shows=entries, parent_end=end, change=change))
        store.append("next", [Draft(message=user("three"), at=6)])
        told = texts_of(store, "next")
    assert told == ["begun", "one", "two", "summary", "CompactionEvent 2", "three"]


def test_branches_and_sub_agents_are_told_where_they_began() -> None:
    with opened() as store:
        first, _ = started(store, "one", "two")
        for id_, fork, shows in (
            ("side", Fork.DELEGATION, ()),
            ("branch", Fork.BRANCH, (first,)),
            ("gone", Fork.BRANCH, (first,)),
        ):
            child = Session(id=id_, source="cli", started=0, parent="own", fork=fork)
            store.spawn(Spawn(child=child, shows=shows))
            store.append(id_, [Draft(message=user(f"in {id_}"), at=3)])
        store.trash(["gone"], NOW)
        told = texts_of(store, "own", family=True)
        alone = texts_of(store, "own")
        branch = texts_of(store, "branch")
    key = f"#{first.id}"
    assert told == [
        "begun",
        "one",
        "begun side",
        "in side",
        "two",
        f"begun branch {key}",
        "in branch",
    ]
    assert alone == ["begun", "one", "two"]
    assert branch == ["begun", "one", "in branch"]


def test_a_second_version_of_a_file_is_told_as_a_branch() -> None:
    with opened() as store:
        take(store, talk("u1", "u2"))
        (other,) = take(store, talk("u1", "u3")).sessions
        root, _ = sessions(store)
        told = texts_of(store, root.id, family=True)
    assert told == ["begun", "words of u1", "words of u2", f"begun {other} u1", "words of u3"]


def test_what_is_told_can_be_taken_by_another_store() -> None:
    with opened() as store, opened() as other:
        take(store, [*talk("u1", "a1"), *folded("s1", "a1")])
        (session,) = sessions(store)
        store.pin(session.id, store.window(session.id).entries[0].id, pinned=True)
        events = list(export_session(store, session.id))
        assert isinstance(events[0], StrandStarted)
        assert events[0].strand == MAIN
        take(other, events)
        assert list(export_session(other, session.id)) == events


def test_a_branch_that_is_told_alone_has_the_name_and_the_folder_of_what_it_left() -> None:
    branch = StrandStarted(strand="b", line=4, about=About(), of=MAIN, fork=Fork.BRANCH, after="u1")
    events = (
        begun(cwd="/srv/shop", git_branch="main", version="2.0", usage=Usage(3, 30)),
        told("u1"),
        told("a1"),
        branch,
        told("a2", strand="b"),
    )
    with opened() as store:
        take(store, events)
        child = next(each for each in sessions(store) if each.fork is Fork.BRANCH)
        first = next(iter(export_session(store, child.id)))
        assert isinstance(first, StrandStarted)
        assert first.about == About(
            id="native-1",
            title=child.title,
            cwd="/srv/shop",
            git_branch="main",
            version="2.0",
            started=START,
        )
