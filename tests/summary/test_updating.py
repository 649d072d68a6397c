from holdfast.summary.record import Record
from holdfast.summary.updating import updated


def test_numbers_go_on_and_the_goal_stays() -> None:
    before = Record(goal=("ship",), actions=("41. READ a",), in_progress=("x",), remaining=("r",))
    fresh = Record(goal=("other",), actions=("RAN b", "RAN c"), in_progress=("y",))
    assert updated(before, fresh, "") == Record(
        goal=("ship",),
        actions=("41. READ a", "42. RAN b", "43. RAN c"),
        in_progress=("y",),
        remaining=("r",),
    )


def test_a_task_that_was_answered_is_resolved() -> None:
    found = updated(Record(task=("fix it",)), Record(task=("ship it",)), "It is fixed.")
    assert found == Record(task=("ship it",), resolved=('"fix it" - It is fixed.',))


def test_a_task_without_an_answer_is_pending() -> None:
    found = updated(Record(task=("fix it",)), Record(task=("ship it",)), "")
    assert found == Record(task=("ship it",), pending=('"fix it"',))


def test_a_task_that_stands_in_the_later_turns_is_told_of_there() -> None:
    before = Record(task=("fix it", "(said after the assistant wrote: Shall I?)"))
    later = Record(task=("ship it",), resolved=('"fix it" - Fixed.',))
    assert updated(before, later, "Shall I?", ["fix it"]) == later
    assert updated(before, Record(task=("ship it",)), "Fixed.").resolved == ('"fix it" - Fixed.',)


def test_a_task_stands_until_the_user_speaks_again() -> None:
    assert updated(Record(task=("fix it",)), Record(), "hm") == Record(task=("fix it",))


def test_state_and_lists_take_the_newest_value() -> None:
    before = Record(
        state=("Branch: main", "Directory: /a"), critical=("Ports: 80, 443", "Keep the tag")
    )
    fresh = Record(state=("Branch: fix",), critical=("Ports: 8080, 80", "Flags: --all"))
    assert updated(before, fresh, "") == Record(
        state=("Branch: fix", "Directory: /a"),
        critical=("Ports: 8080, 80, 443", "Flags: --all", "Keep the tag"),
    )


def test_a_file_that_was_changed_stays_changed_when_it_is_read() -> None:
    before = Record(files=("a.py - changed: main", "b.py - read", "c.py - read"))
    fresh = Record(files=("a.py - read", "b.py - changed"))
    assert updated(before, fresh, "").files == (
        "a.py - changed: main",
        "b.py - changed",
        "c.py - read",
    )


def test_a_blocker_goes_when_its_work_was_taken_up_again() -> None:
    before = Record(blocked=("make test - FAIL: a", "deploy prod - no key"))
    fresh = Record(actions=("RAN make test - exit 0",), blocked=("npm ci - ENOENT",))
    assert updated(before, fresh, "").blocked == ("deploy prod - no key", "npm ci - ENOENT")
