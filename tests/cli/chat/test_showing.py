"""A turn as it is drawn: words as they come, everything else on lines of its own."""

import pytest

from holdfast.agent.events import (
    Answered,
    Done,
    Event,
    Retrying,
    Stopped,
    TextStreamed,
    ThinkingStreamed,
    ToolCallRequested,
    Warned,
    WindowCompacted,
)
from holdfast.cli.chat.turns import TurnView, readable
from holdfast.cli.screen import OutputScreen
from holdfast.session import CompactionRecord
from holdfast.transcript import ToolCall

CALL = ToolCall("c", "read_file", '{"path": "a.txt"}')
FIGURES = {"messages_before": 9, "messages_after": 4, "tokens_before": 2_000, "tokens_after": 900}
RECORD = CompactionRecord(at=1, trigger="ahead_of_time", report=FIGURES)


def drawn(capsys: pytest.CaptureFixture[str], *events: Event, wraps: bool = False) -> str:
    showing = TurnView(OutputScreen(40, colored=False), wraps=wraps)
    for event in events:
        showing.event(event)
    showing.end_line()
    return capsys.readouterr().out


def test_words_come_as_they_are_and_notes_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert drawn(
        capsys,
        ThinkingStreamed("hm"),
        ThinkingStreamed("hm"),
        TextStreamed("Let me "),
        TextStreamed("look."),
        ToolCallRequested(CALL),
        Answered(CALL, "one\ntwo"),
        Answered(CALL, "x" * 80, is_error=True),
        WindowCompacted(RECORD),
        Warned("It is full."),
        Retrying("busy", 1.5),
        Retrying("too large"),
        Stopped("no key"),
        Done("", is_cut=True),
    ) == (
        "(thinking)\nLet me look.\n"
        '-> read_file {"path": "a.txt"}\n   one\n'
        f"   {'x' * 35}…\n"
        "[folded] 9 -> 4 messages, about 2,000 -> 900 tokens in the background\n"
        "[warning] It is full.\n[again in 1.5 s] busy\n[again] too large\n[stopped] no key\n"
        "[cut off at the longest answer]\n"
    )


def test_a_terminal_gets_lines_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    text = "These words are more than forty columns wide, "
    assert drawn(capsys, TextStreamed(text), TextStreamed("so they are broken."), wraps=True) == (
        "These words are more than forty columns\nwide, so they are broken.\n"
    )


def test_nothing_that_a_terminal_obeys_is_shown() -> None:
    assert readable("\x1b]0;x\x07a\r\nb\tc\u202ed\x9b2J") == "]0;xa\nb\tcd2J"
    family = "\U0001f469\u200d\U0001f467"
    assert readable(family) == family
