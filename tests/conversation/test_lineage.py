"""Turning back: where a window is cut, and the prompt that a later start brings."""

import pytest

from holdfast.conversation.lineage import before_turns, up_to
from holdfast.errors import UnknownSession
from holdfast.session import Entry, Head, Kind, Window
from holdfast.transcript import Message, Role, Summary, Text, ToolCall, ToolResult


def said(role: Role, text: str) -> Message:
    return Message(role, (Text(text),))


def window(*messages: Message) -> Window:
    entries = tuple(
        Entry(id=at, session="s", position=at, kind=Kind.SAID, message=message, at=at, tokens=1)
        for at, message in enumerate(messages, start=1)
    )
    return Window(Head(0, None, len(entries)), entries)


ASKED = said(Role.USER, "ask")
CALLED = Message(Role.ASSISTANT, (ToolCall("c1", "bash", "{}"),))
ANSWERED = Message(Role.TOOL, (ToolResult("c1", (Text("ok"),)),))


def test_a_branch_never_parts_a_call_from_its_result() -> None:
    entries = window(ASKED, CALLED, ANSWERED, ASKED).entries
    kept = {at: len(up_to(entries, at)) for at in range(1, 5)}
    assert kept == {1: 1, 2: 1, 3: 3, 4: 4}
    with pytest.raises(UnknownSession, match="message 9"):
        up_to(entries, 9)


def test_a_summary_is_not_rewound_with_the_turn_that_it_stands_in() -> None:
    summary = Message(Role.USER, (Summary("earlier"), Text("ask")))
    shown = window(summary, said(Role.ASSISTANT, "yes"))
    assert len(before_turns(shown, 1)) == 1
    assert before_turns(shown, 0) == shown.entries
