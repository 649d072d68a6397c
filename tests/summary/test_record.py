from holdfast.summary.record import Record, last_number, number_of, renumbered, words_of


def test_entries_are_stripped_said_once_and_never_empty() -> None:
    assert Record(goal=("  ship it ", "", "ship it", "None.", "无。")).goal == ("ship it",)


def test_actions_without_numbers_get_them() -> None:
    assert Record(actions=("READ a", "READ a")).actions == ("1. READ a", "2. READ a")


def test_numbers_that_rise_are_kept_and_others_continue() -> None:
    assert renumbered(["7. a", "b", "3. c", "20. d"]) == ("7. a", "8. b", "9. c", "20. d")


def test_new_actions_continue_after_the_old_ones() -> None:
    assert renumbered(["1. a", "2. b"], after=40) == ("41. a", "42. b")


def test_a_number_without_words_is_no_action() -> None:
    assert Record(actions=("3.", "4. x")).actions == ("1. 3.", "4. x")
    assert number_of("4. ") == 0


def test_an_action_is_its_number_and_its_words() -> None:
    assert (number_of("12. RAN x"), words_of("12. RAN x")) == (12, "RAN x")
    assert (number_of("v1. RAN x"), words_of("v1. RAN x")) == (0, "v1. RAN x")
    assert (last_number(("3. a", "9. b")), last_number(())) == (9, 0)


def test_only_a_record_with_entries_is_true() -> None:
    assert not Record()
    assert Record(critical=("port 8080",))
