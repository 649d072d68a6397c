"""Repair: every call has exactly one result, right after it and in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.compaction.repair import ensure_valid, lost_pins, merged, repair, strays
from holdfast.errors import InvalidTranscript
from holdfast.testing.builders import assistant, call, step, tool, user
from holdfast.tokens import Scale
from holdfast.transcript import Media, Message, Role, Synthetic, Text, ToolResult, check
from holdfast.transcript.effects import STUB


def test_a_transcript_that_needs_nothing_comes_back_as_it_is() -> None:
    transcript = (user("go"), *step("a"), assistant("done"))
    assert repair(transcript) is transcript


def test_a_result_without_its_call_is_removed() -> None:
    assert repair((user("go"), tool("ghost"), assistant("ok"))) == (user("go"), assistant("ok"))


def test_results_without_their_calls_are_warned_of() -> None:
    assert strays((user("go"), *step("a"))) == ()
    assert strays((tool("ghost"), *step("a"))) == ("a tool result without its call was left out",)
    assert strays((tool("x"), tool("y"))) == ("2 tool results without their calls were left out",)


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


def test_a_result_further_on_goes_back_to_its_call() -> None:
    first, second = assistant("", call("a"), call("b")), assistant("", call("c"))
    transcript = (
        first,
        tool("b", "2"),
        user("meanwhile"),
        second,
        tool("a", "1"),
        tool("c", "3"),
        assistant("done"),
    )
    assert repair(transcript) == (
        first,
        tool("a", "1"),
        tool("b", "2"),
        user("meanwhile"),
        second,
        tool("c", "3"),
        assistant("done"),
    )


def test_of_one_message_with_several_results_each_goes_to_its_own_call() -> None:
    first, second = assistant("", call("a")), assistant("", call("b"))
    (one,), (two,) = tool("a", "1").parts, tool("b", "2").parts
    both = Message(Role.TOOL, (one, two))
    assert repair((first, user("and"), second, both, user("next"))) == (
        first,
        tool("a", "1"),
        user("and"),
        second,
        tool("b", "2"),
        user("next"),
    )


def test_a_result_before_its_call_answers_nothing() -> None:
    calling = assistant("", call("a"))
    repaired = repair((user("go"), tool("a"), calling, user("next")))
    assert [message.synthetic for message in repaired] == [None, None, Synthetic.STUB, None]


def test_the_newest_call_of_an_id_gets_the_result_that_comes_late() -> None:
    old, fresh = assistant("", call("a")), assistant("once more", call("a"))
    repaired = repair((old, user("stop"), fresh, user("wait"), tool("a", "1"), assistant("done")))
    assert repaired[3:] == (fresh, tool("a", "1"), user("wait"), assistant("done"))
    assert repaired[1].synthetic is Synthetic.STUB


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
    assert _answered(repaired) >= _answerable(transcript)
    words = [
        message for message in transcript if not message.calls and message.role is not Role.TOOL
    ]
    assert [
        message for message in repaired if not message.calls and message.role is not Role.TOOL
    ] == words


def _answered(transcript: tuple[Message, ...]) -> int:
    """Return how many calls have a result that a tool gave."""
    tools = [message for message in transcript if message.synthetic is None]
    return sum(len(message.results) for message in tools)


def _answerable(transcript: tuple[Message, ...]) -> int:
    """Return how many results stand after a call that still waits, one for each name of a call."""
    waiting: set[str] = set()
    found = 0
    for message in transcript:
        for result in message.results:
            found += result.call_id in waiting
            waiting.discard(result.call_id)
        waiting.update(each.id for each in message.calls)
    return found


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


def test_pins_that_came_out_otherwise_are_named_by_number_and_weight() -> None:
    first, second = user("the plan", pinned=True), user("the address", pinned=True)
    pinned = replace(tool("a"), pinned=True)
    before = (user("hi"), first, assistant("", call("a")), pinned, second)
    scale = Scale()
    assert lost_pins(before, before, scale) == ()
    joined = replace(first, parts=(*first.parts, *second.parts))
    assert lost_pins(before, (joined, assistant("", call("a")), pinned), scale) == ()
    advice = "say in fewer words what must stay and pin that, or unpin others"
    (one,) = lost_pins(before, before[:4], scale)
    assert one.startswith(f"a pinned message of {scale.weigh(second)} tokens could not stay")
    assert one.endswith(advice)
    (two,) = lost_pins(before, (user("hi"), first), scale)
    weight = scale.total((pinned, second))
    assert two.startswith(f"2 pinned messages of {weight} tokens could not stay word for word")
