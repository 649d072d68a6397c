"""Messages as bytes: nothing is lost, and what was written once is read for ever."""

import base64
import json
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import StoreDamaged
from holdfast.session import blob_hashes, likely_hashes, pack, squeeze, unpack, unsqueeze
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


def read_back(message: Message) -> Message:
    packed = pack(message)
    return unpack(message.role, packed.body, packed.blobs.__getitem__)


@given(transcripts())
def test_every_message_comes_back(transcript: Transcript) -> None:
    assert tuple(read_back(message) for message in transcript) == transcript


@given(st.sampled_from(Role), st.text(max_size=700), st.booleans())
def test_every_text_comes_back(role: Role, text: str, pinned: bool) -> None:
    message = Message(role, (Text(text),), pinned=pinned)
    assert read_back(message) == message


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
    assert pack(message).body == body


def test_the_layout_of_a_message_stays() -> None:
    message = Message(Role.USER, (), "null", Synthetic.STUB, pinned=True, extras={"é": [1]})
    body = 'jr{"form":"null","synthetic":"stub","pinned":true,"extras":{"é":[1]}}'.encode()
    assert pack(message).body == body
    assert unpack(Role.USER, body, {}.__getitem__) == message


def test_a_plain_text_is_stored_as_itself() -> None:
    message = Message(Role.USER, (Text("plain é"),))
    assert pack(message).body == "plain é"
    assert unpack(Role.USER, "plain é", {}.__getitem__) == message


@pytest.mark.parametrize("text", ["zero\0byte", "é\0", "half \ud83d"])
def test_a_text_that_no_column_holds_is_stored_as_bytes(text: str) -> None:
    message = Message(Role.USER, (Text(text),))
    assert isinstance(pack(message).body, bytes)
    assert read_back(message) == message


def test_long_texts_leave_the_message() -> None:
    message = Message(
        Role.ASSISTANT,
        (Text(LONG), Thinking(LONG, "s" * BLOB_FROM), ToolCall("c", "run", LONG)),
    )
    packed = pack(message)
    assert len(packed.blobs) == 2
    assert len(packed.body) < 500
    assert blob_hashes(packed.body) == frozenset(packed.blobs)
    assert read_back(message) == message


def test_media_are_stored_as_what_they_are() -> None:
    result = ToolResult("c", (Media("image", "image/png", PICTURE),))
    message = Message(Role.TOOL, (result, Media("image", "image/png", PICTURE)))
    packed = pack(message)
    assert list(packed.blobs.values()) == [bytes(range(256)) * 20]
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
    assert blob_hashes(pack(odd).body) == frozenset()
    assert blob_hashes("plain") == frozenset()


@given(st.binary(max_size=2_000))
def test_what_is_squeezed_expands(content: bytes) -> None:
    assert unsqueeze(squeeze(content)) == content


def test_content_is_squeezed_where_that_pays() -> None:
    assert squeeze(b"x" * 5_000)[:1] == b"d"
    assert len(squeeze(b"x" * 5_000)) < 100
    assert squeeze(b"short") == b"rshort"
    noise = zlib.compress(bytes(range(256)) * 40)[:200] + bytes(range(255, 0, -1)) * 3
    assert unsqueeze(squeeze(noise)) == noise


def test_noise_is_stored_as_it_is() -> None:
    noise = random.Random(1).randbytes(4_000)
    assert squeeze(noise) == b"r" + noise


def test_what_was_squeezed_once_is_read_for_ever() -> None:
    """The dictionary is part of the layout: another one would make old stores unreadable."""
    stored = bytes.fromhex(GOLDEN_SQUEEZED)
    assert unsqueeze(stored).decode() == json.dumps({"k": "call", "name": "read_file"}) * 20


GOLDEN_SQUEEZED = "640387a302341215a051a6801467b5a32a46550cbc0a00"


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
    packed = pack(Message(Role.TOOL, (ToolResult("c1", (long, picture)),)))
    assert len(packed.blobs) == 2
    assert set(likely_hashes(packed.body)) == set(packed.blobs)
    quoting = Message(Role.USER, (Text(json.dumps({"$text": "ab" * 32})), Text("two")))
    assert likely_hashes(pack(quoting).body) == []
    assert likely_hashes("plain") == []


def test_text_behind_a_stored_message_is_damage() -> None:
    body = pack(Message(Role.USER, (Text("one"), Text("two")))).body
    assert isinstance(body, bytes)
    with pytest.raises(StoreDamaged, match="cannot be read"):
        unpack(Role.USER, body + b"}", lambda digest: digest)
