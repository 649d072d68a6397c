"""Values come out of both packings, and nothing is ever constructed."""

import json

import msgspec
import pytest

from holdfast.formats.langgraph.messages import (
    PackedObject,
    StoredObject,
    UnreadableValue,
    built,
    decode,
    unpacked,
)

PACK = msgspec.msgpack.encode
FIELDS = {"content": "hi", "type": "human"}
PARTS = ["langchain_core.messages.human", "HumanMessage", FIELDS, "model_validate_json"]
OBJECT = msgspec.msgpack.Ext(5, PACK(PARTS))


def as_pair(found: StoredObject | None) -> tuple[str, object] | None:
    return None if found is None else (found.name, found.fields)


def test_an_object_stays_packed_until_it_is_asked_for() -> None:
    found = decode("msgpack", PACK({"messages": [OBJECT]}))
    packed = PackedObject(5, PACK(PARTS))
    assert found == {"messages": [packed]}
    assert as_pair(built(packed)) == ("HumanMessage", FIELDS)


def test_an_object_in_json_is_the_same_object() -> None:
    path = ["langchain", "schema", "messages", "HumanMessage"]
    text = json.dumps({"lc": 1, "type": "constructor", "id": path, "kwargs": FIELDS})
    for blob in (text, text.encode()):
        assert as_pair(built(decode("json", blob))) == ("HumanMessage", FIELDS)
    assert decode("", text) == decode("json", text)


def test_a_snapshot_holds_a_value_as_it_is() -> None:
    snapshot = decode("msgpack", PACK(msgspec.msgpack.Ext(7, PACK([OBJECT, 1]))))
    assert unpacked(snapshot) == [PackedObject(5, PACK(PARTS)), 1]
    assert unpacked("plain") == "plain"


@pytest.mark.parametrize("kind", ["null", "bytes", "bytearray", "msgpack"])
def test_nothing_is_nothing(kind: str) -> None:
    assert decode(kind, None) is None
    assert decode("null", b"") is None


def test_any_other_value_is_no_object() -> None:
    assert built({"type": "human"}) is None
    assert built("x") is None
    assert built(PackedObject(1, PACK([1, 2]))) is None


@pytest.mark.parametrize(
    ("kind", "blob", "reason"),
    [
        ("pickle", b"\x80", "it is packed as 'pickle', which is not read"),
        ("msgpack+aes", b"\x80", "it is packed as 'msgpack+aes', which is not read"),
        ("json", b"{", "it is not JSON"),
        ("json", b"\xff", "it is not JSON"),
        ("json", "[" * 100_000, "its values are nested too deeply"),
        ("msgpack", b"\xc1", "it is not MessagePack"),
        ("msgpack", b"\x92", "it is not MessagePack"),
        ("msgpack", b"\x91" * 100_000, "its values are nested too deeply"),
        ("msgpack", 7, "the column holds a number"),
    ],
)
def test_what_cannot_be_unpacked_is_said_in_words(kind: str, blob: object, reason: str) -> None:
    with pytest.raises(UnreadableValue, match=reason.replace("+", r"\+")):
        decode(kind, blob)
