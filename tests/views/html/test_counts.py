"""The figures of a story, and the weight of a window."""

from holdfast.session import CompactionRecord, Entry, Kind
from holdfast.tokens import Scale
from holdfast.transcript import (
    Media,
    Message,
    Role,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from holdfast.views.context_map import ContentKind as Content
from holdfast.views.context_map import context_map, weigh_window
from holdfast.views.html.page import TimelineCounts, count_timeline
from holdfast.views.messages import Visibility
from holdfast.views.timeline import TimelineCompaction, TimelineMessage

CALL = Message(
    Role.ASSISTANT,
    (ToolCall("c", "read"), ToolCall("d", "read")),
    extras={"native": {"model": "a-model"}},
)
RESULT = Message(
    Role.TOOL, (ToolResult("c", (Text("no " * 400), Media(data="AAAA")), is_error=True),)
)
RECORD = Message(Role.USER, (Summary("all of it"),))


def entries(messages: Transcript, kind: Kind = Kind.SAID, first: int = 1) -> list[Entry]:
    return [
        Entry(id=id_, session="s", position=id_, kind=kind, message=message, at=0, tokens=0)
        for id_, message in enumerate(messages, first)
    ]


def test_a_survey_counts_what_is_told() -> None:
    told = [
        TimelineMessage(entry, entry.message, Visibility.GONE) for entry in entries((CALL, RESULT))
    ]
    written = tuple(entries((RECORD,), Kind.DERIVED, 3))
    change = TimelineCompaction(CompactionRecord(at=0, trigger="manual"), written, is_undone=False)
    assert count_timeline([*told, change]) == TimelineCounts(
        messages=2,
        parts={"tool call": 2, "tool error": 1, "image": 1, "compaction": 1},
        models=("a-model",),
        places=frozenset({1, 2, 3}),
    )


def test_a_window_weighs_as_the_terminal_s_map_says() -> None:
    messages = (CALL, RESULT, RECORD) * 50
    found = weigh_window(entries(messages), Scale())
    census = context_map(messages, Scale())
    assert tuple(weight.pieces for weight in found.weights) == census.pieces
    assert found.tokens == census.tokens
    assert [weight.id for _, weight, _ in found.heaviest] == list(range(2, 32, 3))
    assert found.heaviest[0][0] == census.weights[1]
    assert Content.IMAGES in dict(found.weights[1].pieces)
    assert set(found.visibility.values()) == {Visibility.SEEN}
