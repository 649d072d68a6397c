"""Properties that hold for every dialect: nothing is lost on the way out and back."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.testing.strategies import Material, transcripts
from holdfast.transcript import (
    Message,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    Transcript,
    check,
)
from holdfast.wire import DIALECTS, Body
from holdfast.wire.markers import END, PREFIX
from holdfast.wire.provenance import check_of, recognized, signed

NAMES = sorted(DIALECTS)
# Five dialects each take their share of what the profile grants one property.
few = settings(max_examples=max(25, getattr(settings.default, "max_examples", 100) // 3))
MARKER_LIKE = st.lists(st.sampled_from(["\n", "\\", END, PREFIX, "x"]), max_size=12).map("".join)
PAIRS = [(one, other) for one in NAMES for other in NAMES]


STRAYS: dict[str, tuple[dict[str, object], ...]] = {
    "anthropic": (
        {"role": "user", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"role": "user", "content": [{"type": "thinking", "thinking": "x", "signature": "s"}]},
    ),
    "gemini": ({"role": "user", "parts": [{"functionCall": {"name": "n", "args": {}}}]},),
}
"""Messages in which a user does what only a model does."""


def material(dialect: str) -> Material:
    return Material(dialect=dialect, turns=2, steps=2)


def spoken(transcript: Transcript) -> str:
    texts = [
        part.text
        for message in transcript
        for part in message.parts
        if isinstance(part, Text | Summary)
    ]
    return "\n".join(texts)


def calls(transcript: Transcript) -> list[tuple[str, object]]:
    return [
        (call.name, json.loads(call.arguments)) for message in transcript for call in message.calls
    ]


def results(transcript: Transcript) -> list[str]:
    return [plain(result.text) for message in transcript for result in message.results]


def plain(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return text.strip()


@pytest.mark.parametrize("name", NAMES)
@few
@given(source=st.data())
def test_what_a_dialect_writes_it_reads_and_writes_the_same(
    name: str, source: st.DataObject
) -> None:
    dialect = DIALECTS[name]
    transcript = source.draw(transcripts(material(name)))
    body = dialect.encode(transcript)
    assert dialect.validate(body) == ()
    before = json.dumps(body.messages)
    read = dialect.decode(body)
    assert dialect.encode(read) == body
    assert json.dumps(body.messages) == before
    assert dialect.decode(dialect.encode(read)) == read
    assert check(read) == ()
    # Signed thinking is bytes: it comes back as it was, all of it.
    assert thoughts(read) == thoughts(transcript)


@given(transcripts(Material(dialect="openai", turns=2, steps=2, has_errors=False)))
def test_openai_chat_gives_back_the_very_transcript(transcript: Transcript) -> None:
    dialect = DIALECTS["openai"]
    # Only what we signed is known to be ours, and a reply is no summary of another's.
    transcript = tuple(each for each in signed(transcript, sign) if not is_foreign_reply(each))
    assert recognized(dialect.decode(dialect.encode(transcript)), sign) == transcript


def sign(text: str) -> str:
    return check_of(text, b"a key")


def is_foreign_reply(message: Message) -> bool:
    found = message.summary
    return message.role is Role.ASSISTANT and found is not None and not found.is_ours


def thoughts(transcript: Transcript) -> list[Thinking]:
    return [part for message in transcript for part in message.parts if isinstance(part, Thinking)]


@given(pair=st.sampled_from(PAIRS), source=st.data())
def test_a_transcript_moves_between_dialects(pair: tuple[str, str], source: st.DataObject) -> None:
    one, other = pair
    transcript = source.draw(transcripts(material(one)))
    # A reply that begins like a summary of another agent is words, frame and all.
    transcript = tuple(each for each in signed(transcript, sign) if not is_foreign_reply(each))
    here = recognized(DIALECTS[one].decode(DIALECTS[one].encode(transcript)), sign)
    body = DIALECTS[other].encode(here)
    assert DIALECTS[other].validate(body) == ()
    there = recognized(DIALECTS[other].decode(body), sign)
    assert calls(there) == calls(transcript)
    # Media that the other side cannot take leaves words behind.
    for found, answer in zip(results(there), results(transcript), strict=True):
        assert found.startswith(answer)
    heard = spoken(there)
    for text in spoken(transcript).split("\n"):
        assert text.strip() in heard


@pytest.mark.parametrize("name", NAMES)
@few
@given(
    record=(st.text(max_size=80) | MARKER_LIKE).filter(str.strip),
    rest=st.none() | st.text(max_size=40),
    role=st.sampled_from([Role.USER, Role.ASSISTANT]),
    origin=st.sampled_from(["holdfast", "hermes", "pi"]),
)
def test_a_summary_is_read_back_exactly(
    name: str, record: str, rest: str | None, role: Role, origin: str
) -> None:
    dialect = DIALECTS[name]
    parts = (Summary(record, origin),) if rest is None else (Summary(record, origin), Text(rest))
    message = Message(role, parts, synthetic=Synthetic.SUMMARY if rest is None else None)
    assume(not is_foreign_reply(message))
    (message,) = signed((message,), sign)
    opening = (Message(Role.USER, (Text("hello"),)),) if role is Role.ASSISTANT else ()
    closing = (Message(Role.ASSISTANT if role is Role.USER else Role.USER, (Text("go on"),)),)
    read = recognized(dialect.decode(dialect.encode((*opening, message, *closing))), sign)
    if name == "gemini" and rest == "":
        # An empty part is refused, so nothing tells that there was one.
        message = replace(message, parts=message.parts[:1], synthetic=Synthetic.SUMMARY)
    assert replace(read[len(opening)], form="", extras={}) == message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("origin", STRAYS)
def test_what_only_a_model_does_is_kept_where_a_user_does_it(origin: str, name: str) -> None:
    for stray in STRAYS[origin]:
        transcript = DIALECTS[origin].decode(Body([stray]))
        assert not transcript[0].calls
        written = DIALECTS[name].encode(transcript)
        assert name != origin or written.messages == [stray]
