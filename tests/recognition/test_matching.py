"""Each rule by which a request is known to go on with a conversation, or not."""

import json
from typing import Any

import pytest

from holdfast.gateway.replay import RecordedRequest, replay

CHAT = "/v1/chat/completions"
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("read", "edit", "run", "ls")]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def calls(*ids: str, text: str | None = None, **arguments: object) -> dict[str, object]:
    written = json.dumps({"path": "a.py", **arguments})
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {
                "id": f"{id_}_x7Q",
                "type": "function",
                "function": {"name": "read", "arguments": written},
            }
            for id_ in ids
        ],
    }


def result(id_: str, text: str = "ok") -> dict[str, object]:
    return {"role": "tool", "tool_call_id": f"{id_}_x7Q", "content": text}


def step(id_: str, text: str = "ok") -> list[dict[str, object]]:
    return [calls(id_), result(id_, text)]


def told(*requests: Any) -> list[str]:
    """Return how each request was decided; one is its messages, or messages and more fields."""
    recorded: list[RecordedRequest] = []
    for place, each in enumerate(requests, 1):
        messages, more = each if isinstance(each, tuple) else (each, {})
        headers = {"x-session-id": more.pop("id")} if "id" in more else {}
        body = {"model": "m", "tools": TOOLS, "messages": messages, **more}
        recorded.append(RecordedRequest(str(place), CHAT, headers, body))
    lines: list[str] = []
    for each in replay(recorded):
        kin = f" of {each.origin}" if each.origin else ""
        after = f" after {each.follows}" if each.follows else ""
        name = f" {each.conversation}" if each.conversation != each.label else ""
        lines.append(f"{each.how}{name}{kin}{after}")
    return lines


HI = [user("Read it all.")]


def test_a_question_that_is_asked_again_after_the_conversation_went_on_begins_another() -> None:
    more = [*HI, *step("c1")]
    assert told(HI, more, HI, HI, [*HI, *step("c2")], [*more, *step("c3")]) == [
        "root",
        "extends 1",
        "root",
        "retry 3",
        "extends 3",
        "extends 1",
    ]


def test_the_same_work_by_other_call_ids_is_another_conversation() -> None:
    one, other = [*HI, *step("c1"), *step("c2")], [*HI, *step("d1"), *step("d2")]
    assert told(one, other, [*one, *step("c3")], [*other, *step("d3")]) == [
        "root",
        "root",
        "extends 1",
        "extends 2",
    ]
    # Words before another call are half of an answer.
    half = [*HI, calls("e1", text="I look."), result("e1")]
    assert told(half, [*HI, calls("f1", text="I look."), result("f1")]) == ["root", "root"]


def test_calls_that_a_session_renames_are_its_own() -> None:
    one, other = [*HI, *step("c1")], [*HI, *step("d1"), *step("d2")]
    assert told((one, {"id": "s"}), (other, {"id": "s"})) == ["root", "extends 1"]


def test_ids_lose_their_marks_and_the_name_that_a_client_sets_before_them() -> None:
    assert told([*HI, *step("call_1a")], [*HI, *step("call1a"), *step("c2")])[1] == "extends 1"
    named = [*HI, *step("read__read_17_0"), *step("c2")]
    assert told([*HI, *step("read_17_0")], named)[1] == "extends 1"


def test_arguments_are_the_same_without_what_is_false_or_null() -> None:
    one = [*HI, calls("c1"), result("c1")]
    other = [*HI, calls("c1", all=False, limit=None), result("c1"), *step("c2")]
    assert told(one, other)[1] == "extends 1"


def test_a_rewind_is_a_branch_and_goes_on_as_one() -> None:
    start = [*HI, says("Done.")]
    main, back = [*start, user("And b?")], [*start, user("And c?")]
    assert told(main, back, [*back, says("Yes."), user("d?")]) == [
        "root",
        "branch of 1",
        "extends 2",
    ]
    # To say the same again after more was said is to go back, too.
    assert told(main, [*main, *step("c1")], main, [*main, says("No."), user("e?")]) == [
        "root",
        "extends 1",
        "branch of 1",
        "extends 3",
    ]


def test_an_equal_call_with_another_result_at_the_end_is_a_branch() -> None:
    start = [*HI, *step("c1"), calls("c2", "c3", "c4")]
    one = [*start, result("c2"), result("c3"), result("c4")]
    other = [*start, result("c2", "x"), result("c3", "y"), result("c4", "z")]
    assert told(one, other) == ["root", "branch of 1"]


def test_an_old_message_that_is_told_otherwise_is_a_revision_if_two_later_calls_are_known() -> None:
    old = [*HI, *step("c1", "long"), *step("c2"), *step("c3"), says("So.")]
    again = [*HI, *step("c1", "[cleared]"), *step("c2"), *step("c3"), says("So."), user("On?")]
    assert told(old, again, [*again, *step("c4")]) == ["root", "revision 1", "extends 1"]
    fewer = [*HI, *step("c1", "[cleared]"), *step("c2"), user("On?")]
    assert told([*HI, *step("c1", "long"), *step("c2")], fewer) == ["root", "branch of 1"]


