"""The events of Copilot CLI tell a conversation and those of its sub-agents."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats import read
from holdfast.formats.copilot import COPILOT
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, Thinking, shape
from tests.formats.conformance import broken_rules, records_of
from tests.formats.samples import sample

Entry = dict[str, object]


def entry(kind: str, id: str = "", **event: object) -> Entry:  # noqa: A002
    return {"type": kind, "data": event, "id": id, "timestamp": "2026-01-01T00:00:00.000Z"}


def tell(*entries: object) -> list[Event]:
    events = list(COPILOT.read(SourceRecord(line, value) for line, value in enumerate(entries, 1)))
    assert broken_rules(events) == []
    return events


def told_sample() -> list[Event]:
    return list(COPILOT.read(records_of(sample("copilot.jsonl").encode())))


def test_events_become_messages_and_sub_agents_speak_elsewhere() -> None:
    document = read(sample("copilot.jsonl"))
    assert (document.format, document.problems) == ("copilot", ())
    assert shape(document.transcript, 100) == "\n".join(
        [
            "00 system    You help.",
            "01 user      List the files",
            '02 assistant (thinking) | Listing. | -> task {"prompt": "look around"} | '
            '-> shell {"command":"pwd"}',
            "03 tool      result: a.txt",
            "04 tool      error: denied",
            "05 assistant Done.",
            "06 user      [summary] One file was found.",
            "07 user      Meanwhile",
            "08 assistant Yes.",
        ]
    )


def test_the_session_says_where_and_with_which_model_it_ran() -> None:
    document = read(sample("copilot.jsonl"))
    assert document.about == About(
        id="c-1",
        model="model-b",
        cwd="/srv/shop",
        git_branch="main",
        version="1.0.11",
        started=1_767_225_600_000,
        more={"repository": "example/shop"},
    )


def test_a_sub_agent_is_a_strand_of_the_call_that_started_it() -> None:
    events = told_sample()
    begun = [each for each in events if isinstance(each, StrandStarted)][1]
    about = About(title="Explorer", more={"call": "k1"})
    assert begun == StrandStarted(strand="k1", line=7, about=about, of=MAIN, fork=Fork.DELEGATION)
    inner = [each for each in events if isinstance(each, MessageEvent) and each.strand == "k1"]
    assert [each.message.role for each in inner] == [Role.ASSISTANT, Role.TOOL]


def test_a_sub_agent_of_a_sub_agent_comes_from_that() -> None:
    call = {"toolCallId": "k2", "name": "task", "arguments": {}}
    events = tell(
        entry("assistant.message", parentToolCallId="k1", toolRequests=[call]),
        entry("assistant.message", parentToolCallId="k2", content="deep"),
    )
    assert [(each.strand, each.of) for each in events if isinstance(each, StrandStarted)] == [
        (MAIN, None),
        ("k1", MAIN),
        ("k2", "k1"),
    ]


def test_a_sub_agent_may_be_named_by_an_id_of_its_own() -> None:
    started = entry("subagent.started", toolCallId="k1", agentName="explore") | {"agentId": "a"}
    spoken = entry("assistant.message", content="hi") | {"agentId": "a"}
    events = tell(started, spoken)
    assert [each.strand for each in events if isinstance(each, MessageEvent)] == ["k1"]


def test_a_sub_agent_that_no_call_started_still_has_its_name() -> None:
    started = entry("subagent.started", agentDisplayName="Explorer") | {"agentId": "a"}
    spoken = entry("assistant.message", content="hi") | {"agentId": "a"}
    events = tell(started, spoken)
    begun = [each for each in events if isinstance(each, StrandStarted)][1]
    assert (begun.strand, begun.about.title) == ("a", "Explorer")
    assert [each.strand for each in events if isinstance(each, MessageEvent)] == ["a"]


def test_a_compaction_leaves_the_instructions_what_was_asked_and_what_came_meanwhile() -> None:
    (folded,) = [each for each in told_sample() if isinstance(each, CompactionEvent)]
    assert folded == CompactionEvent(
        strand=MAIN,
        line=17,
        id="e17",
        shows=("e2", "e3", "e17", "e16"),
        at=1_767_225_609_000,
        tokens_before=900,
        tokens_after=90,
    )


def test_a_compaction_that_failed_changes_nothing() -> None:
    failed = entry("session.compaction_complete", success=False, summaryContent="half")
    assert [each for each in tell(failed) if isinstance(each, MessageEvent | CompactionEvent)] == []


def test_what_an_answer_wrote_is_counted_once() -> None:
    pieces = [
        entry("assistant.message", name, messageId="m", outputTokens=7, content=name)
        for name in "ab"
    ]
    found = [each.native for each in tell(*pieces) if isinstance(each, MessageEvent)]
    at = 1_767_225_600_000
    assert found == [
        SourceMetadata(id="a", reply="m", usage=Usage(1, 0, 7), at=at),
        SourceMetadata(id="b", reply="m", at=at),
    ]


def test_a_thought_in_an_event_of_its_own_is_not_told_again() -> None:
    events = tell(
        entry("assistant.reasoning", reasoningId="r", content="hmm"),
        entry("assistant.message", messageId="m", content="Yes.", reasoningText="hmm"),
        entry("assistant.message", messageId="n", content="No.", reasoningText="hmm"),
    )
    assert [each.message.parts for each in events if isinstance(each, MessageEvent)] == [
        (Thinking("hmm"),),
        (Text("Yes."),),
        (Thinking("hmm"), Text("No.")),
    ]


def test_a_resumed_session_may_run_elsewhere() -> None:
    resumed = entry("session.resume", selectedModel="m", context={"cwd": "/srv", "branch": "fix"})
    (noted,) = [each for each in tell(resumed) if isinstance(each, MetadataUpdated)]
    assert noted.about == About(model="m", cwd="/srv", git_branch="fix")


def test_pictures_of_a_tool_are_told() -> None:
    picture = {"type": "image", "data": "QQ==", "mimeType": "image/png"}
    done = entry("tool.execution_complete", toolCallId="k", result={"contents": [picture]})
    (told,) = [each for each in tell(done) if isinstance(each, MessageEvent)]
    (result,) = told.message.results
    assert [type(part).__name__ for part in result.content] == ["Media"]


def test_what_says_nothing_is_not_told() -> None:
    events = tell(entry("user.message", content=None), entry("assistant.message", content=""))
    assert [each for each in events if isinstance(each, MessageEvent)] == []


def test_a_notice_for_the_model_is_told() -> None:
    (told,) = [
        each
        for each in tell(entry("system.notification", content="An agent is done."))
        if isinstance(each, MessageEvent)
    ]
    assert told.message == Message(Role.SYSTEM, (Text("An agent is done."),))


SCRAPS = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.text())
FIELDS = (
    "content toolRequests parentToolCallId toolCallId summaryContent success result error "
    "messageId outputTokens sessionId context reasoningText reasoningId title"
).split()
KINDS = (
    "session.start session.resume user.message assistant.message assistant.reasoning "
    "tool.execution_complete subagent.started session.compaction_start "
    "session.compaction_complete system.message ?"
).split()


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(KINDS) | SCRAPS,
                "data": st.dictionaries(st.sampled_from(FIELDS), SCRAPS, max_size=5) | SCRAPS,
                "id": st.sampled_from(("a", "b", 3)),
                "agentId": st.sampled_from(("", "x", "y", None)),
            }
        ),
        max_size=6,
    )
)
def test_no_event_is_too_strange_to_read(entries: list[Entry]) -> None:
    tell(*entries)
