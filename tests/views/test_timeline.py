"""A story tells everything in order, and what the model still sees of it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.ports import Store
from holdfast.session import Cause, Change, CompactionRecord, Draft, Session
from holdfast.session.lineage_reader import said_until, window_entries
from holdfast.transcript import Message, Role, Summary, Text
from holdfast.views.messages import Visibility, full_text, message_fields
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineEvent,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
    timeline,
    window_timeline,
)
from holdfast.wiring import Conversation, open_store
from tests.cli.stored import answered, compacted, conversation, store_in, talk

NAMES = {
    TimelineMessage: "message",
    TimelineCompaction: "compaction",
    TimelineRewind: "rewind",
    TimelineFork: "fork",
}


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """Return an open store in the home of the test."""
    store_in(home).parent.mkdir(parents=True, exist_ok=True)
    opened = open_store(store_in(home), os.environ)
    yield opened
    opened.close()


def told(store: Store, id_: str) -> list[TimelineEvent]:
    return list(timeline(store, store.session(id_)))


def said(happenings: list[TimelineEvent]) -> list[TimelineMessage]:
    return [each for each in happenings if isinstance(each, TimelineMessage)]


def test_everything_that_was_said_is_told_and_the_window_is_marked(
    home: Path, store: Store
) -> None:
    id_ = compacted(store_in(home))
    happenings = told(store, id_)
    assert [each.entry for each in said(happenings)] == list(said_until(store, id_))
    window = store.window(id_)
    shown = {entry.id for entry in window.entries}
    stood_for = {entry.stands_for for entry in window.entries} - {None}
    assert {each.entry.id for each in said(happenings) if each.visibility is Visibility.SEEN} == (
        shown & {each.entry.id for each in said(happenings)}
    )
    assert {
        each.entry.id for each in said(happenings) if each.visibility is Visibility.SHORTENED
    } == stood_for
    assert {each.visibility for each in said(happenings)} == set(Visibility)


def test_a_compaction_is_told_where_it_happened_with_what_it_wrote(
    home: Path, store: Store
) -> None:
    happenings = told(store, compacted(store_in(home)))
    (place,) = (n for n, each in enumerate(happenings) if isinstance(each, TimelineCompaction))
    assert len(happenings) - place - 1 == 4
    change = happenings[place]
    assert isinstance(change, TimelineCompaction)
    assert [entry.message.summary is not None for entry in change.summaries] == [True]
    assert not change.is_undone


def test_what_was_undone_is_told_as_undone(home: Path, store: Store) -> None:
    id_ = compacted(store_in(home))
    with Conversation.open(id_, store=store_in(home), active=False) as chat:
        chat.rewind()
        assert chat.undo()
        assert chat.undo()
    changes = [
        each for each in told(store, id_) if isinstance(each, TimelineCompaction | TimelineRewind)
    ]
    assert [(type(each), each.is_undone) for each in changes] == [
        (TimelineCompaction, True),
        (TimelineRewind, True),
    ]
    assert {each.visibility for each in said(told(store, id_))} == {Visibility.SEEN}


@pytest.mark.parametrize("strategy", ["in_place", "rotation"])
def test_a_branch_tells_what_its_parent_said_before_it(
    home: Path, store: Store, strategy: str
) -> None:
    with conversation(store_in(home), 16, strategy=strategy) as chat:
        chat.compress()
        child = chat.branch(keep_parent=True)
        chat.add_user("said later in the parent")
        talk(child, 1, 50)
        name = child.id
    happenings = told(store, name)
    assert [each.entry for each in said(happenings)] == list(said_until(store, name))
    begun = [each.session.id for each in happenings if isinstance(each, TimelineFork)]
    assert begun[-1] == name
    (change,) = (each for each in happenings if isinstance(each, TimelineCompaction))
    # What the window shows has a place in the story, or stands for something that has.
    places = {each.entry.id for each in said(happenings)}
    places |= {entry.id for entry in change.summaries}
    lost = [
        entry
        for entry in window_entries(store, name)
        if entry.id not in places and entry.stands_for not in places
    ]
    assert lost == []


def test_a_branch_of_a_deleted_session_tells_what_is_left(home: Path, store: Store) -> None:
    with conversation(store_in(home), 16) as chat:
        chat.compress()
        child = chat.branch()
        child.add_user("said in the branch")
        parent, name = chat.id, child.id
    store.trash([parent], 1)
    store.purge([parent])
    happenings = said(told(store, name))
    assert [each.entry for each in happenings] == list(window_entries(store, name))
    assert happenings[-1].message.text == "said in the branch"


def test_the_window_is_read_as_the_store_reads_it(home: Path, store: Store) -> None:
    id_ = compacted(store_in(home))
    window = store.window(id_).entries
    assert tuple(window_entries(store, id_)) == window
    assert list(window_timeline(store, store.session(id_))) == [
        TimelineMessage(entry, entry.message, Visibility.SEEN) for entry in window
    ]


def test_what_the_window_shows_shortened_is_told_whole(home: Path, store: Store) -> None:
    output = "".join(f"line {number}\n" for number in range(30_000))
    with conversation(store_in(home), 1) as chat:
        answered(chat, output)
        id_ = chat.id
    last = said(told(store, id_))[-1]
    assert last.message.results[0].text == output
    assert last.visibility is Visibility.SHORTENED


def test_the_summary_of_another_agent_is_told_once(store: Store) -> None:
    store.create(Session(id="20260101_000000_00000a", source="import:pi", started=1))
    summary = Message(Role.USER, (Summary("what was done", "pi"),))
    drafts = [
        Draft(message=Message(Role.USER, (Text("hi"),)), at=1),
        Draft(message=summary, at=2),
    ]
    entries = store.append("20260101_000000_00000a", drafts)
    store.change(
        "20260101_000000_00000a",
        Change(
            cause=Cause.COMPACTION,
            pieces=entries[1:],
            generation=0,
            seen=2,
            at=3,
            compaction=CompactionRecord(at=3, trigger="auto", summary="what was done"),
        ),
    )
    *_, last, change = told(store, "20260101_000000_00000a")
    assert isinstance(last, TimelineMessage)
    assert last.message == summary
    assert isinstance(change, TimelineCompaction)
    assert (change.record.summary, change.summaries) == ("", ())


def test_a_timeline_is_plain_json(home: Path, store: Store) -> None:
    id_ = compacted(store_in(home))
    events = told(store, id_)
    found = json.loads(json.dumps([each.as_json() for each in events]))
    assert [each["event"] for each in found] == [NAMES[type(each)] for each in events]
    first = said(events)[0]
    assert found[0] == {
        "event": "message",
        **message_fields(first.entry, first.message),
        "text": full_text(first.message),
        "visibility": first.visibility.name.lower(),
    }
    (change,) = [each for each in found if each["event"] == "compaction"]
    assert change["summaries"]
    assert change["undone"] is False
