"""Outputs over their limit: shown in part, stored whole, with a pointer to their own message."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.conversation import StoredConversation
from holdfast.errors import DecodeError
from holdfast.recall import Filters
from holdfast.transcript import Text
from tests.conversation.talking import begun
from tests.promises.conversations import call, calls

OUTPUT = "".join(f"line {number} of the log\n" for number in range(4_000)) + "needle4242"


def answered(chat: StoredConversation, output: str, tool: str = "bash") -> tuple[int, str]:
    chat.add_response(calls(call("c1", tool)))
    id_ = chat.add_tool_result("c1", output).id
    return id_, str(chat.messages()[-1]["content"])


def test_a_large_output_is_cut_and_points_at_itself(chat: StoredConversation) -> None:
    id_, shown = answered(chat, OUTPUT)
    found = re.search(r"around_message_id=(\d+)", shown)
    assert found
    assert int(found[1]) == id_
    assert shown.startswith(OUTPUT[:1_000])
    assert shown.endswith(OUTPUT[-1_000:])
    assert chat.live.deps.engine.load(chat.store.window(chat.id).transcript).tokens < 10_100


def test_the_store_has_all_of_it_and_finds_it(chat: StoredConversation) -> None:
    id_, _ = answered(chat, OUTPUT.replace("line 2000 ", "haystack9 "))
    (result,) = chat.store.whole(id_).results
    assert result.content == (Text(OUTPUT.replace("line 2000 ", "haystack9 ")),)
    hits = chat.store.search("haystack9", Filters(), limit=1, now=0)
    assert [hit.message_id for hit in hits] == [id_]


def test_a_limit_by_name_wins_also_right_after_a_resume(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False, tool_limits={"bash": 200, "*": 10**9})
    assert answered(chat, OUTPUT, "read_file")[1] == OUTPUT
    chat.add_user("again")
    chat.add_response(calls(call("c2", "bash")))
    resumed = StoredConversation(chat.live.deps, chat.session)
    resumed.add_tool_result("c2", OUTPUT)
    assert len(str(resumed.messages()[-1]["content"])) < 2_000
    chat.store.close()


def test_a_limit_by_name_holds_for_results_that_come_in_a_list(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False, tool_limits={"bash": 200})
    result = {"role": "tool", "tool_call_id": "c2", "content": OUTPUT[:30_000]}
    chat.add([{"role": "assistant", "tool_calls": [call("c2", "bash")]}, result])
    chat.add([{"role": "assistant", "tool_calls": [call("c3", "bash")]}])
    chat.add(result | {"tool_call_id": "c3"})
    chat.add([{"role": "assistant", "tool_calls": [call("c4", "read_file")]}])
    chat.add(result | {"tool_call_id": "c4"})
    sizes = [len(str(each["content"])) for each in chat.messages() if each["role"] == "tool"]
    assert sizes[0] == sizes[1] < 1_200 < sizes[2] == 30_000
    chat.store.close()


def test_what_fits_is_shown_as_it_is(chat: StoredConversation) -> None:
    id_, shown = answered(chat, "12 passed")
    assert shown == "12 passed"
    assert not chat.store.entry(id_).shortened


@pytest.mark.parametrize("wrong", ["c9", "the output", "", "c1"])
def test_a_result_that_no_call_waits_for_is_refused_and_those_that_wait_are_named(
    chat: StoredConversation, wrong: str
) -> None:
    chat.add_user("go")
    chat.add_response(calls(call("c1", "bash"), call("c2", "bash")))
    chat.add_tool_result("c1", "first")
    with pytest.raises(DecodeError, match="wait for a result: 'c2'"):
        chat.add_tool_result(wrong, "THE RESULT")
    chat.add_tool_result("c2", "second")
    with pytest.raises(DecodeError, match=r"answered already.*no call waits for a result"):
        chat.add_tool_result("c2", "another")
    assert [each.message.results[0].text for each in chat.log[-2:]] == ["first", "second"]


@pytest.mark.parametrize("wrong", [None, 5, {"name": "bash"}])
def test_what_is_no_id_of_a_call_is_a_sentence(chat: StoredConversation, wrong: object) -> None:
    with pytest.raises(DecodeError, match="expected the id of a tool call"):
        chat.add_tool_result(wrong, "output")


@pytest.mark.parametrize(
    "given",
    [
        {"id": "c1", "type": "function"},
        SimpleNamespace(id="c1", type="tool_use"),
        SimpleNamespace(id="fc_77", call_id="c1", type="function_call"),
    ],
)
def test_the_call_itself_may_stand_for_its_id(chat: StoredConversation, given: object) -> None:
    chat.add_response(calls(call("c1", "bash")))
    assert chat.add_tool_result(given, "output").message.results[0].call_id == "c1"
    assert chat.messages()[-1]["tool_call_id"] == "c1"


def test_calls_of_one_id_have_a_result_each(chat: StoredConversation) -> None:
    for _ in range(2):
        chat.add_response(calls(call("call_0", "bash")))
        chat.add_tool_result("call_0", "output")
    chat.add_response(calls(call("same", "bash"), call("same", "read")))
    chat.add_tool_result("same", "one")
    chat.add_tool_result("same", "two")
    assert len(chat.log) == 7


def test_a_result_that_comes_after_its_call_was_folded_is_logged(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False, strategy="rotation")
    chat.add_user("go")
    chat.add_response(calls(call("c1", "bash")))
    first = chat.id
    for number in range(60):
        chat.add_user(f"{number} " + "some words " * 100)
        chat.add_assistant(f"{number} " + "more words " * 100)
    assert chat.compress().outcome == "folded"
    assert chat.id != first
    assert chat.add_tool_result("c1", "late").message.results[0].text == "late"
    chat.store.close()
