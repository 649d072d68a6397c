import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.brief import Piece, brief, mark_for, user_words
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.summary.material import assistant, exchange, user

SECRET = "sk-" + "a" * 40


def redact(text: str) -> str:
    return re.sub(r"sk-a{40}", "[REDACTED]", text)


def plain(text: str) -> str:
    return text


def test_turns_are_labelled_and_parted_at_seams() -> None:
    call = ToolCall("1", "bash", '{"command": "ls"}')
    messages = [
        user("look"),
        assistant("ok", call),
        Message(Role.TOOL, (ToolResult("1", (Text("a.py"), Media("image"))),)),
    ]
    assert brief(messages, plain) == (
        (Piece("1 user", "look"),),
        (
            Piece("2 assistant", "ok"),
            Piece("2 assistant calls bash", '{"command": "ls"}'),
            Piece("3 result of bash", "a.py\n(image)"),
        ),
    )


def test_summaries_thinking_and_our_own_notes_are_not_turns() -> None:
    messages = [
        Message(Role.USER, (Summary("old"), Text("new words"))),
        Message(Role.ASSISTANT, (Thinking("hm", "seal"), Text("  "), Text("done"))),
        Message(Role.USER, (Text("note"),), synthetic=Synthetic.NOTE),
        Message(Role.ASSISTANT, (Opaque("x", {}), Opaque("x", {}, "can be read"))),
        Message(Role.USER, (Media("file"),)),
    ]
    assert [piece for group in brief(messages, plain) for piece in group] == [
        Piece("1 user", "new words"),
        Piece("2 assistant", "done"),
        Piece("4 assistant", "can be read"),
        Piece("5 user", "(file)"),
    ]


def test_long_results_and_arguments_lose_their_middle() -> None:
    call = ToolCall("1", "cat]\n", "x" * 2_000)
    result = ToolResult("1", (Text("f" * 9_000 + "b" * 9_000),), is_error=True)
    ((asked, answered),) = brief(
        [Message(Role.ASSISTANT, (call,)), Message(Role.TOOL, (result,))], plain
    )
    assert asked == Piece(
        "1 assistant calls cat",
        "x" * 1_200 + "\n[600 characters left out]\n" + "x" * 200,
    )
    assert answered == Piece(
        "2 result of cat, failed",
        "f" * 4_000 + "\n[12,500 characters left out]\n" + "b" * 1_500,
    )


def test_program_output_in_a_users_name_is_output() -> None:
    text = "<returncode>0</returncode>\n<output>" + "x" * 9_000 + "</output>"
    ((piece,),) = brief([user(text)], plain)
    assert piece.label == "1 output"
    assert "characters left out" in piece.text
    assert user_words([user(text), user("my words"), user(" ")]) == ("my words",)


def shown(text: str) -> str:
    """Return what the summarizer reads of a tool's answer."""
    return brief(exchange("bash", text, command="x"), redact)[0][-1].text


@given(st.integers(0, 16_000), st.integers(6_001, 40_000))
def test_no_cut_shows_half_a_secret(place: int, size: int) -> None:
    text = ("." * min(place, size) + SECRET).ljust(size, ".")
    assert "aaaaa" not in shown(text)


def test_many_secrets_before_a_cut_do_not_pull_a_half_one_in() -> None:
    text = SECRET * 1_000
    assert set(shown(text)) <= set(redact(SECRET) + "\n, 0123456789charterslfou")
    assert "aaaaa" not in shown(text[1:])[60:]


@given(st.lists(st.text(alphabet="0123456789abcdef \n", max_size=60), max_size=5))
def test_a_mark_stands_in_no_text_and_is_the_same_for_the_same(texts: list[str]) -> None:
    mark = mark_for(texts)
    assert mark == mark_for(texts)
    assert all(mark not in text for text in texts)


def test_a_text_that_guesses_the_mark_gets_another() -> None:
    first = mark_for(["some text"])
    assert mark_for(["some text", first]) != first
