"""Whatever a model asks of its tools, it gets a text back that says what happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent import Permission, Toolbox, ToolFailed
from holdfast.agent.toolbox import Outcome, number, words
from holdfast.errors import ConfigError
from holdfast.transcript import ToolCall
from tests.agent.scripted import Echo, call


def test_a_call_is_answered_by_its_tool() -> None:
    tool = Echo()
    assert Toolbox([tool]).answer(call("a", "echo", at=1)) == Outcome("echo {'at': 1}")
    assert tool.seen == [{"at": 1}]


def test_a_tool_that_does_not_exist_is_named_with_those_that_do() -> None:
    answer = Toolbox([Echo(), Echo("look")]).answer(call("a", "hammer"))
    assert answer == Outcome("there is no tool 'hammer'; there are: echo, look", is_error=True)


@pytest.mark.parametrize("written", ["{", '{"at": 1', "[1]", '"text"', "7", "[" * 100_000])
def test_arguments_that_are_no_object_are_refused_with_the_reason(written: str) -> None:
    tool = Echo()
    answer = Toolbox([tool]).answer(ToolCall("a", "echo", written))
    assert answer.is_error
    assert "JSON" in answer.text
    assert tool.seen == []


@pytest.mark.parametrize(
    "written", ["{'at': 1}", '{"at": 1,}', '```json\n{"at": 1}\n```', '"{\\"at\\": 1}"', "{at: 1}"]
)
def test_slips_in_the_json_of_a_call_are_mended(written: str) -> None:
    answer = Toolbox([Echo()]).answer(ToolCall("a", "echo", written))
    assert answer == Outcome("echo {'at': 1}")


@given(st.text())
def test_no_arguments_whatsoever_make_the_toolbox_raise(written: str) -> None:
    assert isinstance(Toolbox([Echo()]).answer(ToolCall("a", "echo", written)), Outcome)


def test_no_arguments_are_empty_ones() -> None:
    assert Toolbox([Echo()]).answer(ToolCall("a", "echo", "")) == Outcome("echo {}")


def test_what_a_tool_raises_is_an_answer() -> None:
    def fail() -> None:
        raise ToolFailed("the disk is full")

    def crash() -> None:
        raise ZeroDivisionError("division by zero")

    box = Toolbox([Echo("fail", effect=fail), Echo("crash", effect=crash)])
    assert box.answer(call("a", "fail")) == Outcome("the disk is full", is_error=True)
    assert box.answer(call("b", "crash")) == Outcome(
        "crash failed: ZeroDivisionError: division by zero", is_error=True
    )


@pytest.mark.parametrize("allowed", [True, False])
def test_what_needs_approval_runs_only_when_it_is_given(allowed: bool) -> None:
    asked: list[Permission] = []

    def approve(permission: Permission) -> bool:
        asked.append(permission)
        return allowed

    tool = Echo(question="run: rm")
    answer = Toolbox([tool], approve=approve).answer(call("a", "echo", at=1))
    assert asked == [Permission("echo", {"at": 1}, "run: rm")]
    assert answer.is_error is not allowed
    assert len(tool.seen) == int(allowed)


def test_where_nobody_can_be_asked_nothing_is_approved() -> None:
    tool = Echo(question="run: rm")
    assert Toolbox([tool]).answer(call("a", "echo")).is_error
    assert tool.seen == []


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ConfigError, match="two tools called echo"):
        Toolbox([Echo(), Echo()])


def test_tools_are_told_in_the_order_in_which_they_were_given() -> None:
    names = [spec.name for spec in Toolbox([Echo("b"), Echo("a")]).specs]
    assert names == ["b", "a"]


def test_arguments_are_read_as_what_they_should_be() -> None:
    given_ = {"path": "a.py", "at": 3, "as_text": "7", "nothing": None}
    assert words(given_, "path") == "a.py"
    assert words(given_, "nothing", ".") == "."
    assert number(given_, "at", 1) == 3
    assert number(given_, "as_text", 1) == 7
    assert number(given_, "nothing", 9) == 9


@pytest.mark.parametrize("value", [0, -1, True, "x", 1.5, [1]])
def test_a_number_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ToolFailed, match="at is"):
        number({"at": value}, "at", 1)


@pytest.mark.parametrize("value", [None, "", "  ", 5, ["a"]])
def test_a_text_that_is_missing_is_refused(value: object) -> None:
    with pytest.raises(ToolFailed, match="path is missing"):
        words({"path": value}, "path")
