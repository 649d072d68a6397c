"""Who speaks, where a role does not tell."""

import pytest

from holdfast.transcript import Media, Message, Role, Summary, Synthetic, Text
from holdfast.views.messages import origin_of, speaker_of

META = {"native": {"more": {"isMeta": True}}}


@pytest.mark.parametrize(
    ("message", "speaker"),
    [
        (Message(Role.ASSISTANT, (Text("/clear"),)), "assistant"),
        (Message(Role.USER, (Text("fix it"),)), "user"),
        (Message(Role.USER, (Media(),)), "user"),
        (Message(Role.USER, (Text("/clear"),)), "command"),
        (Message(Role.USER, (Text("<command-name>/x</command-name>"),)), "command"),
        (Message(Role.USER, (Text("<output>1</output>"),)), "output"),
        (Message(Role.USER, (Text("[Request interrupted by user]"),)), "injected"),
        (Message(Role.USER, (Text("Some instructions"),), extras=META), "injected"),
        (Message(Role.USER, (Text("x"),), synthetic=Synthetic.NOTE), "note"),
        (Message(Role.USER, (Summary("so far"),), synthetic=Synthetic.SUMMARY), "summary"),
    ],
)
def test_who_speaks_is_told_in_a_word(message: Message, speaker: str) -> None:
    assert speaker_of(message) == speaker


def test_only_a_summary_has_an_origin() -> None:
    assert origin_of(Message(Role.USER, (Summary("so far", "codex"),))) == "by codex"
    assert origin_of(Message(Role.USER, (Summary("so far", ""),))) == ""
    assert origin_of(Message(Role.USER, (Text("so far"),))) == ""