def test_what_goes_another_way_after_a_revision_is_a_branch_of_what_was_said() -> None:
    old = [*HI, *step("c1", "long"), *step("c2"), *step("c3"), says("So."), user("On?")]
    again = [*HI, *step("c1", "[cleared]"), *step("c2"), *step("c3"), says("So."), user("Back?")]
    assert told(old, again) == ["root", "branch of 1"]


def test_a_named_session_may_tell_its_last_answers_otherwise() -> None:
    one = [*HI, *step("c1"), says("So."), user("Why?")]
    other = [*HI, *step("c1"), says("Thoughts. So."), user("Why?"), says("Thus."), user("On?")]
    assert told((one, {"id": "s"}), (other, {"id": "s"})) == ["root", "revision 1"]
    assert told(one, other) == ["root", "branch of 1"]


def test_words_that_move_to_the_end_of_every_request_break_nothing() -> None:
    moves = user("Internal: the time.")
    first, one = [*HI, moves], [*HI, *step("c1"), moves]
    two = [*HI, *step("c1"), user("Go on."), moves]
    assert told(first, one, two, [*two[:-1], *step("c2"), moves]) == [
        "root",
        "extends 1",
        "extends 1",
        "extends 1",
    ]


def test_a_reminder_that_is_gone_when_the_same_is_sent_again_breaks_nothing() -> None:
    one = [*HI, *step("c1")]
    assert told([*one, user("Reminder.")], one) == ["root", "extends 1"]


def test_an_answer_that_was_cut_off_goes_on_whichever_way_a_client_tells_it() -> None:
    part = [*HI, says("It is")]
    assert told(HI, part, [*HI, says("It is long."), user("On.")])[1:] == ["extends 1"] * 2
    assert told(HI, [*part, user("You were cut off."), says("Yes."), user("On.")])[1] == "extends 1"


def test_what_a_client_leaves_of_a_compacted_conversation_begins_another_that_follows_it() -> None:
    old = [*HI, *step("c1"), *step("c2"), *step("c3"), *step("c4")]
    kept = [*HI, *step("c1"), user("Summary: all read."), *step("c4"), *step("c5")]
    assert told(old, kept, [*kept, *step("c6")]) == ["root", "root after 1", "extends 2"]
    anew = [user("Summary: all read."), *step("c3"), *step("c4")]
    assert told(old, anew) == ["root", "root after 1"]
    named = [user("Summary: all read."), user("Go on.")]
    assert told((old, {"id": "s"}), (named, {"id": "s"})) == ["root", "root after 1"]


def test_side_calls_are_no_part_of_a_conversation() -> None:
    old = [*HI, *step("c1"), *step("c2")]
    schema = {"response_format": {"type": "json_schema"}}
    title = [{"role": "system", "content": "You are a title generator."}, *HI]
    cut = [*step("c2"), user("Which model?")]
    assert told(
        (title, {"tools": []}),
        old,
        ([*old, user("A title?")], {"tools": []}),
        ([*old, user("Which model?")], schema),
        (cut, {"tools": [], **schema}),
        [*old, says("Done.")],
    ) == ["side call", "root", "side call of 2", "side call of 2", "side call of 2", "extends 2"]


def test_a_helper_that_is_given_the_history_and_few_of_the_tools_is_a_branch() -> None:
    old = [*HI, *step("c1")]
    helper = [*old, says("Done."), user("What is worth remembering?")]
    assert told(
        old, (helper, {"tools": TOOLS[:1]}), ([*helper, *step("m1")], {"tools": TOOLS[:1]}),
        [*old, says("Done."), user("Next.")],
    ) == ["root", "branch of 1", "extends 2", "extends 1"]  # fmt: skip


@pytest.mark.parametrize("names", [("", ""), ("a", "b"), ("", "b")])
def test_a_fork_is_a_branch_where_it_has_a_name_of_its_own(names: tuple[str, str]) -> None:
    one, other = ({"id": name} if name else {} for name in names)
    old = [*HI, *step("c1"), says("Done.")]
    forked = told(
        ([*old, user("b?")], dict(one)),
        ([*old, user("c?")], dict(other)),
        ([*old, user("b?"), says("B."), user("d?")], dict(one)),
        ([*old, user("c?"), says("C."), user("e?")], dict(other)),
    )
    assert forked == ["root", "branch of 1", "extends 1", "extends 2"]


def test_a_conversation_that_is_given_a_name_later_is_the_same() -> None:
    old = [*HI, *step("c1")]
    assert told(old, ([*old, *step("c2")], {"id": "s"}))[1] == "extends 1"
    # The first words alone say nothing.
    assert told(HI, (HI, {"id": "s"}), ([*HI, *step("c1")], {"id": "s"})) == [
        "root",
        "root",
        "extends 2",
    ]
