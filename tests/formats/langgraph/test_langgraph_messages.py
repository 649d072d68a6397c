"""Messages are read in whichever provider's spelling their content is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import SourceMetadata
from holdfast.formats.langgraph.messages import entry_of, message_of, native_of
from holdfast.session import Usage
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def read(**fields: object) -> Message:
    entry = entry_of(fields)
    assert entry is not None
    return message_of(entry)


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({"type": "human"}, Role.USER),
        ({"type": "ai"}, Role.ASSISTANT),
        ({"type": "AIMessageChunk"}, Role.ASSISTANT),
        ({"type": "system"}, Role.SYSTEM),
        ({"type": "chat", "role": "assistant"}, Role.ASSISTANT),
        ({"role": "user"}, Role.USER),
    ],
    ids=str,
)
def test_who_speaks_is_said_in_several_ways(fields: dict[str, object], role: Role) -> None:
    assert read(content="hi", **fields) == Message(role, (Text("hi"),))


def test_the_class_says_who_speaks_where_nothing_else_does() -> None:
    entry = entry_of(
        {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "a"}}
    )
    assert entry is not None
    assert message_of(entry) == Message(Role.USER, (Text("a"),))


@pytest.mark.parametrize("value", [None, 1, "text", {}, {"type": "Document", "content": "x"}, []])
def test_any_other_value_is_no_message(value: object) -> None:
    assert entry_of(value) is None


def test_calls_stand_beside_the_content_and_are_read_once() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "seal"},
        {"type": "text", "text": "look"},
        {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
        {"type": "tool_call_chunk", "id": "c", "name": "f", "args": '{"a": 1}'},
    ]
    calls = [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]
    broken = [{"name": "g", "args": "{", "id": "d", "error": "no JSON"}]
    assert read(type="ai", content=content, tool_calls=calls, invalid_tool_calls=broken) == Message(
        Role.ASSISTANT,
        (
            Thinking("hm", "seal", {"anthropic": {}}),
            Text("look"),
            ToolCall("c", "f", '{"a": 1}'),
            ToolCall("d", "g", "{"),
        ),
    )


def test_calls_that_only_the_provider_spelled_are_read_from_there() -> None:
    raw = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    extra = {"tool_calls": [raw], "reasoning_content": "hm"}
    message = read(type="ai", content="", additional_kwargs=extra)
    assert message.calls == (ToolCall("c", "f", "{}"),)
    assert isinstance(message.parts[0], Thinking)


def test_a_result_says_which_call_it_answers_and_whether_it_failed() -> None:
    assert read(type="tool", content="no", tool_call_id="c", name="f", status="error") == Message(
        Role.TOOL, (ToolResult("c", (Text("no"),), is_error=True, name="f"),)
    )


def test_media_are_read_in_every_spelling() -> None:
    content = [
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        {"type": "image", "source_type": "base64", "data": "AAAA", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": "data:image/png;base64,AAAA"},
        {"type": "media", "mime_type": "image/png", "data": "AAAA"},
        {"type": "file", "url": "https://example.test/a"},
        {"type": "file", "source_type": "id", "id": "https://example.test/a"},
        {"type": "file", "source_type": "text", "text": "words", "mime_type": "text/plain"},
        "words",
    ]
    image = Media("image", "image/png", "AAAA")
    file = Media("file", url="https://example.test/a")
    parts = read(type="human", content=content).parts
    assert parts == (*[image] * 5, file, file, Text("words"), Text("words"))


def test_a_picture_that_was_moved_to_a_file_keeps_the_name_of_the_file() -> None:
    block = {"type": "image", "mime_type": "image/png", "deepagents_blob": "ab12"}
    media = Media("image", "image/png", url="deepagents_blob:ab12")
    assert read(type="human", content=[block]).parts == (media,)


def test_a_thought_keeps_the_seal_of_its_provider() -> None:
    item = {
        "type": "reasoning",
        "id": "rs",
        "summary": [{"type": "summary_text", "text": "three"}],
        "encrypted_content": "seal",
    }
    (one, two, three) = read(
        type="ai",
        content=[
            {"type": "reasoning", "reasoning": "one", "extras": {"signature": "seal"}},
            {
                "type": "reasoning_content",
                "reasoning_content": {"text": "two", "signature": "seal"},
            },
            {**item, "index": 0},
        ],
    ).parts
    sealed = {"anthropic": {}}
    assert (one, two) == (Thinking("one", "seal", sealed), Thinking("two", "seal", sealed))
    assert three == Thinking("three", "seal", {"responses": item})
    (beside,) = read(type="ai", content="", additional_kwargs={"reasoning": item}).parts
    assert beside == three


def test_the_seals_of_google_stay_with_google() -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "seal"},
        {"type": "non_standard", "value": {"type": "thinking", "thinking": "plain"}},
    ]
    (sealed, plain, call) = read(
        type="ai",
        content=content,
        response_metadata={"model_provider": "google_genai"},
        tool_calls=[{"id": "c", "name": "f", "args": {}}],
        additional_kwargs={"__gemini_function_call_thought_signatures__": {"c": "other"}},
    ).parts
    assert isinstance(sealed, Thinking)
    assert (sealed.text, sealed.signature, [*sealed.extras]) == ("hm", "seal", ["gemini"])
    assert plain == Thinking("plain")
    assert call == ToolCall("c", "f", "{}", {"gemini": {"thoughtSignature": "other"}})


def test_what_a_provider_did_on_its_own_stays_its_own() -> None:
    block = {"type": "web_search_tool_result", "tool_use_id": "x", "content": []}
    (part,) = read(type="ai", content=[block]).parts
    assert part == Opaque("anthropic", block)


def test_a_call_of_the_old_kind_is_paired_by_its_name() -> None:
    function = {"name": "f", "arguments": "{}"}
    call = read(type="ai", content="", additional_kwargs={"function_call": function})
    result = read(type="function", name="f", content="yes")
    assert call.parts == (ToolCall("function_f", "f", "{}"),)
    assert result.parts == (ToolResult("function_f", (Text("yes"),), name="f"),)


@pytest.mark.parametrize(
    ("answer", "usage"),
    [
        ({"token_usage": {"prompt_tokens": 9, "completion_tokens": 2}}, Usage(1, 9, 2)),
        (
            {"usage": {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4}},
            Usage(1, 9, 2, 4),
        ),
        ({}, None),
    ],
    ids=str,
)
def test_what_only_the_provider_counted_is_counted(
    answer: dict[str, object], usage: Usage | None
) -> None:
    entry = entry_of({"type": "ai", "content": "x", "response_metadata": answer})
    assert entry is not None
    assert native_of(entry, None).usage == usage


def test_one_of_several_agents_keeps_its_name() -> None:
    for fields in ({"type": "ai"}, {"type": "human"}):
        entry = entry_of({**fields, "content": "x", "name": "critic"})
        assert entry is not None
        assert native_of(entry, None).more == {"name": "critic"}


def test_reasoning_of_responses_is_thinking() -> None:
    content = [
        {"type": "reasoning", "summary": [{"text": "one"}, {"text": "two"}]},
        {"type": "reasoning", "reasoning": "three"},
        {"type": "reasoning", "encrypted": True},
    ]
    parts = read(type="ai", content=content).parts
    assert parts == (Thinking("one\n\ntwo"), Thinking("three"))


def test_a_block_that_nobody_knows_is_kept_as_words() -> None:
    assert read(type="human", content=[{"no": "type"}]).parts == (Text('{"no": "type"}'),)


def test_the_summary_of_the_middleware_is_a_summary() -> None:
    message = read(
        type="human", content="They met.", additional_kwargs={"lc_source": "summarization"}
    )
    assert message.summary == Summary("They met.", "langgraph")


def test_an_answer_has_its_model_and_what_it_cost() -> None:
    entry = entry_of(
        {
            "type": "ai",
            "id": "a",
            "content": "x",
            "response_metadata": {"model_name": "m"},
            "usage_metadata": {
                "input_tokens": 10,
                "output_tokens": 3,
                "input_token_details": {"cache_read": 4, "cache_creation": 1},
            },
        }
    )
    assert entry is not None
    assert native_of(entry, 5) == SourceMetadata(
        id="a", model="m", usage=Usage(1, 5, 3, 4, 1), at=5
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = ("content", "tool_calls", "tool_call_id", "additional_kwargs", "usage_metadata", "id")
KINDS = st.sampled_from(
    ["text", "image", "thinking", "document", "image_url", "reasoning", "media", "?"]
)
BLOCKS = st.lists(
    st.dictionaries(st.text(max_size=5), JSON).flatmap(
        lambda rest: KINDS.map(lambda kind: {**rest, "type": kind})
    ),
    max_size=3,
)


@given(
    st.sampled_from(["human", "ai", "tool", "system"]),
    st.dictionaries(st.sampled_from(FIELDS), JSON),
    BLOCKS,
)
def test_any_fields_are_a_message(
    kind: str, fields: dict[str, object], blocks: list[dict[str, object]]
) -> None:
    for each in (fields, {**fields, "content": blocks}):
        entry = entry_of({**each, "type": kind})
        assert entry is not None
        assert message_of(entry).role in Role
        native_of(entry, None)
