"""What may happen to a session is refused in the same words by every store."""

from dataclasses import replace

import pytest

from holdfast.errors import Conflict, SessionEnded
from holdfast.session import EndReason, Fork, Session
from holdfast.session.sessions import (
    amended_metadata,
    check_adoption,
    check_generation,
    check_live,
    check_size,
    ended,
)

LIVE = Session(id="one", source="cli", started=1, root="one")
OVER = replace(LIVE, ended=5, end_reason=EndReason.COMPRESSION)
CHILD = Session(id="two", source="cli", started=5, root="one", parent="one", fork=Fork.COMPRESSION)


def test_a_session_that_moved_on_says_where() -> None:
    check_live(LIVE, tuple)
    with pytest.raises(SessionEnded, match=r"ended \(compression\); it goes on in two"):
        check_live(OVER, lambda: (OVER, CHILD))
    with pytest.raises(SessionEnded, match=r"ended \(compression\)$"):
        check_live(OVER, lambda: (OVER,))
    with pytest.raises(SessionEnded, match="trash"):
        check_live(replace(OVER, trashed=6), tuple)


def test_what_was_read_earlier_conflicts() -> None:
    check_generation("one", 3, 3)
    check_size("one", 3, 3)
    check_size("one", 3, None)
    with pytest.raises(Conflict, match=r"generation 4, expected 3"):
        check_generation("one", 4, 3)
    with pytest.raises(Conflict, match="4 messages, expected 3"):
        check_size("one", 4, 3)


def test_the_first_end_stands_and_some_are_taken_back() -> None:
    closed = ended(LIVE, EndReason.CLOSED, 7)
    assert closed == replace(LIVE, ended=7, end_reason=EndReason.CLOSED)
    assert ended(closed, EndReason.COMPRESSION, 8) is closed
    assert ended(closed, None, 9) == LIVE
    assert ended(LIVE, None, 9) is LIVE
    with pytest.raises(SessionEnded, match="cannot be taken back"):
        ended(OVER, None, 9)


def test_a_session_is_adopted_once_and_never_by_its_own_child() -> None:
    other = Session(id="three", source="cli", started=1, root="three")
    check_adoption(LIVE, other)
    with pytest.raises(Conflict, match="already"):
        check_adoption(CHILD, other)
    with pytest.raises(Conflict, match="two came from one"):
        check_adoption(LIVE, CHILD)


def test_metadata_are_changed_for_who_has_seen_them() -> None:
    assert amended_metadata("one", {"a": 1, "b": 2}, {"a": None, "c": 3}, None) == {"b": 2, "c": 3}
    with pytest.raises(Conflict, match="look at it again"):
        amended_metadata("one", {"a": 1}, {}, {})
