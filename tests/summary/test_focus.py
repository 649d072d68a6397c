from holdfast.summary.focus import derive_focus
from tests.summary.material import assistant, user


def test_the_focus_is_what_the_user_said_last() -> None:
    turns = [user("build it"), assistant("done"), user("now make the retry policy configurable, 3")]
    assert derive_focus(turns) == "now make the retry policy configurable, 3"


def test_a_short_turn_takes_the_one_before_along() -> None:
    turns = [user("make the retry policy configurable, default 3"), user("go on")]
    assert derive_focus(turns) == "go on / make the retry policy configurable, default 3"


def test_no_user_no_focus() -> None:
    assert derive_focus([assistant("hm")]) == ""
