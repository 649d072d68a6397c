"""What a provider sees of a conversation: words without secrets, and no memory of its own."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory import shareable
from holdfast.redaction import redact
from holdfast.testing.strategies import transcripts
from holdfast.transcript import (
    Media,
    Message,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
)

SECRET = "DB_PASSWORD=hunter2-and-more"


def test_words_are_redacted_and_what_is_not_words_is_left_out() -> None:
    messages = (
        Message(Role.SYSTEM, (Text("Be brief."),)),
        Message(Role.USER, (Recalled("Likes tea."), Text(f"Look: {SECRET}"), Media(url="x"))),
        Message(Role.ASSISTANT, (Thinking("hm"), ToolCall("1", "run", '{"a": "b"}'))),
        Message(Role.TOOL, (ToolResult("1", (Text(SECRET), Media(url="x")), name="run"),)),
        Message(Role.USER, (Summary("Earlier.", "pi"),)),
        Message(
            Role.USER,
            (Text("<command-name>/fix</command-name><command-args>it</command-args>"),),
        ),
        Message(Role.ASSISTANT, (Thinking("only"),)),
    )
    masked = redact(SECRET)
    assert "hunter2" not in masked
    assert shareable(messages, redact) == (
        Message(Role.USER, (Text(redact(f"Look: {SECRET}")),)),
        Message(Role.ASSISTANT, (ToolCall("1", "run", '{"a": "b"}'),)),
        Message(Role.TOOL, (ToolResult("1", (Text(masked),), name="run"),)),
        Message(Role.USER, (Summary("Earlier.", "pi"),)),
        Message(Role.USER, (Text("it"),)),
    )


@given(messages=transcripts(), mark=st.just("\u2591"))
def test_every_word_goes_through_the_redactor(messages: Transcript, mark: str) -> None:
    for message in shareable(messages, lambda text: mark * len(text)):
        for part in message.parts:
            match part:
                case Text(text=text) | Summary(text=text) | ToolCall(arguments=text):
                    assert set(text) <= {mark}
                case ToolResult(content=content):
                    assert all(isinstance(each, Text) for each in content)
                case other:
                    raise AssertionError(other)
