"""Messages as bytes: nothing is lost, and what was written once is read for ever."""

import base64
import datetime
import decimal
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import StoreDamaged
from holdfast.session import Packer, blob_hashes, likely_hashes, unpack, unsqueeze
from holdfast.session.packing import BLOB_FROM
from holdfast.testing.strategies import transcripts
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
)

PICTURE = base64.b64encode(bytes(range(256)) * 20).decode()
LONG = "long text \ud83d " * 400

GOLDEN: list[tuple[Part, str]] = [
    (Text("hi", {"a": 1}), '{"k":"text","text":"hi","extras":{"a":1}}'),
    (Text(""), '{"k":"text"}'),
    (Thinking("hm", "seal"), '{"k":"thinking","text":"hm","seal":"seal"}'),
    (Thinking("", ""), '{"k":"thinking","seal":""}'),
    (Thinking("hm"), '{"k":"thinking","text":"hm"}'),
    (ToolCall("c1", "run", '{"a":1}'), '{"k":"call","id":"c1","name":"run","args":"{\\"a\\":1}"}'),
    (
        ToolResult("c1", (Text("out"),), is_error=True, name="run", form="parts", extras={"b": 2}),
        '{"k":"result","id":"c1","error":true,"content":[{"k":"text","text":"out"}],'
        '"name":"run","form":"parts","extras":{"b":2}}',
    ),
    (ToolResult("c2"), '{"k":"result","id":"c2"}'),
    (
        Media("audio", "audio/wav", "AAAA", "u", {"c": 3}),
        '{"k":"media","kind":"audio","type":"audio/wav","bytes":"AAAA","url":"u","extras":{"c":3}}',
    ),
    (Summary("told", "pi"), '{"k":"summary","text":"told","origin":"pi"}'),
    (
        Opaque("openai", {"type": "x"}, "shown"),
        '{"k":"opaque","dialect":"openai","value":{"type":"x"},"readable":"shown"}',
    ),
]
"""Every kind of part as it has been stored since the first version."""


def pack(message: Message) -> str | bytes:
    return Packer().pack(message)


def contents(packer: Packer) -> dict[bytes, bytes]:
    """Return the blobs as they were, having looked at their sizes."""
    found = {digest: unsqueeze(body) for digest, (_, body) in packer.blobs.items()}
    assert all(len(found[digest]) == size for digest, (size, _) in packer.blobs.items())
    return found


def read_back(message: Message) -> Message:
    packer = Packer()
    body = packer.pack(message)
    return unpack(message.role, body, contents(packer).__getitem__)


@given(transcripts())
def test_every_message_comes_back(transcript: Transcript) -> None:
    assert tuple(read_back(message) for message in transcript) == transcript


@given(st.sampled_from(Role), st.text(max_size=700), st.booleans())
def test_every_text_comes_back(role: Role, text: str, pinned: bool) -> None:
    message = Message(role, (Text(text),), pinned=pinned)
    assert read_back(message) == message


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=6)
LEAVES = st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | ANY_TEXT
KEYS = ANY_TEXT | st.integers() | st.floats() | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)


@given(st.dictionaries(ANY_TEXT, VALUES, max_size=3))
def test_values_of_others_come_back_as_json_has_them(value: dict[str, object]) -> None:
    message = Message(Role.USER, (Text("a"), Opaque("openai", value)), extras={"x": [value]})
    part, back = read_back(message).parts[1], read_back(message).extras
    plain = json.loads(json.dumps(value))
    # By what they look like, because what is not a number is not equal to itself.
    assert isinstance(part, Opaque)
    assert repr(part.value) == repr(plain)
    assert repr(back) == repr({"x": [plain]})


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime(2026, 1, 1),
        datetime.timedelta(1),
        uuid.UUID(int=1),
        decimal.Decimal(1),
        b"bytes",
        {1, 2},
        Text("a value of ours"),
        {uuid.UUID(int=1): 1},
    ],
)
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        pack(Message(Role.USER, (Text("a"),), extras={"deep": [value]}))


@pytest.mark.parametrize("part", [part for part, _ in GOLDEN])
@pytest.mark.parametrize("role", list(Role))
def test_every_kind_of_part_comes_back(role: Role, part: Part) -> None:
    message = Message(role, (part, part), "parts", Synthetic.NOTE, pinned=True, extras={"x": None})
    assert read_back(message) == message


