"""What Kimi's model sees, followed by names."""

from holdfast.formats.kimi.journal import HistoryWindow, KeptMessages


def talk() -> HistoryWindow:
    window = HistoryWindow()
    window.instruct("system")
    window.add("ask", is_prompt=True)
    window.begin_step("s1")
    window.add_to_step("s1", "think")
    window.add_to_step("s1", "call")
    window.add("result")
    window.begin_step("s2")
    window.add_to_step("s2", "answer")
    window.add("again", is_prompt=True)
    window.add("note")
    return window


def test_the_lines_of_a_step_are_one_message() -> None:
    window = talk()
    assert window.shows == (
        *("system", "ask", "think", "call", "result", "answer", "again", "note"),
    )
    # Five messages: the question, a step, its result, another step, and the next question.
    window.fold("summary", KeptMessages(compacted=4))
    assert window.shows == ("system", "summary", "again", "note")


def test_a_compaction_keeps_the_oldest_and_the_newest_prompts() -> None:
    window = HistoryWindow()
    for number in range(6):
        window.add(f"p{number}", is_prompt=True)
    window.fold("summary", KeptMessages(compacted=6, users=3, first=1))
    assert window.shows == ("p0", "p4", "p5", "summary")


def test_a_compaction_never_shows_a_prompt_twice() -> None:
    window = HistoryWindow()
    window.add("only", is_prompt=True)
    window.fold("summary", KeptMessages(compacted=1, users=5, first=3))
    assert window.shows == ("only", "summary")


def test_an_undo_takes_the_last_prompts_and_what_followed() -> None:
    window = talk()
    assert window.undo(1)
    assert window.shows == ("system", "ask", "think", "call", "result", "answer")
    assert window.undo(1)
    assert window.shows == ("system",)


def test_an_undo_of_more_than_there_is_changes_nothing() -> None:
    window = talk()
    before = window.shows
    assert not window.undo(3)
    assert not window.undo(0)
    assert window.shows == before


def test_no_undo_goes_back_behind_a_compaction() -> None:
    window = talk()
    window.fold("summary", KeptMessages(compacted=9, users=2))
    assert not window.undo(1)
    window.add("new", is_prompt=True)
    assert window.undo(1)
    assert window.shows == ("system", "ask", "again", "summary")


def test_a_step_that_never_began_begins_with_its_first_line() -> None:
    window = HistoryWindow()
    window.add_to_step("s9", "words")
    window.clear()
    assert window.shows == ()
