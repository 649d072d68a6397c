"""A summary in front of somebody's words is told by itself, and the words are told as well."""

from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.reader import with_lone_summaries
from holdfast.transcript import Message, Role, Summary, Synthetic, Text, ToolCall

SUMMARY = Summary("so far")
LONE = Message(Role.USER, (SUMMARY,), synthetic=Synthetic.SUMMARY)
BEGUN = StrandStarted(strand="", line=1, about=About())


def told(key: str, message: Message, at: int | None = None) -> MessageEvent:
    return MessageEvent(strand="", line=1, key=key, message=message, native=SourceMetadata(at=at))


def said(key: str) -> MessageEvent:
    return told(key, Message(Role.USER, (Text(key),)))


def folded(*shows: str) -> CompactionEvent:
    return CompactionEvent(strand="", line=1, id="fold", shows=shows)


def apart(*events: Event) -> list[Event]:
    return list(with_lone_summaries(events))


def test_words_below_a_summary_are_told_after_the_compaction() -> None:
    both = told("b", Message(Role.USER, (SUMMARY, Text("on"))), at=5)
    assert apart(BEGUN, said("a"), both, folded("a", "b")) == [
        BEGUN,
        said("a"),
        told("b/summary", LONE, at=5),
        folded("a", "b/summary"),
        told("b", Message(Role.USER, (Text("on"),)), at=5),
    ]


def test_words_that_stand_amid_a_window_are_told_before_the_compaction() -> None:
    call = ToolCall("t1", "Read")
    both = told("b", Message(Role.ASSISTANT, (SUMMARY, call)))
    assert apart(said("a"), both, folded("b", "a")) == [
        said("a"),
        told("b", Message(Role.ASSISTANT, (call,))),
        told("b/summary", LONE),
        folded("b/summary", "b", "a"),
    ]


def test_later_windows_show_both() -> None:
    both = told("b", Message(Role.USER, (SUMMARY, Text("on"))))
    rewound = RewindEvent(strand="", line=1, shows=("b",))
    assert apart(both, said("c"), rewound) == [
        told("b/summary", LONE),
        told("b", Message(Role.USER, (Text("on"),))),
        said("c"),
        RewindEvent(strand="", line=1, shows=("b/summary", "b")),
    ]


def test_a_summary_alone_keeps_its_name_and_is_never_an_answer() -> None:
    lone = Message(Role.ASSISTANT, (SUMMARY,), synthetic=Synthetic.SUMMARY)
    assert apart(told("a", lone), folded("a")) == [told("a", LONE), folded("a")]


def test_a_summary_at_the_end_is_told() -> None:
    both = told("b", Message(Role.USER, (SUMMARY, Text("on"))))
    rest = told("b", Message(Role.USER, (Text("on"),)))
    assert apart(both) == [told("b/summary", LONE), rest]