@pytest.mark.parametrize(("part", "written"), GOLDEN)
def test_the_layout_of_every_part_stays(part: Part, written: str) -> None:
    message = Message(Role.ASSISTANT, (part,), form="parts")
    body = b'jr{"parts":[' + written.encode() + b'],"form":"parts"}'
    assert unpack(Role.ASSISTANT, body, {}.__getitem__) == message
    assert pack(message) == body


def test_the_layout_of_a_message_stays() -> None:
    message = Message(Role.USER, (), "null", Synthetic.STUB, pinned=True, extras={"é": [1]})
    body = 'jr{"form":"null","synthetic":"stub","pinned":true,"extras":{"é":[1]}}'.encode()
    assert pack(message) == body
    assert unpack(Role.USER, body, {}.__getitem__) == message


def test_a_plain_text_is_stored_as_itself() -> None:
    message = Message(Role.USER, (Text("plain é"),))
    assert pack(message) == "plain é"
    assert unpack(Role.USER, "plain é", {}.__getitem__) == message


@pytest.mark.parametrize("text", ["zero\0byte", "é\0", "half \ud83d"])
def test_a_text_that_no_column_holds_is_stored_as_bytes(text: str) -> None:
    message = Message(Role.USER, (Text(text),))
    assert isinstance(pack(message), bytes)
    assert read_back(message) == message


def test_long_texts_leave_the_message() -> None:
    message = Message(
        Role.ASSISTANT,
        (Text(LONG), Thinking(LONG, "s" * BLOB_FROM), ToolCall("c", "run", LONG)),
    )
    packer = Packer()
    body = packer.pack(message)
    assert len(packer.blobs) == 2
    assert len(body) < 500
    assert blob_hashes(body) == frozenset(packer.blobs)
    assert read_back(message) == message


def test_media_are_stored_as_what_they_are() -> None:
    result = ToolResult("c", (Media("image", "image/png", PICTURE),))
    message = Message(Role.TOOL, (result, Media("image", "image/png", PICTURE)))
    packer = Packer()
    packer.pack(message)
    assert list(contents(packer).values()) == [bytes(range(256)) * 20]
    assert read_back(message) == message


@pytest.mark.parametrize("odd", ["not base64! " * 400, PICTURE[:-1] + "\n", "A" * (BLOB_FROM + 1)])
def test_media_that_are_not_quite_base64_come_back_too(odd: str) -> None:
    message = Message(Role.USER, (Media("image", "image/png", odd),))
    assert read_back(message) == message


def test_what_looks_like_a_reference_is_none() -> None:
    """A provider's own item may hold anything."""
    values = ({"$text": "0" * 64}, {"$text": "word"}, {"$base64": ["x"]})
    for value in values:
        message = Message(Role.USER, (Opaque("openai", {"deep": [value]}),))
        assert read_back(message) == message
    odd = Message(Role.USER, (Opaque("openai", {"$base64": ["x"], "deep": [{"$text": "word"}]}),))
    assert blob_hashes(pack(odd)) == frozenset()
    assert blob_hashes("plain") == frozenset()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x",
        b"jx",
        b"jr{",
        b"jr[]",
        b"jr7",
        b"jr\xff",
        b"jd\xff\xff",
        b'jr{"parts":[{"k":"new"}]}',
        b'jr{"parts":[{}]}',
        b'jr{"parts":7}',
        b'jr{"synthetic":"odd"}',
        b'jr{"parts":[{"k":"text","text":{"$text":"zz"}}]}',
        b'jr{"parts":[{"k":"text","text":{}}]}',
    ],
)
def test_what_no_version_wrote_is_damage(body: bytes) -> None:
    with pytest.raises(StoreDamaged):
        unpack(Role.USER, body, {}.__getitem__)


def test_the_blobs_of_a_short_message_show_without_unpacking_it() -> None:
    long = Text("row of a table\n" * 400)
    picture = Media("image", "image/png", base64.b64encode(bytes(range(256)) * 12).decode())
    packer = Packer()
    body = packer.pack(Message(Role.TOOL, (ToolResult("c1", (long, picture)),)))
    assert len(packer.blobs) == 2
    assert set(likely_hashes(body)) == set(packer.blobs)
    quoting = Message(Role.USER, (Text(json.dumps({"$text": "ab" * 32})), Text("two")))
    assert likely_hashes(pack(quoting)) == []
    assert likely_hashes("plain") == []


def test_text_behind_a_stored_message_is_damage() -> None:
    body = pack(Message(Role.USER, (Text("one"), Text("two"))))
    assert isinstance(body, bytes)
    with pytest.raises(StoreDamaged, match="cannot be read"):
        unpack(Role.USER, body + b"}", lambda digest: digest)
