"""What became of asks, told by plain words; words that only look like them change nothing."""

import pytest

from holdfast.summary.cues import DEFERS, DROPS, GOAL, REVOKES, Wording, given_value
from holdfast.summary.record import Record
from holdfast.summary.standing import BEGUN, open_asks
from holdfast.summary.turns import Remark, Turn


def turn(place: int, ask: str, reply: str = "") -> Turn:
    return Turn(place, [ask] if ask else [], [Remark(reply, place + 1)] if reply else [])


def told(*turns: Turn, before: Record | None = None) -> list[tuple[str, str]]:
    return [(each.section, each.text) for each in open_asks(turns, before or Record())]


PUT_OFF = turn(0, "Please add the export button.", "I will do that later.")


def test_what_is_put_off_is_pending_until_a_reply_says_that_it_is_done() -> None:
    other = turn(2, "Fix the login page.", "Fixed.")
    done = turn(4, "And the footer?", "It is blue now. The export button is done too.")
    assert told(PUT_OFF, other) == [("pending", '"Please add the export button."')]
    assert told(PUT_OFF, other, done) == []


def test_what_an_earlier_record_had_pending_is_closed_by_a_later_reply() -> None:
    before = Record(pending=('"Please add the export button."',))
    assert told(turn(0, "Go on.", "All fine."), before=before) == [
        ("pending", '"Please add the export button."')
    ]
    assert told(turn(0, "Go on.", "The export button is in place."), before=before) == []


def test_a_dropped_ask_is_not_open() -> None:
    assert told(PUT_OFF, turn(2, "Never mind the export button.", "OK.")) == []
    assert told(PUT_OFF, turn(2, "Never mind.", "OK.")) == []


def test_an_interrupted_ask_is_under_way_until_a_reply_concludes_both() -> None:
    first, second = turn(0, "Build the search index."), turn(2, "Use the small model first.")
    assert told(first, second)[0] == ("in_progress", '"Build the search index."')
    assert told(first, turn(2, "Use the small model first.", "Both are done.")) == []
    left = turn(2, "Use the small model first.", "Done. The search index is still open.")
    assert told(first, left) == [("pending", '"Build the search index."')]
    before = Record(in_progress=(f'{BEGUN}"Build the search index."',))
    assert told(turn(0, "", "Done."), before=before) == []


@pytest.mark.parametrize(
    ("cue", "words"),
    [
        (DROPS, "Don't forget the changelog."),
        (DROPS, "Lass die Tests laufen."),
        (DROPS, "它去掉已经取消的到港。"),
        (REVOKES, "You may not touch the login page now."),
        (REVOKES, "You can see the error on the login page."),
        (REVOKES, "Du darfst das jetzt nicht ändern."),
        (REVOKES, "不允许修改数据库。"),
        (DEFERS, "The job runs later in the pipeline."),
        (DEFERS, "Die Migration läuft später automatisch."),
        (GOAL, "目标文件在 src 目录里。"),
    ],
)
def test_words_that_look_like_a_cue_are_none(cue: Wording, words: str) -> None:
    assert not cue.stands_in(words)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("The port of the proxy is 8080.", "8080"),
        ("Der Timeout vom Relay ist jetzt 30 s.", "30"),
        ("更正：代理的端口是 9090，不是 8080。", "9090"),
    ],
)
def test_a_sentence_gives_a_value(words: str, value: str) -> None:
    found = given_value(words)
    assert found is not None
    assert found[1] == value


@pytest.mark.parametrize("words", ["This is 2 times slower.", '"max_turns": 4,', "There are 3."])
def test_a_number_alone_is_no_value(words: str) -> None:
    assert given_value(words) is None
