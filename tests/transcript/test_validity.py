"""What every provider demands of calls and results."""

from holdfast.testing.builders import assistant, call, step, tool, user
from holdfast.transcript import check


def rules(*messages: object) -> list[tuple[int, str]]:
    return [(found.index, found.message) for found in check(messages)]  # type: ignore[arg-type]


def test_paired_calls_and_results_are_valid() -> None:
    assert (
        check((user("go"), *step("a"), assistant("", call("b"), call("c")), tool("b"), tool("c")))
        == ()
    )


def test_calls_at_the_very_end_may_still_be_running() -> None:
    assert check((user("go"), assistant("", call("a")))) == ()


def test_a_call_that_is_never_answered_is_named() -> None:
    assert rules(assistant("", call("a")), user("next")) == [
        (0, "call 'a' has no result right after it")
    ]


def test_a_result_without_its_call_is_named() -> None:
    assert rules(user("go"), tool("ghost")) == [
        (1, "a result answers call 'ghost', which does not exist")
    ]


def test_a_second_result_for_one_call_is_named() -> None:
    assert rules(*step("a"), tool("a")) == [(2, "a result answers call 'a', which has two results")]


def test_two_open_calls_with_one_id_are_named() -> None:
    assert rules(assistant("", call("a"), call("a")), tool("a")) == [
        (0, "call id 'a' is used twice")
    ]


def test_neighboring_assistant_messages_may_call_together() -> None:
    assert check((assistant("", call("a")), assistant("", call("b")), tool("a"), tool("b"))) == ()
