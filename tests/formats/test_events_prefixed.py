"""Names of what several files tell in one stream."""

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    prefixed,
)
from holdfast.session import Fork
from holdfast.transcript import Message, Role, Text


def test_every_name_of_a_file_begins_as_the_others_of_it() -> None:
    message = Message(Role.USER, (Text("hi"),))
    native = SourceMetadata(id="u1")
    about = About(title="Sky")
    given = [
        StrandStarted(strand="/b", line=1, about=about, of=MAIN, fork=Fork.BRANCH, after="#1"),
        MessageEvent(strand=MAIN, line=2, key="#2", message=message, native=native),
        CompactionEvent(strand=MAIN, line=3, id="f", shows=("#1", "#2"), at=4, trigger="auto"),
        RewindEvent(strand=MAIN, line=4, shows=("#1",), at=5),
        MetadataUpdated(strand=MAIN, about=about),
    ]
    assert [prefixed(each, "s") for each in given] == [
        StrandStarted(strand="s/b", line=1, about=about, of="s", fork=Fork.BRANCH, after="s#1"),
        MessageEvent(strand="s", line=2, key="s#2", message=message, native=native),
        CompactionEvent(strand="s", line=3, id="sf", shows=("s#1", "s#2"), at=4, trigger="auto"),
        RewindEvent(strand="s", line=4, shows=("s#1",), at=5),
        MetadataUpdated(strand="s", about=about),
    ]
    assert [prefixed(each, "") for each in given] == given


def test_what_has_no_parent_gets_none_and_a_problem_has_no_name() -> None:
    begun = prefixed(StrandStarted(strand=MAIN, line=1, about=About()), "s")
    assert begun == StrandStarted(strand="s", line=1, about=About())
    problem = Problem(1, "torn", "x.jsonl")
    assert prefixed(problem, "s") == problem
