"""Views: entries by reference, and the way back to what was undone."""

import dataclasses

from msgspec.structs import replace

from holdfast.session import (
    MESSAGE_ID_MARK,
    Cause,
    Draft,
    Entry,
    Head,
    Kind,
    Session,
    Span,
    Usage,
    View,
    Window,
    fork_view,
    line_to,
    merge_spans,
    names_itself,
    redo_target,
    session_id,
    undo_target,
    with_originals,
    with_own_id,
)
from holdfast.transcript import Message, Recalled, Role, Summary, Synthetic, Text


def entry(session: str, position: int, tokens: int = 2) -> Entry:
    message = Message(Role.USER, (Text(str(position)),))
    return Entry(
        id=position,
        session=session,
        position=position,
        kind=Kind.SAID,
        message=message,
        at=1,
        tokens=tokens,
    )


def view(id_: int, parent: int | None) -> View:
    return View(id=id_, session="s", parent=parent, cause=Cause.REWIND, spans=(), upto=0, at=1)


def test_redo_leads_towards_the_tip() -> None:
    views = [view(1, None), view(2, 1), view(3, 2), view(4, 1)]
    assert redo_target(views, None, 3) == 1
    assert redo_target(views, 1, 3) == 2
    assert redo_target(views, 1, 4) == 4
    assert redo_target(views, 3, 3) is None
    assert redo_target(views, 3, 4) is None
    assert redo_target(views, None, None) is None
    assert redo_target(views, 9, 77) is None


def test_undo_takes_back_compactions_and_rewinds_but_not_where_a_session_begins() -> None:
    fork = dataclasses.replace(view(1, None), cause=Cause.FORK)
    folded = dataclasses.replace(view(2, 1), cause=Cause.COMPACTION)
    rewound = dataclasses.replace(view(3, 2), cause=Cause.REWIND)
    views = [fork, folded, rewound]
    assert undo_target(views, 3) == rewound
    assert undo_target(views, 2) == folded
    for current in (1, 99, None):
        assert undo_target(views, current) is None


def test_a_window_is_its_messages_and_their_weight() -> None:
    entries = (entry("a", 1, 3), entry("a", 2, 4))
    window = Window(Head(0, None, 2), entries)
    assert window.transcript == (entries[0].message, entries[1].message)
    assert window.tokens == 7


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4, 5, 0.5) + Usage(1, 1, 1, 1, 1, 0.25) == Usage(2, 3, 4, 5, 6, 0.75)


def test_a_session_lives_until_it_ends_or_is_thrown_away() -> None:
    live = Session(id="s", source="cli", started=1)
    assert live.is_live
    assert not Session(id="s", source="cli", started=1, ended=2).is_live
    assert not Session(id="s", source="cli", started=1, trashed=2).is_live


def test_an_id_is_a_moment_and_a_number() -> None:
    id_ = session_id("20261116_093000", 0x1ABCDEF)
    assert id_ == "20261116_093000_abcdef"


def test_an_entry_says_what_of_it_nobody_said() -> None:
    said = entry("s", 1)
    record, words = Summary("what was said"), Text("go on")
    told = {
        said: None,
        replace(said, shortened=True): Synthetic.STUB,
        replace(said, stands_for=7): Synthetic.STUB,
        replace(said, stands_for=7, message=Message(Role.SYSTEM, (words,))): Synthetic.NOTE,
        replace(said, message=Message(Role.USER, (record, words))): Synthetic.SUMMARY,
        replace(said, message=Message(Role.USER, (Recalled("a"), words))): Synthetic.NOTE,
        replace(said, message=replace(said.message, synthetic=Synthetic.STUB)): Synthetic.STUB,
    }
    assert [each.synthetic for each in told] == list(told.values())


def test_spans_that_follow_each_other_are_one() -> None:
    spans = [("a", 1, 2), ("a", 3, 3), ("b", 4, 4), ("b", 6, 6), ("a", 4, 5), ("a", 6, 9)]
    assert merge_spans(spans) == [("a", 1, 3), ("b", 4, 4), ("b", 6, 6), ("a", 4, 9)]
    assert merge_spans([]) == []


def test_a_line_of_views_ends_however_they_lead() -> None:
    fork = dataclasses.replace(view(1, None), cause=Cause.FORK)
    views = [fork, view(2, 1), view(3, 2), view(4, 5), view(5, 4)]
    assert [each.id for each in line_to(views, 3)] == [3, 2, 1]
    assert [each.id for each in line_to(views, 4)] == [4, 5]
    assert line_to(views, None) == line_to(views, 9) == ()
    assert (fork_view(views), fork_view(views[1:])) == (fork, None)


def test_a_view_shows_its_spans_and_what_is_said_after_it() -> None:
    shown = dataclasses.replace(view(1, None), spans=(Span("s", 2, 3), Span("t", 1, 1)), upto=5)
    places = [(session, position) for session in "st" for position in range(8)]
    assert [place for place in places if shown.shows(*place)] == [
        ("s", 2),
        ("s", 3),
        ("s", 6),
        ("s", 7),
        ("t", 1),
    ]


def test_a_stand_in_needs_what_it_stands_for_to_the_last() -> None:
    originals = {5: 3, 3: 1, 1: 5}
    assert with_originals([5, 8], originals.get) == {5, 3, 1, 8}
    assert with_originals([], originals.get) == set()


def test_only_what_was_shortened_names_itself() -> None:
    pointer = Message(Role.USER, (Text(f"see {MESSAGE_ID_MARK}"), Text("b")))
    whole = Message(Role.USER, (Text("all"),))
    assert not names_itself(Draft(message=pointer, at=1))
    assert names_itself(Draft(message=pointer, at=1, stands_for=4))
    assert not names_itself(Draft(message=whole, at=1, whole=whole))
    assert with_own_id(pointer, 7).parts == (Text("see 7"), Text("b"))


def test_a_head_leads_to_one_that_was_only_appended_to() -> None:
    assert Head(1, 2, 3).leads_to(Head(1, 2, 9))
    others = (Head(1, 2, 2), Head(2, 2, 9), Head(1, 3, 9))
    assert not any(Head(1, 2, 3).leads_to(other) for other in others)
