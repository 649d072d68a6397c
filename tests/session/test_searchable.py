"""The words of a message that a search should find."""

from holdfast.session import searchable
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def words(*parts: Part) -> str:
    return searchable(Message(Role.ASSISTANT, parts))


def test_everything_that_can_be_read_is_searchable() -> None:
    found = words(
        Text("one"),
        Thinking("two", "seal"),
        Summary("three"),
        ToolResult("c", (Text("four"), Opaque("openai", {"x": "hidden"}, "five"), Text(""))),
        Opaque("openai", {"x": "hidden"}),
        Media("image", data="aGlkZGVu", url="https://example.org/six.png"),
        Media("image", url="data:image/png;base64,aGlkZGVu"),
    )
    assert found == "one\ntwo\nthree\nfour\nfive\nhttps://example.org/six.png"


def test_arguments_are_read_as_json() -> None:
    arguments = '{"path": "a\\nb", "deep": [{"n": 7}, null, true, "é"], "last": 1.5}'
    assert words(ToolCall("c", "write", arguments)) == "write\na\nb\n7\né\n1.5"


def test_arguments_that_are_no_json_are_read_as_they_are() -> None:
    assert words(ToolCall("c", "run", "{oops")) == "run\n{oops"
    deep = "[" * 100_000
    assert words(ToolCall("c", "run", deep)) == f"run\n{deep}"
