"""One message of a session file, read by the codec of its provider."""

from holdfast.formats.content import decoded
from holdfast.transcript import Message, Role, Text


def test_a_message_is_decoded() -> None:
    message = {"role": "user", "content": "hi"}
    assert decoded("anthropic", message) == (Message(Role.USER, (Text("hi"),)),)


def test_what_the_codec_refuses_is_a_reason() -> None:
    assert decoded("anthropic", {"role": "pilot", "content": []}) == (
        "messages[0].role: unknown role 'pilot'"
    )


def test_a_message_that_says_nothing_is_left_out() -> None:
    assert decoded("anthropic", {"role": "user", "content": []}) == ()
