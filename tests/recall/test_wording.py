"""Messages as words: nothing vanishes, and results of searches are known as such."""

import pytest

from holdfast.recall import parse
from holdfast.recall.wording import is_echo, is_output, tool_of, words_of
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

CALL = ToolCall("c1", "session_search", '{"query": "billing port"}')


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((Text("a"), Thinking("secret"), Text("b")), "a\nb"),
        ((Thinking("why"),), "why"),
        ((ToolCall("c", "ls", '{"path": "."}'),), '[calls ls {"path": "."}]'),
        (
            (ToolResult("c", (Text("x"), Media("image", "image/png", "AAAA"))),),
            "x\n[image image/png]",
        ),
        ((Media("image", "", "", "https://a.b/c.png"),), "[image https://a.b/c.png]"),
        ((Media("file", "text/csv", "", "data:text/csv,1"),), "[file text/csv]"),
        ((Summary("what was"),), "[summary] what was"),
        ((Recalled("what is known"),), "[recalled] what is known"),
        ((Opaque("openai", {"x": 1}, "seen"),), "seen"),
        ((Opaque("openai", {"x": 1}),), "[an item of openai]"),
        ((Text("half \ud800 pair"),), "half ? pair"),
        ((), ""),
    ],
)
def test_a_message_is_shown_as_words(parts: tuple[Part, ...], wanted: str) -> None:
    assert words_of(Message(Role.ASSISTANT, parts)) == wanted


def test_outputs_are_tool_messages_and_bare_calls() -> None:
    assert is_output(Message(Role.TOOL, (ToolResult("c", (Text("x"),)),)))
    assert is_output(Message(Role.ASSISTANT, (CALL,)))
    assert not is_output(Message(Role.ASSISTANT, (Text("I look."), CALL)))
    assert not is_output(Message(Role.USER, (Text("x"),)))


def test_the_names_of_tools_are_joined() -> None:
    parts = (ToolResult("a", name="ls"), ToolResult("b", name="cat"), ToolResult("c", name="ls"))
    assert tool_of(Message(Role.TOOL, parts)) == "ls, cat"


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ((CALL,), True),
        ((Text("Let me look."), CALL), True),
        ((Text("The billing service it is."), CALL), False),
        ((ToolResult("c1", (Text("billing port 8000"),), name="session_search"),), True),
        ((ToolResult("c1", (Text("billing port 8000"),)),), True),
        ((ToolResult("c2", (Text("billing port 8000"),)),), False),
        ((ToolResult("c1", (Text("billing port 8000"),), name="read_file"),), False),
        ((Text("billing"),), False),
    ],
)
def test_what_matches_only_by_an_earlier_search_is_an_echo(
    parts: tuple[Part, ...], *, wanted: bool
) -> None:
    message = Message(Role.ASSISTANT, parts)
    assert is_echo(message, parse("billing"), {"c1": "session_search"}) is wanted
