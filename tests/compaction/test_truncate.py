"""Truncation: only tool results give way."""

from holdfast.compaction.truncate import Truncated, truncate
from holdfast.testing.builders import assistant, tool, user
from holdfast.tokens import Scale
from holdfast.transcript import Message, Role, Text, ToolResult

SCALE = Scale()
HUGE = "\n".join(f"{number}: the build printed another line" for number in range(2_000))


def test_what_fits_is_left_alone() -> None:
    messages = (user("hi"), tool("a", "short"))
    assert truncate(messages, 1_000, SCALE) == Truncated(messages, 0)


def test_the_heaviest_result_is_cut_in_the_middle_until_it_fits() -> None:
    messages = (user("words " * 50), tool("a", HUGE), tool("b", "small"))
    cropped = truncate(messages, 2_000, SCALE)
    assert cropped.count == 1
    assert SCALE.total(cropped.messages) <= 2_000
    text = cropped.messages[1].results[0].text
    assert text.startswith("0: the build")
    assert text.endswith("1999: the build printed another line")
    assert "characters left out here" in text
    assert cropped.messages[0] is messages[0]
    assert cropped.messages[2] is messages[2]


def test_several_results_give_way_one_after_the_other() -> None:
    messages = (tool("a", HUGE), tool("b", HUGE))
    cropped = truncate(messages, 600, SCALE)
    assert cropped.count == 2
    assert SCALE.total(cropped.messages) <= 600


def test_words_of_users_and_of_the_model_are_never_truncated() -> None:
    messages = (user(HUGE), assistant(HUGE))
    assert truncate(messages, 100, SCALE) == Truncated(messages, 0)


def test_a_result_that_cannot_be_small_enough_says_what_was_left_out() -> None:
    cropped = truncate((user(HUGE), tool("a", "x" * 400 + " 1 2 3" * 40)), 10, SCALE)
    assert "left out here" in cropped.messages[1].results[0].text


def test_words_beside_a_result_in_one_message_stay() -> None:
    mixed = Message(Role.TOOL, (ToolResult("a", (Text(HUGE),)), Text("and these words")))
    (cropped,) = truncate((mixed,), 500, SCALE).messages
    assert cropped.parts[1] == Text("and these words")
    assert SCALE.weigh(cropped) <= 500


def test_what_stands_for_a_picture_in_a_result_that_is_cut_stays() -> None:
    picture = Text("[image image/png, 3 bytes: not in the window]")
    result = ToolResult("c", (Text("line\n" * 5_000), picture))
    (cut,) = truncate([Message(Role.TOOL, (result,))], 10, Scale()).messages
    assert cut.results[0].content[1:] == (picture,)
    assert len(cut.results[0].text) < 1_000
