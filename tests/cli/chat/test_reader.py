"""Lines from a pipe."""

from holdfast.cli.chat.room import LineReader


def test_lines_that_say_nothing_are_passed_over() -> None:
    lines = LineReader(["  one \n", "\n", "two"])
    assert [lines.read() for _ in range(4)] == ["one", "two", None, None]


def test_nobody_answers_in_a_pipe() -> None:
    assert LineReader(["yes\n"]).ask("May I?") == ""
    assert LineReader([]).echoes
