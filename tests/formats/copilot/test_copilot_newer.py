"""What newer releases of Copilot CLI write and print is read as what it means."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.copilot import COPILOT
from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Media, Role, Text, Thinking, ToolCall
from tests.formats.conformance import broken_rules
from tests.formats.surprises import breaks, surprised

Entry = dict[str, object]
PICTURE = {"type": "image", "data": "QQ==", "mimeType": "image/png"}
SHOWN = Media(media_type="image/png", data="QQ==")


def entry(kind: str, id: str = "", **event: object) -> Entry:  # noqa: A002
    return {"type": kind, "data": event, "id": id, "timestamp": "2026-01-01T00:00:00.000Z"}


def tell(*entries: object) -> list[Event]:
    events = list(COPILOT.read(SourceRecord(line, value) for line, value in enumerate(entries, 1)))
    assert broken_rules(events) == []
    return events


def told(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def noted(events: list[Event]) -> list[tuple[str, Usage | None]]:
    return [(each.strand, each.about.usage) for each in events if isinstance(each, MetadataUpdated)]


def metrics(sent: int, wrote: int, cached: int) -> Entry:
    usage = {"inputTokens": sent, "outputTokens": wrote, "cacheReadTokens": cached}
    return {"m": {"requests": {"count": 2, "cost": 1}, "usage": usage}}


def test_the_runs_of_a_session_add_up() -> None:
    events = tell(
        entry("assistant.message", "a", messageId="a", content="Hi", outputTokens=7),
        entry("session.shutdown", modelMetrics=metrics(100, 7, 60)),
        entry("session.shutdown", modelMetrics=metrics(50, 3, 0)),
    )
    assert noted(events) == [("", Usage(2, 40, 7, 60)), ("", Usage(4, 90, 10, 60))]


def test_what_sub_agents_wrote_is_theirs_and_not_counted_again() -> None:
    inner = entry("assistant.message", "b", messageId="b", content="Hi", outputTokens=5)
    started = entry("subagent.started", toolCallId="k", agentName="explore") | {"agentId": "x"}
    events = tell(
        started, inner | {"agentId": "x"}, entry("session.shutdown", modelMetrics=metrics(9, 8, 0))
    )
    assert noted(events) == [("", Usage(2, 9, 3))]
    apart = {"main": {"modelMetrics": metrics(9, 3, 0)}, "x": {"modelMetrics": metrics(4, 5, 1)}}
    events = tell(started, inner | {"agentId": "x"}, entry("session.shutdown", agentMetrics=apart))
    assert noted(events) == [("", Usage(2, 9, 3)), ("k", Usage(2, 3, 5, 1))]


def test_totals_by_kinds_of_tokens_stand_in_where_models_have_none() -> None:
    kinds = {"input": 100, "output": 15, "cache_read": 5, "cache_write": 0}
    details = {name: {"tokenCount": number} for name, number in kinds.items()}
    ended = entry("session.shutdown", modelMetrics={"m": {"requests": 2}}, tokenDetails=details)
    assert noted(tell(ended)) == [("", Usage(2, 100, 15, 5))]
    assert noted(tell(entry("session.shutdown", modelMetrics={}))) == []


def test_a_stream_tells_what_each_request_cost_and_its_end_does_not_count_it_again() -> None:
    request = entry("assistant.usage", inputTokens=10, outputTokens=4, cacheReadTokens=6)
    events = tell(request, request, entry("session.shutdown", modelMetrics=metrics(20, 8, 12)))
    assert noted(events) == [("", Usage(1, 4, 4, 6)), ("", Usage(2, 8, 8, 12))]


def test_pictures_that_a_user_attached_are_told_with_the_words() -> None:
    blob = {"type": "blob", "data": "QQ==", "mimeType": "image/png", "displayName": "a.png"}
    path = {"type": "file", "path": "/srv/a.txt", "displayName": "a.txt"}
    (user,) = told(tell(entry("user.message", content="Look", attachments=[blob, path])))
    assert user.message.parts == (Text("Look"), SHOWN)


def test_a_picture_that_events_share_is_told_wherever_it_is_referred_to() -> None:
    asset = entry("session.binary_asset", assetId="x", data="QQ==", mimeType="image/png")
    reference = {"type": "image", "assetId": "x", "mimeType": "image/png"}
    events = tell(
        asset,
        entry("user.message", content="Look", attachments=[reference]),
        entry("tool.execution_complete", toolCallId="k", result={"contents": [reference]}),
        entry("user.message", content="And", attachments=[reference | {"assetId": "gone"}]),
    )
    first, result, last = told(events)
    assert first.message.parts == (Text("Look"), SHOWN)
    assert result.message.results[0].content == (SHOWN,)
    assert last.message.parts == (Text("And"),)


def test_a_result_keeps_its_pictures_beside_its_words() -> None:
    both = {
        "content": "A chart.",
        "contents": [{"type": "text", "text": "A chart, in full."}, PICTURE],
        "binaryResultsForLlm": [PICTURE],
    }
    (done,) = told(tell(entry("tool.execution_complete", toolCallId="k", result=both)))
    assert done.message.results[0].content == (Text("A chart."), SHOWN)


def test_a_call_that_only_its_execution_tells_of_is_told_before_its_result() -> None:
    events = tell(
        entry("tool.user_requested", toolCallId="k", toolName="shell", arguments={"command": "ls"}),
        entry(
            "tool.execution_start", toolCallId="k", toolName="shell", arguments={"command": "ls"}
        ),
        entry("tool.execution_complete", "e", toolCallId="k", result={"content": "a"}),
    )
    asked, answer = told(events)
    assert asked.message.calls == (ToolCall("k", "shell", '{"command": "ls"}'),)
    assert (answer.key, answer.message.results[0].call_id) == ("e", "k")


def test_a_call_that_an_answer_asked_for_is_told_once() -> None:
    call = {"toolCallId": "k", "name": "shell", "arguments": {}}
    events = tell(
        entry("tool.execution_start", toolCallId="k", toolName="shell"),
        entry("assistant.message", "a", toolRequests=[call]),
        entry("tool.execution_start", toolCallId="k", toolName="shell"),
        entry("tool.execution_complete", toolCallId="k", result={"content": "a"}),
    )
    assert [len(each.message.calls) for each in told(events)] == [1, 0]


def test_a_thought_after_its_answer_is_not_told_again_and_a_new_one_is() -> None:
    events = tell(
        entry("assistant.message", messageId="m", content="Yes.", reasoningText="hmm"),
        entry("assistant.reasoning", reasoningId="r", content="hmm"),
        entry("assistant.reasoning", reasoningId="s", content="well"),
        entry("assistant.message", messageId="n", content="Yes.", reasoningText="well"),
    )
    assert [each.message.parts for each in told(events)] == [
        (Thinking("hmm"), Text("Yes.")),
        (Thinking("well"),),
        (Text("Yes."),),
    ]


def test_an_answer_that_is_printed_again_as_it_grows_is_told_once() -> None:
    call = {"toolCallId": "k", "name": "shell", "arguments": {}}
    events = tell(
        entry("assistant.message", "a", messageId="m", content="See.", outputTokens=2),
        entry("assistant.message", "b", messageId="m", content="See.", toolRequests=[call]),
        entry("assistant.message", "c", messageId="m", content="See.", toolRequests=[call]),
        entry("assistant.message", "d", messageId="n", content="See."),
    )
    assert [each.message.parts for each in told(events)] == [
        (Text("See."),),
        (ToolCall("k", "shell", "{}"),),
        (Text("See."),),
    ]


def test_a_session_that_moves_says_where_it_is() -> None:
    moved = entry("session.context_changed", cwd="/srv/new", branch="fix", gitRoot="/srv")
    (about,) = [each.about for each in tell(moved) if isinstance(each, MetadataUpdated)]
    assert about == About(cwd="/srv/new", git_branch="fix")


def test_a_context_that_was_cleared_leaves_the_instructions() -> None:
    events = tell(
        entry("system.message", "s", content="You help."),
        entry("user.message", "u", content="Hi"),
        entry("session.context_cleared", "c", messagesCleared=1, initialMessage="Begin anew"),
        entry("assistant.message", "a", content="Yes."),
    )
    (rewound,) = [each for each in events if isinstance(each, RewindEvent)]
    assert rewound.shows == ("s",)
    assert [each.message.role for each in told(events)] == [
        Role.SYSTEM,
        Role.USER,
        Role.USER,
        Role.ASSISTANT,
    ]


def test_a_rewind_takes_back_an_event_and_all_after_it() -> None:
    events = tell(
        entry("user.message", "u", content="Hi"),
        entry("assistant.message", "a", content="Yes."),
        entry("user.message", "v", content="No"),
        entry("session.snapshot_rewind", upToEventId="v", eventsRemoved=1),
        entry("session.snapshot_rewind", upToEventId="gone", eventsRemoved=1),
    )
    assert [each.shows for each in events if isinstance(each, RewindEvent)] == [("u", "a")]


def test_what_each_request_cost_is_told_once_whatever_the_totals_of_all_runs_say() -> None:
    cost = {"inputTokens": 150, "outputTokens": 25, "cacheReadTokens": 30, "cacheWriteTokens": 0}
    record = entry("session.usage_record", usage=cost)
    events = tell(
        record,
        entry("assistant.message", "a", messageId="a", content="Hi"),
        entry("session.shutdown", modelMetrics=metrics(150, 25, 30)),
        entry("session.shutdown", modelMetrics=metrics(150, 25, 30)),
        record,
        entry("session.shutdown", modelMetrics=metrics(300, 50, 60)),
    )
    assert noted(events) == [("", Usage(1, 120, 25, 30)), ("", Usage(2, 240, 50, 60))]


def test_new_instructions_take_the_place_of_those_before_and_the_same_say_nothing() -> None:
    events = tell(
        entry("user.message", "u", content="Hi"),
        entry("system.message", "s1", content="You help."),
        entry("system.message", "s2", content="You help."),
        entry("system.message", "s3", content="You help a lot."),
    )
    assert [each.key for each in told(events)] == ["u", "s1", "s3"]
    assert [each.shows for each in events if isinstance(each, RewindEvent)] == [("s3", "u")]


def test_what_the_user_said_is_seen_beside_a_summary() -> None:
    events = tell(
        entry("system.message", "s", content="You help."),
        entry("user.message", "u1", content="One"),
        entry("assistant.message", "a1", messageId="a1", content="First."),
        entry("session.compaction_complete", "c1", success=True, summaryContent="So far."),
        entry("user.message", "u2", content="Two"),
        entry("session.compaction_complete", "c2", success=True, summaryContent="Further."),
        entry("session.context_cleared", "x"),
        entry("user.message", "u3", content="Three"),
        entry("session.compaction_complete", "c3", success=True, summaryContent="Anew."),
    )
    assert [each.shows for each in events if isinstance(each, CompactionEvent)] == [
        ("s", "u1", "c1"),
        ("s", "u1", "u2", "c2"),
        ("s", "u3", "c3"),
    ]


@given(st.data())
def test_whatever_a_log_says_it_is_told_by_the_rules(data: st.DataObject) -> None:
    call = {"toolCallId": "k", "name": "shell", "arguments": {}}
    lines = [
        entry("system.message", "s", content="You help."),
        entry("session.binary_asset", assetId="x", data="QQ==", mimeType="image/png"),
        entry("user.message", "u", content="Hi", attachments=[PICTURE, {"assetId": "x"}]),
        entry("assistant.reasoning", "r", reasoningId="r", content="hmm"),
        entry("assistant.message", "a", messageId="m", content="See.", toolRequests=[call]),
        entry("tool.execution_start", "t", toolCallId="l", toolName="shell"),
        entry("tool.execution_complete", "d", toolCallId="l", result={"contents": [PICTURE]}),
        entry("assistant.usage", inputTokens=10, outputTokens=4),
        entry("session.context_changed", cwd="/srv", branch="fix"),
        entry("session.snapshot_rewind", upToEventId="a", eventsRemoved=1),
        entry("session.context_cleared", "c", messagesCleared=1, initialMessage="Begin"),
        entry("session.shutdown", modelMetrics=metrics(9, 8, 0), agentMetrics={"main": {}}),
    ]
    records = [SourceRecord(place, line) for place, line in enumerate(lines, 1)]
    assert breaks(COPILOT, data.draw(surprised(records))) == []
