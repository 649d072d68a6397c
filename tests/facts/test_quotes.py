"""Lines worth quoting in messages."""

import json

from holdfast.facts import Fact, Kind
from holdfast.facts.quotes import Quote, quotes
from holdfast.transcript import Message, Role, Synthetic, Text, ToolCall, ToolResult


def call(id: str, name: str, **arguments: str) -> Message:  # noqa: A002
    return Message(Role.ASSISTANT, (ToolCall(id, name, json.dumps(arguments)),))


def result(id: str, text: str, *, is_error: bool = False) -> Message:  # noqa: A002
    return Message(Role.TOOL, (ToolResult(id, (Text(text),), is_error=is_error),))


def test_a_command_is_quoted_with_its_exit_code_its_error_and_its_count() -> None:
    messages = (
        call("a", "Bash", command="pytest -q"),
        result("a", "2 failed, 3 passed in 1.0s\nValueError: bad port\nexit code: 1"),
    )
    assert list(quotes(messages)) == [
        Quote(Fact(Kind.COMMAND, "pytest -q (exit 1)"), 1),
        Quote(Fact(Kind.TEST, "2 failed, 3 passed in 1.0s"), 1),
        Quote(Fact(Kind.ERROR, "ValueError: bad port"), 1),
    ]


def test_a_command_without_a_code_is_quoted_alone() -> None:
    messages = (call("a", "Bash", command="ls"), result("a", "a.py"))
    assert list(quotes(messages)) == [Quote(Fact(Kind.COMMAND, "ls"), 1)]


def test_a_failed_edit_gives_its_error_and_no_command() -> None:
    messages = (
        call("a", "Edit", file_path="a.py"),
        result("a", "Error: string not found in a.py", is_error=True),
    )
    assert list(quotes(messages)) == [Quote(Fact(Kind.ERROR, "Error: string not found in a.py"), 1)]


def test_a_failure_that_names_no_error_gives_nothing() -> None:
    messages = (call("a", "Edit", file_path="a.py"), result("a", "no", is_error=True))
    assert list(quotes(messages)) == []


def test_a_result_without_its_call_says_nothing() -> None:
    assert list(quotes((result("lost", "Error: what"),))) == []


def test_users_set_constraints_and_agents_decide() -> None:
    messages = (
        Message(Role.SYSTEM, (Text("You must be polite."),)),
        Message(Role.USER, (Text("Never push to main."),)),
        Message(Role.ASSISTANT, (Text("I decided to use a branch."),)),
        Message(Role.USER, (Text("<output>you must not quote me</output>"),)),
        Message(Role.USER, (Text("You must go on."),), synthetic=Synthetic.NOTE),
    )
    assert list(quotes(messages)) == [
        Quote(Fact(Kind.CONSTRAINT, "Never push to main"), 1),
        Quote(Fact(Kind.DECISION, "I decided to use a branch"), 2),
    ]


def test_only_the_newest_messages_are_searched() -> None:
    old = Message(Role.USER, (Text("Never push to main."),))
    filler = Message(Role.ASSISTANT, (Text("fine"),))
    assert list(quotes((old, *[filler] * 400))) == []
