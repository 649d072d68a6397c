"""A title from what was said first."""

import pytest

from holdfast.session import title_from
from holdfast.transcript import Message, Role, Synthetic, Text, ToolCall


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the login page", "Fix the login page"),
        ("## Fix the **login** page.\nIt is broken.", "Fix the **login** page"),
        ("\n\n  - Rename   the module:\n", "Rename the module"),
        ("```py\nx = 1\n```\nExplain this code", "Explain this code"),
        ("Explain this code ```py", "Explain this code"),
        ("Fix it now. " + "Then do the rest " * 9, "Fix it now"),
        ("这个项目怎么运行测试", "这个项目怎么运行测试"),
        ("word " * 30, "word " * 10 + "word…"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_the_first_words_are_the_title(text: str, title: str) -> None:
    found = title_from([user(text), assistant("Sure, I will look at that.")])
    assert found == title
    assert len(found) <= 60


def test_a_greeting_is_no_title() -> None:
    talk = [user("hi"), assistant("Hello! How can I help you today?"), user("Deploy the app")]
    assert title_from(talk) == "Hello! How can I help you today?"
    assert title_from([user("hi"), user("yo"), user("Deploy the app")]) == "Deploy the app"


def test_too_little_is_no_title_yet() -> None:
    assert title_from([]) == ""
    assert title_from([user("hi")]) == ""
    assert title_from([user("hi"), user("yo")]) == "hi"
    assert title_from([user("..."), user("!!!")]) == ""


def test_only_words_of_the_conversation_count() -> None:
    talk = [
        Message(Role.SYSTEM, (Text("You are a helpful assistant"),)),
        Message(Role.USER, (Text("A summary of it all"),), synthetic=Synthetic.SUMMARY),
        Message(Role.ASSISTANT, (ToolCall("c", "run"),)),
        user("Explain monads to me"),
    ]
    assert title_from(talk) == "Explain monads to me"
