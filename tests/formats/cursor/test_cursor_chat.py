"""The database of a chat of Cursor's command line, told from rows."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.catalog import Row, recognize_tables
from holdfast.formats.cursor.database import CURSOR_CHAT, ChatRoot, root_of
from holdfast.formats.events import About, Event, MessageEvent, Problem, StrandStarted
from holdfast.transcript import Media, Role, Text, Thinking, ToolCall, ToolResult
from tests.formats.conformance import broken_rules
from tests.formats.tables import Memory

MESSAGES = (
    {"role": "system", "content": "You help."},
    {"role": "user", "content": [{"type": "text", "text": "Which port?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "I look.", "signature": "sig"},
            {"type": "text", "text": "Let me see."},
            {
                "type": "tool-call",
                "toolCallId": "t1",
                "toolName": "Shell",
                "args": {"command": "ls"},
            },
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "t1",
                "toolName": "Shell",
                "result": "no such file",
            }
        ],
        "providerOptions": {"cursor": {"highLevelToolCallResult": {"isError": True}}},
    },
    {"role": "assistant", "content": "8443"},
)


def field(number: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def blob(content: bytes) -> Row:
    return {"id": hashlib.sha256(content).hexdigest(), "data": content}


def chat(*messages: object, **more: object) -> Memory:
    blobs = [blob(json.dumps(message).encode()) for message in messages]
    names = [field(1, bytes.fromhex(str(each["id"]))) for each in blobs]
    # Numbers and fields that nobody knows stand between those that are known.
    unknown = b"\x10\x96\x01" + b"\x2d\x00\x00\x00\x00" + b"\x31" + b"\x00" * 8
    root = blob(b"".join(names) + unknown + field(9, b"file:///srv/my%20shop"))
    known = {"agentId": "c-1", "latestRootBlobId": root["id"], "name": "Ports", **more}
    meta = {"key": "0", "value": json.dumps(known).encode().hex()}
    return Memory({"blobs": [*blobs, root], "meta": [meta]})


def tell(*messages: object, **more: object) -> list[Event]:
    events = list(CURSOR_CHAT.read(chat(*messages, **more)))
    assert broken_rules(events) == []
    return events


def told(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def test_the_tables_are_known_and_larger_ones_are_somebody_elses() -> None:
    found = recognize_tables(chat().tables)
    assert found is not None
    assert found[0] is CURSOR_CHAT
    more = {"blobs": frozenset(["id", "data", "size"]), "meta": frozenset(["key", "value"])}
    assert CURSOR_CHAT.recognize(more) is None


def test_a_chat_tells_its_name_folder_model_and_messages_in_order() -> None:
    events = tell(*MESSAGES, createdAt=1_700_000_000_000, lastUsedModel="m")
    about = About(id="c-1", title="Ports", model="m", cwd="/srv/my shop", started=1_700_000_000_000)
    assert events[0] == StrandStarted(strand="c-1", line=1, about=about)
    system, user, asked, answer, last = told(events)
    assert (system.message.role, user.message.text) == (Role.SYSTEM, "Which port?")
    assert asked.message.parts == (
        Thinking("I look.", "sig", {"anthropic": {}}),
        Text("Let me see."),
        ToolCall("t1", "Shell", '{"command": "ls"}'),
    )
    assert answer.message.role is Role.TOOL
    (result,) = answer.message.results
    assert (result.call_id, result.text, result.is_error) == ("t1", "no such file", True)
    assert (last.message.text, last.native.model) == ("8443", "m")


def test_what_is_known_may_be_plain_json_and_a_default_name_is_no_title() -> None:
    tables = chat({"role": "user", "content": "Hi"})
    (meta,) = tables.rows("meta", ("key", "value"))
    known = json.loads(bytes.fromhex(str(meta["value"]))) | {"name": "New Agent"}
    blobs = list(tables.rows("blobs", ("id", "data")))
    plain = Memory({"blobs": blobs, "meta": [{"key": "0", "value": json.dumps(known)}]})
    begun, _ = CURSOR_CHAT.read(plain)
    assert isinstance(begun, StrandStarted)
    assert (begun.about.id, begun.about.title) == ("c-1", "")


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        ({"result": {"port": 8443}}, Text('{"port": 8443}')),
        ({"output": {"type": "text", "value": "8443"}}, Text("8443")),
        ({"experimental_content": [{"type": "text", "text": "8443"}]}, Text("8443")),
        (
            {"experimental_content": [{"type": "image", "data": "QQ==", "mimeType": "image/png"}]},
            Media(media_type="image/png", data="QQ=="),
        ),
    ],
)
def test_a_result_is_read_in_every_spelling(block: dict[str, object], shown: object) -> None:
    content = [{"type": "tool-result", "toolCallId": "t", "toolName": "x", **block}]
    ((answer,),) = (told(tell({"role": "tool", "content": content})),)
    assert answer.message.parts == (ToolResult("t", (shown,), name="x"),)  # type: ignore[arg-type]


def test_pictures_of_a_user_are_kept() -> None:
    content = [
        {"type": "image", "image": "QQ==", "mimeType": "image/png"},
        {"type": "image", "image": "data:image/png;base64,QQ=="},
    ]
    (user,) = told(tell({"role": "user", "content": content}))
    assert user.message.parts == (Media(media_type="image/png", data="QQ=="),) * 2


def test_a_message_that_is_missing_or_said_twice_does_not_stop_the_rest() -> None:
    hello = {"role": "user", "content": "Hi"}
    tables = chat(hello, {"role": "assistant", "content": "Yes"}, hello)
    rows = [row for row in tables.rows("blobs", ("id", "data")) if b"Yes" not in bytes(row["data"])]  # type: ignore[call-overload]
    events = list(
        CURSOR_CHAT.read(
            Memory({"blobs": rows, "meta": list(tables.rows("meta", ("key", "value")))})
        )
    )
    assert broken_rules(events) == []
    assert [each.message.text for each in told(events)] == ["Hi", "Hi"]
    assert Problem(2, "message 2 of the chat is missing, or no JSON object") in events


def test_tables_of_another_program_tell_nothing() -> None:
    tables = Memory({"blobs": [blob(b"x")], "meta": [{"key": "version", "value": "3"}]})
    assert list(CURSOR_CHAT.read(tables)) == []


@given(st.binary(max_size=200))
def test_a_state_of_any_bytes_is_read_as_far_as_it_goes(content: bytes) -> None:
    assert isinstance(root_of(content), ChatRoot)
    known = field(1, b"\x01" * 32)
    assert root_of(known + content).messages[:1] == ("01" * 32,)
