"""Whatever order a log has, results stand behind their calls."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import Problem
from holdfast.formats.replay import PairedTranscript, SourceMessage, pair_results
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult, check, shape

IDS = st.sampled_from(["", "a", "b", "a-2"])


def say(text: str, role: Role = Role.USER) -> Message:
    return Message(role, (Text(text),))


def call(*ids: str) -> Message:
    return Message(Role.ASSISTANT, tuple(ToolCall(each, f"run-{each}") for each in ids))


def result(call_id: str, text: str) -> Message:
    return Message(Role.TOOL, (ToolResult(call_id, (Text(text),)),))


def drawn(*messages: Message) -> str:
    return shape(
        pair_results(SourceMessage(line, each) for line, each in enumerate(messages, 1)).transcript
    )


def test_results_move_behind_their_calls_in_the_order_of_the_calls() -> None:
    assert drawn(call("a", "b"), say("wait"), result("b", "two"), result("a", "one")) == "\n".join(
        [
            "00 assistant -> run-a {} | -> run-b {}",
            "01 tool      result: one",
            "02 tool      result: two",
            "03 user      wait",
        ]
    )


def test_a_result_learns_the_name_of_its_tool() -> None:
    reading = pair_results([SourceMessage(1, call("a")), SourceMessage(2, result("a", "x"))])
    assert reading.transcript[1].results[0].name == "run-a"


def test_results_are_taken_out_of_a_user_message() -> None:
    mixed = Message(Role.USER, (ToolResult("a", (Text("x"),)), Text("and go on")))
    assert drawn(call("a"), mixed) == "\n".join(
        ["00 assistant -> run-a {}", "01 tool      result: x", "02 user      and go on"]
    )


def test_an_id_that_is_used_again_becomes_another() -> None:
    reading = pair_results(
        SourceMessage(1, each)
        for each in [call("a"), result("a", "1"), call("a"), result("a", "2")]
    )
    assert [each.id for message in reading.transcript for each in message.calls] == ["a", "a-2"]
    assert [each.call_id for message in reading.transcript for each in message.results] == [
        "a",
        "a-2",
    ]


def test_a_result_answers_the_newest_call_of_its_id() -> None:
    reading = pair_results(
        SourceMessage(1, each) for each in [call("a"), say("stop"), call("a"), result("a", "x")]
    )
    assert reading.transcript[-1].results[0].call_id == "a-2"


def test_a_call_without_an_id_gets_one() -> None:
    reading = pair_results([SourceMessage(1, call("")), SourceMessage(2, result("", "x"))])
    assert reading.transcript[0].calls[0].id == "call"
    assert check(reading.transcript) == ()


def test_results_that_fit_no_call_are_reported_by_line() -> None:
    messages = [result("z", "1"), call("a"), result("a", "2"), result("a", "3")]
    reading = pair_results(
        (SourceMessage(line, each) for line, each in enumerate(messages, 1)), [Problem(2, "x")]
    )
    assert reading.problems == (
        Problem(1, "a result answers call 'z', which is not in the file"),
        Problem(2, "x"),
        Problem(4, "a result answers call 'a', which was answered before"),
    )


def test_a_message_that_says_nothing_is_left_out() -> None:
    assert pair_results(
        [SourceMessage(1, say(" \n")), SourceMessage(2, Message(Role.ASSISTANT))]
    ) == PairedTranscript(())


@given(
    st.lists(
        st.one_of(
            st.lists(IDS, min_size=1, max_size=3).map(lambda ids: call(*ids)),
            IDS.map(lambda each: result(each, "x")),
            st.just(say("go")),
        ),
        max_size=12,
    )
)
def test_any_log_is_valid_but_for_open_calls(messages: list[Message]) -> None:
    reading = pair_results(SourceMessage(1, each) for each in messages)
    assert all("has no result right after it" in each.message for each in check(reading.transcript))
    answered = sum(len(message.results) for message in reading.transcript)
    given_results = sum(len(message.results) for message in messages)
    assert answered + len(reading.problems) == given_results
