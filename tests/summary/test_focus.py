from holdfast.summary.brief import derive_focus
from tests.summary.material import assistant, user


def test_the_focus_is_what_the_user_said_last() -> None:
    turns = [user("build it"), assistant("done"), user("now make the retry policy configurable, 3")]
    assert derive_focus(turns) == "now make the retry policy configurable, 3"


def test_a_short_turn_names_no_topic() -> None:
    turns = [user("make the retry policy configurable, default 3"), user("go on")]
    assert derive_focus(turns) == "make the retry policy configurable, default 3"


def test_no_user_no_focus() -> None:
    assert derive_focus([assistant("hm")]) == ""
