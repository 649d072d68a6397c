import pytest

from holdfast.summary.merging import merged
from holdfast.summary.reader import Reading, reading
from holdfast.summary.record import HEADINGS, Record

ALL = frozenset(HEADINGS)
BEFORE = Record(goal=("ship",), actions=("1. READ a.py", "2. RAN make test - exit 0"))


def test_a_section_that_an_answer_left_out_keeps_what_it_held() -> None:
    found = Reading(Record(blocked=("b",)), frozenset({"blocked"}))
    assert merged(BEFORE, found) == Record(goal=("ship",), actions=BEFORE.actions, blocked=("b",))


def test_a_section_that_an_answer_emptied_is_empty() -> None:
    assert merged(BEFORE, Reading(Record(), ALL)) == Record(actions=BEFORE.actions)


def test_an_answer_that_carries_the_list_on_stands() -> None:
    actions = ("1. READ a.py fully", "2. RAN make test - exit 0", "3. EDITED b.py")
    assert merged(BEFORE, Reading(Record(actions=actions), ALL)).actions == actions


def test_an_answer_that_lists_only_later_actions_adds_them() -> None:
    found = Reading(Record(actions=("3. EDITED b.py",)), ALL)
    assert merged(BEFORE, found).actions == (*BEFORE.actions, "3. EDITED b.py")


def test_an_answer_that_starts_over_is_numbered_on() -> None:
    found = Reading(Record(actions=("1. EDITED b.py", "2. PUSHED main")), ALL)
    assert merged(BEFORE, found).actions == (*BEFORE.actions, "3. EDITED b.py", "4. PUSHED main")


def test_a_first_answer_is_taken_as_it_is() -> None:
    found = Reading(Record(actions=("1. READ a",)), ALL)
    assert merged(Record(), found).actions == ("1. READ a",)


def test_an_answer_that_repeats_some_words_elsewhere_adds_nothing_twice() -> None:
    found = Reading(Record(actions=("1. PUSHED main", "2. READ a.py", "3. SENT mail")), ALL)
    assert merged(BEFORE, found).actions == (*BEFORE.actions, "3. PUSHED main", "4. SENT mail")


@pytest.mark.parametrize("text", ["1. one thing\n2. another", "Just prose.", "## Weather\n- rain"])
def test_what_an_answer_says_outside_of_our_sections_is_never_left_out(text: str) -> None:
    found = reading(text)
    assert found is not None
    before = Record(goal=("ship",), critical=("the port is 8787",))
    joined = merged(before, found)
    assert set(found.record.critical) <= set(joined.critical)
    assert set(before.critical) <= set(joined.critical)
    assert joined.goal == before.goal
    assert merged(Record(), found) == found.record
