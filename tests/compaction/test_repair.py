"""Repair: every call has exactly one result, right after it and in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.repair import STUB, ensure_valid, merged, repair
from holdfast.errors import InvalidTranscript
from holdfast.testing.builders import assistant, call, step, tool, user
from holdfast.transcript import Media, Message, Role, Synthetic, Text, ToolResult, check


def test_a_transcript_that_needs_nothing_comes_back_as_it_is() -> None:
    transcript = (user("go"), *step("a"), assistant("done"))
    assert repair(transcript) is transcript


def test_a_result_without_its_call_is_removed() -> None:
    assert repair((user("go"), tool("ghost"), assistant("ok"))) == (user("go"), assistant("ok"))


def test_a_call_without_its_result_gets_a_stub() -> None:
    stub = Message(
        Role.TOOL, (ToolResult("a", (Text(STUB),), name="bash"),), synthetic=Synthetic.STUB
    )
    calling = assistant("", call("a"))
    assert repair((calling, user("next"))) == (calling, stub, user("next"))


def test_calls_at_the_end_wait_for_their_tools() -> None:
    transcript = (user("go"), assistant("", call("a"), call("b")), tool("a"))
    assert repair(transcript) is transcript


def test_results_are_put_into_the_order_of_their_calls_and_doubles_go() -> None:
    calling = assistant("", call("a"), call("b"))
    transcript = (calling, tool("b", "2"), tool("a", "1"), tool("a", "again"), user("next"))
    assert repair(transcript) == (calling, tool("a", "1"), tool("b", "2"), user("next"))


messages = st.one_of(
    st.sampled_from([user("u"), assistant("a")]),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(
        lambda ids: assistant("", *map(call, ids))
    ),
    st.sampled_from("abc").map(tool),
)


@given(st.lists(messages, max_size=12).map(tuple))
def test_whatever_comes_in_the_pairing_is_right_afterwards(transcript: tuple[Message, ...]) -> None:
    repaired = repair(transcript)
    assert check(repaired) == ()
    assert repair(repaired) == repaired
    words = [
        message for message in transcript if not message.calls and message.role is not Role.TOOL
    ]
    assert [
        message for message in repaired if not message.calls and message.role is not Role.TOOL
    ] == words


def test_plain_words_merge_with_a_blank_line_and_other_parts_side_by_side() -> None:
    assert merged(user("a"), user("b")) == user("a\n\nb")
    picture = Message(Role.USER, (Media(),))
    assert merged(picture, user("b")) == Message(Role.USER, (Media(), Text("b")), form="parts")


def test_a_valid_transcript_that_came_out_invalid_is_not_handed_out() -> None:
    broken = (tool("ghost"),)
    with pytest.raises(InvalidTranscript, match="came out invalid: a result answers call 'ghost'"):
        ensure_valid(broken, (user("go"),))
    ensure_valid(broken, broken)
    ensure_valid((user("go"),), broken)
