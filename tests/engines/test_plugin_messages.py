"""What a plug-in reads and hands back: nothing that it leaves alone is lost on the way."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.repair import repair
from holdfast.engines.plugin_messages import faults, read_back, shown_to_plugin
from holdfast.errors import DecodeError
from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.tokens import Scale
from holdfast.transcript import Message, Role, Synthetic, Text, ToolResult, Transcript
from holdfast.wire import DIALECTS, Body
from tests.compaction.sessions import sessions


@given(sessions(max_turns=3, max_steps=4))
def test_what_is_handed_back_as_it_was_is_the_same_objects(transcript: Transcript) -> None:
    whole = repair(transcript)
    sheet = shown_to_plugin(transcript)
    back = read_back(sheet, json.loads(json.dumps(sheet.messages)))
    assert len(back) == len(whole)
    assert all(map(lambda one, other: one is other, back, whole))
    assert list(faults(sheet, back, sheet.messages, Scale().total)) == []


@given(sessions(max_turns=3, max_steps=3), st.data())
def test_what_is_left_of_a_transcript_is_the_same_objects(
    transcript: Transcript, data: st.DataObject
) -> None:
    sheet = shown_to_plugin(transcript)
    if len(sheet.messages) != len(sheet.transcript):
        return
    start = data.draw(st.integers(0, len(sheet.messages)))
    back = read_back(sheet, deepcopy(sheet.messages[start:]))
    ours = {id(message) for message in sheet.transcript}
    assert all(id(message) in ours for message in back)


def test_several_results_in_one_message_stay_one_message() -> None:
    results = Message(Role.TOOL, (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),))))
    transcript = (user("go"), assistant("", call("a"), call("b")), results, user("and"))
    sheet = shown_to_plugin(transcript)
    assert len(sheet.messages) == 5
    assert read_back(sheet, deepcopy(sheet.messages))[2] is results
    part = read_back(sheet, [sheet.messages[0], *sheet.messages[3:]])
    assert results not in part


def test_of_equal_messages_the_last_ones_are_kept() -> None:
    transcript = (system("s"), user("go on"), assistant("done"), user("go on"), assistant("done"))
    sheet = shown_to_plugin(transcript)
    back = read_back(sheet, [sheet.messages[0], *deepcopy(sheet.messages[3:])])
    assert [message is ours for message, ours in zip(back[1:], transcript[3:], strict=True)] == [
        True,
        True,
    ]


def test_more_copies_than_there_were_are_notes() -> None:
    transcript = (user("go on"), assistant("done"))
    sheet = shown_to_plugin(transcript)
    first, second = sheet.messages
    back = read_back(sheet, [first, second, dict(first)])
    assert [message.synthetic for message in back] == [None, None, Synthetic.NOTE]


@pytest.mark.parametrize(
    ("handed", "place"),
    [(None, "messages"), ([1], r"messages\[0\]"), ([{"role": {1, 2}}], "no JSON")],
)
def test_what_is_no_list_of_messages_is_refused(handed: object, place: str) -> None:
    with pytest.raises(DecodeError, match=place):
        read_back(shown_to_plugin((user("x"),)), handed)


def test_each_fault_has_a_name() -> None:
    transcript = (system("s"), user("ask"), assistant("", call("c1")), tool("c1"), user("newest"))
    sheet = shown_to_plugin((*transcript, assistant("", call("c2"))))
    handed = [*sheet.messages[3:4], {"role": "assistant", "content": "word " * 200}]
    after = read_back(sheet, handed)
    rules = [fault.rule for fault in faults(sheet, after, handed, Scale().total)]
    assert rules == ["validity", "newest-user", "system", "waiting", "size"]


def test_messages_of_another_dialect_are_refused_by_their_place() -> None:
    sheet = shown_to_plugin((user("go"), assistant("", call("a")), tool("a", "1"), user("and")))
    block = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    handed = [*sheet.messages[:2], {"role": "user", "content": [block]}, sheet.messages[3]]
    with pytest.raises(DecodeError, match=r"messages\[2\]: it has a part of the type tool_result"):
        read_back(sheet, handed)


def test_what_the_plugin_was_given_is_never_strange() -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    messages: list[dict[str, object]] = [{"role": "user", "content": [block]}]
    sheet = shown_to_plugin(DIALECTS["openai"].decode(Body(messages)))
    said: dict[str, object] = {"role": "user", "content": [{"type": "text", "text": "x"}, block]}
    assert len(read_back(sheet, [said])) == 1
