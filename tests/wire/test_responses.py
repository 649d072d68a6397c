"""Items of the Responses API: exact there and back, opaque ones byte for byte."""

import json
from typing import Any

import pytest

from holdfast.errors import DecodeError
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire import DIALECTS, Body

RESPONSES = DIALECTS["responses"]
USER: dict[str, Any] = {"type": "message", "role": "user", "content": "hi"}


def message(role: str, *parts: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(parts), **fields}


def part(kind: str, text: str, **fields: object) -> dict[str, Any]:
    return {"type": kind, "text": text, **fields}


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [part("summary_text", "thought")],
    "content": [part("reasoning_text", "raw")],
    "encrypted_content": "gAAA",
}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
BODIES: dict[str, list[dict[str, Any]]] = {
    "easy messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
    "system items": [
        {"type": "message", "role": "system", "content": "s"},
        {"role": "developer", "content": [part("input_text", "d")]},
    ],
    "parts": [
        message("user", part("input_text", "a"), part("input_text", "b", x=1)),
        message(
            "assistant",
            part("output_text", "c", annotations=[]),
            {"type": "refusal", "refusal": "no"},
            id="msg_1",
            status="completed",
            phase="commentary",
        ),
        message("assistant", part("input_text", "odd")),
    ],
    "images and files": [
        message(
            "user",
            {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"},
            {"type": "input_image", "image_url": "https://a/b.png"},
            {"type": "input_image", "file_id": "file_1"},
            {"type": "input_file", "file_id": "file_2"},
            {"type": "input_file", "file_data": "data:application/pdf;base64,AA", "filename": "x"},
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
        )
    ],
    "unknown part": [message("assistant", part("output_text", "a"), {"type": "sticker"})],
    "calls": [
        REASONING,
        {**CALL, "id": "fc_1", "status": "completed", "namespace": "mcp"},
        {**CALL, "call_id": "c2"},
        {**OUTPUT, "id": "fco_1"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [
                part("input_text", "see"),
                {"type": "input_image", "image_url": "https://a/b.png"},
            ],
        },
    ],
    "custom calls": [
        {"type": "custom_tool_call", "call_id": "c1", "name": "p", "input": "*** é", "id": "x"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
    ],
    "built-in tools": [
        {
            "type": "local_shell_call",
            "call_id": "c1",
            "id": "lsh",
            "action": {"type": "exec", "command": ["ls"]},
            "status": "completed",
        },
        {"type": "local_shell_call_output", "id": "c1", "output": "{}"},
        {"type": "shell_call", "call_id": "c2", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "c2",
            "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit"}}],
        },
        {"type": "computer_call", "call_id": "c3", "actions": []},
        {
            "type": "computer_call_output",
            "call_id": "c3",
            "output": {"type": "computer_screenshot", "image_url": "data:x"},
        },
        {"type": "apply_patch_call", "call_id": "c4", "operation": {"type": "delete_file"}},
        {"type": "apply_patch_call_output", "call_id": "c4", "status": "completed"},
        {"type": "local_shell_call", "id": "no call id", "action": {}},
    ],
    "null output": [CALL, {**OUTPUT, "output": None}],
    "opaque items": [
        {"type": "compaction", "encrypted_content": "gAAA=="},
        {"type": "web_search_call", "id": "ws", "action": {"query": "q"}, "status": "completed"},
        {"type": "code_interpreter_call", "code": "1+1", "outputs": None},
        {"type": "item_reference", "id": "rs_2"},
    ],
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_exactly(name: str) -> None:
    items = BODIES[name]
    before = json.dumps(items)
    assert RESPONSES.encode(RESPONSES.decode(Body(items))).messages == items
    assert json.dumps(items) == before


@pytest.mark.parametrize("system", ["be good", "", None])
def test_instructions_come_back_exactly(system: str | None) -> None:
    body = Body([USER], system)
    assert RESPONSES.encode(RESPONSES.decode(body)) == body


def test_reasoning_is_thinking_with_its_seal() -> None:
    (first, *_) = RESPONSES.decode(Body(BODIES["calls"]))
    assert first.parts == (Thinking("thought\n\nraw", "gAAA", {"responses": REASONING}),)


def test_built_in_calls_and_their_results_are_paired() -> None:
    read = RESPONSES.decode(Body(BODIES["built-in tools"][:8]))
    assert [call.id for each in read for call in each.calls] == ["c1", "c2", "c3", "c4"]
    assert [result.call_id for each in read for result in each.results] == ["c1", "c2", "c3", "c4"]
    assert read[0].calls[0].name == "local_shell"
    assert RESPONSES.validate(Body(BODIES["built-in tools"][:8])) == ()


def test_an_opaque_item_says_what_anyone_may_read() -> None:
    read = RESPONSES.decode(Body([*BODIES["opaque items"], *BODIES["unknown part"]]))
    found = [part.readable for each in read for part in each.parts if isinstance(part, Opaque)]
    assert found == ["", "searched: q", "1+1", "", "a"]


