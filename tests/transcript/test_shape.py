"""Transcripts as lines."""

from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.transcript import Media, Message, Opaque, Role, Summary, Thinking, shape


def test_a_shape_shows_position_speaker_and_beginning() -> None:
    transcript = (
        system("be good"),
        user("build\n  it"),
        Message(Role.ASSISTANT, (Thinking("secret"), call("a", "bash", '{"command": "ls"}'))),
        tool("a", "no such file", is_error=True),
        Message(Role.USER, (Summary("what happened"), Media())),
        Message(Role.ASSISTANT, (Opaque("responses", {"type": "compaction"}),)),
        assistant(),
    )
    assert shape(transcript) == "\n".join(
        [
            "00 system    be good",
            "01 user      build it",
            '02 assistant (thinking) | -> bash {"command": "ls"}',
            "03 tool      error: no such file",
            "04 user      [summary] what happened | [image]",
            "05 assistant [compaction]",
            "06 assistant",
        ]
    )


def test_a_long_message_is_cut_to_the_width() -> None:
    assert shape((user("x" * 100),), width=10) == "00 user      xxxxxxxxx…"
