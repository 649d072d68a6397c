"""Bodies that are read by slices say what the same bodies say that are decoded as a whole."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.gateway.bodies import DEEPEST, HttpRefusal, read_body, read_object, spliced
from holdfast.gateway.replay import read_recording
from holdfast.recognition.request import MESSAGES, dialect_of_path, read_request
from holdfast.recognition.slices import KnownSlices, MessageSlices
from tests.gateway.scripted import PATHS


def as_whole(data: bytes) -> dict[str, object] | int:
    """Return what a body says to somebody who decodes all of it, or the status of a refusal."""
    try:
        return read_object(data)
    except HttpRefusal as refused:
        return refused.status


def by_slices(data: bytes, dialect: str, known: KnownSlices) -> dict[str, object] | int:
    """Return the same, read by slices."""
    try:
        return read_body(data, dialect, known)
    except HttpRefusal as refused:
        return refused.status


def assert_same(data: bytes, path: str, known: KnownSlices) -> None:
    """Read a body both ways, when nothing of it is known and when all of it is."""
    dialect, whole = dialect_of_path(path), as_whole(data)
    for _ in range(2):
        read = by_slices(data, dialect, known)
        if isinstance(read, dict) and isinstance(whole, dict):
            assert read_request(path, {}, read) == read_request(path, {}, whole)
            name = MESSAGES[dialect]
            if isinstance(messages := read.get(name), MessageSlices):
                read = {**read, name: list(messages)}
        assert read == whole


def test_recorded_requests_say_the_same_by_slices(shared: Path) -> None:
    known = KnownSlices()
    for recording in sorted((shared / "data" / "wire").glob("*/*.jsonl")):
        for each in read_recording(recording.read_text("utf-8"))[0]:
            data = json.dumps(each.body, ensure_ascii=False).encode("utf-8", "surrogatepass")
            assert_same(data, each.path, known)
            assert_same(json.dumps(each.body, indent=1).encode(), each.path, known)


TEXT = st.text(max_size=12) | st.sampled_from(['"\\', "\ud83d", "\x7f\u2028", "a\r\n\tb", "é😀"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use"]), "text": TEXT},
    optional=dict.fromkeys(("id", "name", "tool_use_id"), TEXT)
    | dict.fromkeys(("input", "functionCall"), VALUES),
)
SAID = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool", "model"])},
    optional={
        "content": TEXT | st.lists(PARTS, max_size=3) | VALUES,
        "parts": st.lists(PARTS, max_size=2),
        "tool_call_id": TEXT,
        "tool_calls": VALUES,
        "type": st.sampled_from(["message", "function_call", "function_call_output"]),
    },
)


@given(
    st.sampled_from(sorted(PATHS)),
    st.lists(SAID | VALUES, max_size=5) | TEXT | VALUES,
    st.dictionaries(st.sampled_from(["tools", "system", "stream", "model", "text"]), VALUES),
    st.sampled_from([None, 0, 3]),
    st.booleans(),
)
def test_whatever_a_client_writes_says_the_same_by_slices(
    dialect: str, messages: object, fields: dict[str, object], indent: int | None, ascii_: bool
) -> None:
    body = {**fields, MESSAGES[dialect]: messages}
    data = json.dumps(body, indent=indent, ensure_ascii=ascii_).encode("utf-8", "surrogatepass")
    if "NaN" not in repr(as_whole(data)) and "nan" not in repr(as_whole(data)):
        assert_same(data, PATHS[dialect], KnownSlices(most=4))
    # What is broken off or bent anywhere is refused by both, or read alike by both.
    for bent in (data[:-2], data.replace(b'"', b'"\xff', 3), data + b" ]"):
        assert_same(bent, PATHS[dialect], KnownSlices())


@pytest.mark.parametrize(
    "data",
    [
        b'{"messages": [{"role": "user", "content": "a"}], "messages": [{"role": "user"}]}',
        b'{"messages": [{"role": "user", "role": "assistant", "content": "a"}]}',
        b'{"messages": null}',
        b'{"messages": {"role": "user"}}',
        b'{"messages": "hello"}',
        b'{"tools": []}',
        b'{"messages": [NaN]}',
        b'\xef\xbb\xbf{"messages": []}',
        '{"messages": [{"role": "user", "content": "é"}]}'.encode("utf-16"),
    ],
)
def test_rare_bodies_say_the_same_by_slices(data: bytes) -> None:
    if "nan" not in repr(as_whole(data)):
        assert_same(data, PATHS["openai"], KnownSlices())


@pytest.mark.parametrize("name", ["messages", "tools"])
def test_a_body_is_as_deep_as_allowed_and_no_deeper_wherever_its_depth_is(name: str) -> None:
    for levels in range(DEEPEST - 3, DEEPEST + 3):
        data = b'{"%s": %s1%s, "messages": []}' % (name.encode(), b"[" * levels, b"]" * levels)
        data = data.replace(b', "messages": []', b"") if name == "messages" else data
        known = KnownSlices()
        refused = [by_slices(data, "openai", known) == 400 for _ in range(2)]
        assert refused == [as_whole(data) == 400] * 2 == [levels >= DEEPEST] * 2


def test_what_one_tenant_sent_is_not_known_to_another() -> None:
    known = KnownSlices()
    data = b'{"messages": [{"role": "user", "content": "hello"}]}'
    asked = [read_body(data, "openai", known, owner) for owner in ("a", "a", "b")]
    raw = [each["messages"] for each in asked]
    assert all(isinstance(each, MessageSlices) for each in raw)
    assert [each.was_read for each in raw if isinstance(each, MessageSlices)] == [1, 0, 1]


def test_a_message_is_read_although_a_field_of_the_same_bytes_is_known() -> None:
    known, message = KnownSlices(), {"role": "user", "content": "hello " * 50}
    data = json.dumps({"metadata": message, "messages": [message]}).encode()
    assert_same(data, PATHS["openai"], known)


@pytest.mark.parametrize("changed", [0, 15, 16, 40])
def test_a_message_that_is_told_otherwise_among_many_that_are_known_is_read(changed: int) -> None:
    known = KnownSlices()
    messages = [{"role": "user", "content": str(place)} for place in range(41)]
    for text in ("as it was", "otherwise", "as it was"):
        messages[changed] = {"role": "user", "content": text}
        assert_same(json.dumps({"messages": messages}).encode(), PATHS["openai"], known)


def test_the_oldest_slices_are_forgotten_and_those_in_use_are_kept() -> None:
    known = KnownSlices(most=20)
    bodies = [b'{"messages": [{"role": "user", "content": "%d"}]}' % place for place in range(40)]

    def is_read(data: bytes) -> bool:
        messages = read_body(data, "openai", known)["messages"]
        assert isinstance(messages, MessageSlices)
        return messages.was_read == 1

    for data in bodies:
        is_read(bodies[0])
        is_read(data)
    assert not is_read(bodies[0])
    assert is_read(bodies[5])
    assert len(known) <= 20


def test_messages_that_go_out_again_keep_their_bytes() -> None:
    first = '{"role":"user",  "content":"\\u00e9\\n"}'
    second = '{ "role": "assistant", "content": "é" }'
    data = f'{{"model": "m",\n "messages": [{first} , {second}]}}'.encode()
    for known in [KnownSlices()] * 2:
        asked = read_body(data, "openai", known)["messages"]
        assert isinstance(asked, MessageSlices)
        sent = spliced(data, "messages", [{"role": "user", "content": "x"}, asked[1]], asked)
        assert (
            sent
            == ('{"model":"m","messages":[{"role":"user","content":"x"},' + second + "]}").encode()
        )
        assert msgspec.json.decode(sent)["model"] == "m"