def test_a_message_is_split_into_items_and_its_fields_name_the_first_words() -> None:
    transcript = (
        Message(
            Role.ASSISTANT,
            (Text("a"), ToolCall("c1", "f"), Text("b")),
            extras={"responses": {"id": "msg_1"}},
        ),
        Message(Role.TOOL, (ToolResult("c1"), Text("c"))),
    )
    assert RESPONSES.encode(transcript).messages == [
        {"type": "message", "role": "assistant", "content": "a", "id": "msg_1"},
        CALL,
        {"type": "message", "role": "assistant", "content": "b"},
        {**OUTPUT, "output": ""},
        {"type": "message", "role": "user", "content": "c"},
    ]


def test_reasoning_that_nothing_follows_is_left_out() -> None:
    items: list[dict[str, Any]] = [
        REASONING,
        USER,
        REASONING,
        REASONING,
        CALL,
        REASONING,
        OUTPUT,
        REASONING,
    ]
    written = RESPONSES.encode(RESPONSES.decode(Body(items))).messages
    assert written == [USER, REASONING, REASONING, CALL, OUTPUT]


def test_a_prompt_that_needs_parts_is_an_item() -> None:
    prompt = Message(Role.SYSTEM, (Text("a"), Text("b")))
    assert RESPONSES.encode((prompt,)) == Body(
        [message("system", part("input_text", "a"), part("input_text", "b"))]
    )


def test_nothing_and_foreign_reasoning_are_told_apart() -> None:
    thought = Thinking("hm", "s", {"anthropic": {}})
    written = RESPONSES.encode((Message(Role.ASSISTANT, (thought,)), Message(Role.ASSISTANT)))
    assert written.messages == [{"type": "message", "role": "assistant", "content": ""}]


def test_media_goes_where_it_is_taken() -> None:
    parts = (
        Media("audio", "audio/wav", "AA"),
        Media("file", "application/pdf", "AA"),
        Media("file", url="https://a/b.pdf"),
        Media("image", url="file_of_another"),
    )
    (item,) = RESPONSES.encode((Message(Role.USER, parts),)).messages
    assert item["content"] == [
        part("input_text", "[audio left out]"),
        {"type": "input_file", "file_data": "data:application/pdf;base64,AA"},
        {"type": "input_file", "file_url": "https://a/b.pdf"},
        part("input_text", "[image left out]"),
    ]
    (item,) = RESPONSES.encode((Message(Role.ASSISTANT, (Media(data="AA"),)),)).messages
    assert item["content"] == [part("output_text", "[image left out]")]


def test_a_codex_summary_is_read_from_a_part() -> None:
    head = "Another language model started to solve this problem and produced a summary of it:\n"
    items = [message("user", part("input_text", f"{head}## Done"))]
    read = RESPONSES.decode(Body(items))
    assert read[0].parts == (Summary("## Done", "codex"),)
    assert read[0].synthetic is Synthetic.SUMMARY
    assert RESPONSES.encode(read).messages == items


@pytest.mark.parametrize(
    ("items", "path"),
    [
        ([{"type": 3}], "input[0].type"),
        ([{"role": "tool", "content": ""}], "input[0].role"),
        ([message("user", {})], "input[0].content[0].type"),
        ([{"type": "function_call", "call_id": "c", "name": "f"}], "input[0].arguments"),
        ([{**OUTPUT, "output": [3]}], "input[0].output[0]"),
        ([{"type": "function_call_output", "output": ""}], "input[0].id"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(items: list[Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        RESPONSES.decode(Body(items))
    assert caught.value.path == path


def test_instructions_are_text() -> None:
    with pytest.raises(DecodeError, match="instructions"):
        RESPONSES.decode(Body([], [USER]))


def test_a_summary_is_marked_before_it_reaches_a_part() -> None:
    message_ = Message(Role.USER, (Text("a"), Summary("b"), Media(data="AA")))
    (item,) = RESPONSES.encode((message_,)).messages
    kinds = [entry["type"] for entry in item["content"]]  # type: ignore[index,union-attr]
    assert kinds == ["input_text", "input_text", "input_image"]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            {"type": "web_search_call", "action": {"type": "open_page", "url": "https://r.org"}},
            "opened: https://r.org",
        ),
        ({"type": "tool_search_call", "arguments": {"query": "calendar"}}, "searched: calendar"),
        ({"type": "image_generation_call", "revised_prompt": "a cart", "result": "AAAA"}, "a cart"),
    ],
)
def test_what_the_providers_own_tools_were_asked_can_be_told_to_others(
    item: dict[str, object], words: str
) -> None:
    (message,) = DIALECTS["responses"].decode(Body([item]))
    (part,) = message.parts
    assert isinstance(part, Opaque)
    assert part.readable == words
