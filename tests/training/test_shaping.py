"""Conversations have the shape that trainers take."""

import json

import pytest

from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.training.shaping import (
    TRAINING_FORMATS,
    joined,
    paired,
    paired_with_stubs,
    plain,
    trimmed,
)
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    shape,
)
from holdfast.wire import DIALECTS
from holdfast.wire.provenance import label_of, labelled

SIGNED = Thinking("hm", "seal", {"anthropic": {"type": "thinking"}})


def test_a_call_without_a_result_goes_and_its_words_stay() -> None:
    found = paired((user("a"), assistant("so", call("c1")), assistant("", call("c2")), user("b")))
    assert (found.messages, found.dropped) == ((user("a"), assistant("so"), user("b")), 2)


def test_a_thought_that_led_to_nothing_but_a_lost_call_goes_with_it() -> None:
    thinking = Message(Role.ASSISTANT, (Thinking("hm"), call("c1")))
    assert paired((user("a"), thinking, user("b"))).messages == (user("a"), user("b"))


def test_a_result_without_a_call_goes() -> None:
    found = paired((user("a"), tool("c1"), assistant("b")))
    assert (found.messages, found.dropped) == ((user("a"), assistant("b")), 1)


def test_with_stubs_a_call_keeps_its_place_and_the_stub_is_labelled() -> None:
    found = paired_with_stubs((user("a"), assistant("", call("c1")), user("b")))
    assert [label_of(each) for each in found.messages] == [{}, {}, {"synthetic": "stub"}, {}]
    assert found.dropped == 0


def test_results_bear_the_names_of_their_calls() -> None:
    found = paired((user("a"), assistant("", call("c1", "grep")), tool("c1"), assistant("b")))
    assert found.messages[2].results[0].name == "grep"


def test_a_conversation_goes_from_a_user_to_a_reply() -> None:
    said = (system("s"), assistant("hi"), user("a"), assistant("b"), user("c"), tool("x"))
    assert trimmed(said) == (system("s"), user("a"), assistant("b"))
    assert trimmed((system("s"), assistant("hi"), user("a"))) == ()
    assert trimmed((user("a"),)) == ()
    assert trimmed(()) == ()


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("sharegpt", "system user assistant tool user"),
        ("openai", "system user assistant tool tool user"),
        ("anthropic", "system user assistant tool"),
    ],
)
def test_neighbors_of_one_speaker_become_one(name: str, roles: str) -> None:
    said = (
        *(system("s"), system("t"), user("a"), user("b")),
        *(assistant("c"), assistant("", call("c1"), call("c2"))),
        *(tool("c1"), tool("c2"), user("d")),
    )
    found = joined(said, name)
    assert " ".join(str(each.role) for each in found) == roles
    assert found[1] == Message(Role.USER, (Text("a\n\nb"),), extras={"holdfast": {}})


def test_a_message_that_is_synthetic_in_part_says_so() -> None:
    note, reply = labelled(user("n"), synthetic="note"), assistant("r")
    (both,) = joined((note, user("a")), "sharegpt")
    assert label_of(both) == {"synthetic": "note", "partial": True}
    seen = labelled(reply, repeated=True, masked=True)
    (part,) = joined((seen, reply), "sharegpt")
    assert label_of(part) == {}
    (twice,) = joined((seen, seen), "sharegpt")
    assert label_of(twice) == {"repeated": True, "masked": True}
    record = labelled(assistant("x"), synthetic="summary", masked=True)
    (whole,) = joined((record, reply), "sharegpt")
    assert label_of(whole) == {"synthetic": "summary", "partial": True, "masked": True}


def test_content_is_one_text_where_a_summary_follows_a_user() -> None:
    record = Message(Role.USER, (Summary("so far"),))
    body = DIALECTS["openai"].encode(joined((user("a"), record, assistant("b")), "openai"))
    assert [type(each["content"]) for each in body.messages] == [str, str, str]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("sharegpt", {"from": "gpt", "value": "<think>\nhm\n</think>\nyes"}),
        ("openai", {"role": "assistant", "content": "yes", "reasoning_content": "hm"}),
    ],
)
def test_reasoning_of_any_provider_has_its_place(name: str, written: dict[str, str]) -> None:
    said = Message(Role.ASSISTANT, (SIGNED, Text("yes")), "parts", extras={"x": 1})
    assert DIALECTS[name].encode(plain((said,), name)).messages == [written]


def test_anthropic_gets_the_thoughts_that_it_signed() -> None:
    said = Message(Role.ASSISTANT, (SIGNED, Thinking("other"), Text("yes")))
    assert plain((said,), "anthropic")[0].parts == (SIGNED, Text("yes"))


@pytest.mark.parametrize("name", TRAINING_FORMATS)
def test_messages_that_say_nothing_go(name: str) -> None:
    silent = (user("  "), Message(Role.ASSISTANT, (Thinking("", "seal"), Opaque("x", {}))))
    assert plain((*silent, user("a")), name) == (user("a"),)


def test_texts_are_joined_and_fields_of_requests_stay_behind() -> None:
    parts = (Text("a", {"openai": {"x": 1}}), Text("b"), Media(data="aa", extras={"y": {}}))
    (found,) = plain((Message(Role.USER, parts, "parts"),), "openai")
    assert found == Message(Role.USER, (Text("a\n\nb"), Media(data="aa")))


@pytest.mark.parametrize("arguments", ["", "not json", '{"a": 1}', "[1]", '{"a": '])
def test_arguments_are_json(arguments: str) -> None:
    (found,) = plain((assistant("", ToolCall("c", "", arguments)),), "openai")
    (made,) = found.calls
    json.loads(made.arguments)
    assert made.name == "tool"
    assert shape((found,))
