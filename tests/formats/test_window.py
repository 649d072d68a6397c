"""What a model still saw begins with the newest summary."""

from holdfast.formats import live
from holdfast.transcript import Message, Role, Summary, Text

PROMPT = Message(Role.SYSTEM, (Text("be good"),))
HELLO = Message(Role.USER, (Text("hello"),))
FIRST = Message(Role.USER, (Summary("one"),))
SECOND = Message(Role.USER, (Summary("two"),))


def test_without_a_summary_everything_is_live() -> None:
    assert live((PROMPT, HELLO)) == (PROMPT, HELLO)
    assert live(()) == ()


def test_the_newest_summary_begins_the_window_behind_the_prompt() -> None:
    transcript = (PROMPT, PROMPT, HELLO, FIRST, HELLO, SECOND, HELLO)
    assert live(transcript) == (PROMPT, PROMPT, SECOND, HELLO)


def test_a_summary_at_the_front_changes_nothing() -> None:
    assert live((FIRST, HELLO)) == (FIRST, HELLO)
    assert live((PROMPT, FIRST, HELLO)) == (PROMPT, FIRST, HELLO)
