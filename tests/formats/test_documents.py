"""A conversation goes back into the container it came in, with everything around it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.formats import read, write
from holdfast.formats.documents import ConversationPlace, dump, find_conversation
from holdfast.formats.reader import Style
from holdfast.transcript import Message, Role, Text, shape
from tests.formats.samples import sample

HELLO = {"role": "user", "content": "hello"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
ANSWER = {"role": "tool", "tool_call_id": "c", "content": "done"}

DOCUMENTS: list[object] = [
    [],
    [HELLO],
    [HELLO, CALL, ANSWER],
    {"model": "m", "messages": [HELLO, CALL, ANSWER], "tools": [], "seed": 1},
    {"messages": []},
    {"instance_id": "i", "info": {"a": [1, 2.5, None]}, "messages": [HELLO]},
    {"system": "be good", "messages": [HELLO], "max_tokens": 5},
    {"messages": [HELLO], "system": [{"type": "text", "text": "be good"}]},
    {"system": "", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
    {"system": None, "messages": [HELLO]},
    {"model": "m", "instructions": "be good", "input": [HELLO], "store": False},
    {"instructions": None, "input": [{"type": "message", "role": "user", "content": "hi"}]},
    {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {}},
    {
        "systemInstruction": {"parts": [{"text": "be good"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    },
    {
        "system_instruction": {"parts": [{"text": "be good"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    },
    {"history": [{"role": "user", "parts": [{"text": "hi"}]}], "more": True},
    {"id": 7, "conversations": [{"from": "human", "value": "hi"}], "model": "m"},
    {"conversations": [HELLO], "tools": "[]"},
    [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}],
    {
        "messages": [
            {"role": "user", "content": [{"type": "text", "value": "hi"}]},
            {"role": "assistant", "content": [{"type": "reasoning", "value": "hm"}]},
        ],
        "tools": "[]",
    },
    [{"role": "user", "parts": [{"text": "hi"}]}],
]


@pytest.mark.parametrize("value", DOCUMENTS, ids=str)
def test_an_unchanged_transcript_gives_an_equal_value(value: object) -> None:
    document = read(json.dumps(value))
    again = json.loads(write(document, document.transcript))
    assert again == value
    if isinstance(value, dict):
        assert list(again) == list(value)


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4, "\t"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_layout_of_the_source_is_kept(indent: int | str | None, end: str) -> None:
    text = json.dumps({"model": "ü", "messages": [HELLO, CALL, ANSWER]}, indent=indent) + end
    text = text.replace("\\u00fc", "ü")
    document = read(text)
    assert write(document, document.transcript) == text


def test_compact_json_stays_compact() -> None:
    text = json.dumps({"messages": [HELLO]}, separators=(",", ":"))
    document = read(text)
    assert write(document, document.transcript) == text


def test_a_message_a_line_stays_a_message_a_line() -> None:
    text = "\n".join(map(json.dumps, [HELLO, CALL, ANSWER])) + "\n"
    document = read(text)
    assert write(document, document.transcript) == text
    assert write(document, document.transcript[:1]) == json.dumps(HELLO) + "\n"
    assert write(document, ()) == ""


def test_one_message_alone_is_a_line() -> None:
    text = json.dumps(HELLO)
    document = read(text)
    assert write(document, document.transcript) == text


def test_half_a_surrogate_pair_can_be_written_as_utf8() -> None:
    text = '[{"role": "user", "content": "\\ud83d and \\udc00"}]'
    document = read(text)
    assert write(document, document.transcript).encode("utf-8") == text.encode("utf-8")


def test_a_changed_transcript_changes_nothing_else() -> None:
    document = read('{"a": 1, "messages": [{"role": "user", "content": "x"}], "b": 2}')
    said = Message(Role.USER, (Text("y"),))
    assert write(document, (said,)) == (
        '{"a": 1, "messages": [{"role": "user", "content": "y"}], "b": 2}'
    )


def test_a_system_prompt_that_is_gone_leaves_no_key() -> None:
    document = read(json.dumps({"system": "be good", "messages": [HELLO]}))
    assert json.loads(write(document, document.transcript[1:])) == {"messages": [HELLO]}


def test_a_system_prompt_that_came_to_an_object_finds_its_place() -> None:
    document = read(json.dumps({"max_tokens": 1, "messages": [HELLO]}), format="anthropic")
    prompt = Message(Role.SYSTEM, (Text("be good"),))
    written = json.loads(write(document, (prompt, *document.transcript)))
    assert list(written.items()) == [
        ("max_tokens", 1),
        ("system", "be good"),
        ("messages", [HELLO]),
    ]


def test_a_system_prompt_that_came_to_a_list_makes_it_an_object() -> None:
    document = read(json.dumps([HELLO]), format="anthropic")
    prompt = Message(Role.SYSTEM, (Text("be good"),))
    assert json.loads(write(document, (prompt, *document.transcript))) == {
        "system": "be good",
        "messages": [HELLO],
    }


def test_entries_that_no_model_sees_are_put_back() -> None:
    document = read(sample("hermes.json"))
    assert document.format == "hermes"
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      Where am I?",
            '01 assistant (thinking) | -> shell {"command":"pwd"}',
            "02 tool      result: /srv",
            "03 assistant In /srv.",
        ]
    )
    assert json.loads(write(document, document.transcript)) == json.loads(sample("hermes.json"))


def test_entries_among_folded_messages_go_with_them() -> None:
    document = read(sample("hermes.json"))
    left = json.loads(write(document, document.transcript[3:]))["messages"]
    assert [entry["role"] for entry in left] == ["session_meta", "assistant", "session_meta"]
    assert [entry["role"] for entry in json.loads(write(document, ()))["messages"]] == [
        "session_meta"
    ]


def test_fields_beside_a_message_ride_along() -> None:
    text = sample("mini_swe_agent.traj.json")
    document = read(text)
    assert document.format == "mini-swe-agent"
    assert json.loads(write(document, document.transcript)) == json.loads(text)


def test_an_entry_that_is_no_object_is_named() -> None:
    with pytest.raises(DecodeError, match=r"messages\[1\]: expected an object, found a number"):
        read(json.dumps({"messages": [HELLO, 5]}))


@pytest.mark.parametrize("value", [{}, {"messages": 5}, {"messages": [1]}, {"input": "x"}])
def test_an_object_without_messages_holds_no_conversation(value: dict[str, object]) -> None:
    assert find_conversation(value) is None


def test_the_place_of_a_conversation_says_why() -> None:
    reason = "an object with `contents`"
    said = {"contents": [{"role": "user", "parts": []}]}
    assert find_conversation(said) == ConversationPlace("contents", "gemini", reason, 0.8)
    assert find_conversation({"contents": []}) == ConversationPlace(
        "contents", "gemini", reason, 0.2
    )


@given(
    st.lists(
        st.one_of(
            st.text().map(lambda text: [{"role": "user", "content": text}]),
            st.text().map(lambda text: [{"role": "assistant", "content": text, "name": "n"}]),
            st.just([CALL, ANSWER]),
            st.just([{"role": "session_meta", "content": 1}]),
        ),
        min_size=1,
    ),
    st.dictionaries(st.sampled_from("abc"), st.none() | st.integers() | st.text()),
)
def test_any_openai_document_comes_back_equal(
    exchanges: list[list[object]], rest: dict[str, object]
) -> None:
    value = {**rest, "messages": [each for exchange in exchanges for each in exchange]}
    document = read(json.dumps(value), format="openai")
    assert json.loads(write(document, document.transcript)) == value


def test_indentation_goes_before_compactness() -> None:
    assert dump({"a": [1]}, Style(" ", compact=True)) == '{\n "a": [\n  1\n ]\n}'
