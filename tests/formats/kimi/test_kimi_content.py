"""The messages of Kimi's journals in both spellings."""

from holdfast.formats.kimi.journal import content_of, result_of, spoken
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

PICTURE = "data:image/png;base64,iVBORw0="


def test_calls_and_results_are_read_in_both_spellings() -> None:
    new = {"role": "assistant", "toolCalls": [{"id": "c", "name": "Read", "arguments": "{}"}]}
    function = {"name": "Read", "arguments": "{}"}
    old = {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
    assert spoken(new) == spoken(old) == Message(Role.ASSISTANT, (ToolCall("c", "Read", "{}"),))
    result = Message(Role.TOOL, (ToolResult("c", (Text("no"),), is_error=True),))
    assert spoken({"role": "tool", "toolCallId": "c", "content": "no", "isError": True}) == result


def test_thoughts_and_media_are_kept() -> None:
    parts = [
        {"type": "think", "think": "Hm.", "encrypted": "c2VhbA=="},
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "video_url", "videoUrl": {"url": "https://sky.test/v"}},
        {"type": "text", "text": "Look"},
    ]
    assert list(content_of(parts)) == [
        Thinking("Hm.", "c2VhbA=="),
        Media("image", "image/png", "iVBORw0="),
        Media("video", url="https://sky.test/v"),
        Text("Look"),
    ]


def test_a_result_may_be_words_or_parts() -> None:
    words = {"toolCallId": "c", "result": {"output": "done"}}
    parts = {"toolCallId": "c", "result": {"output": [{"type": "text", "text": "done"}]}}
    assert result_of(words) == result_of(parts) == ToolResult("c", (Text("done"),))


def test_an_unknown_role_says_nothing() -> None:
    assert spoken({"role": "pilot", "content": "up"}).parts == ()
