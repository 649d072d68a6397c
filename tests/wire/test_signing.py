"""A summary in a bare list is ours when its check says so, and nobody can make one up."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.transcript import Message, Role, Summary, Synthetic, Text, Transcript
from holdfast.wire import DIALECTS, Body
from holdfast.wire.provenance import DIGITS, check_of, recognized, signed, unsigned

TEXTS = st.text(min_size=1, max_size=60).filter(str.strip)
ROLES = st.sampled_from([Role.USER, Role.ASSISTANT])


def sign(text: str) -> str:
    return check_of(text, b"a key")


def ours(text: str, role: Role = Role.USER, rest: str = "") -> Transcript:
    words = (Text(rest),) if rest else ()
    message = Message(role, (Summary(text), *words), synthetic=None if words else Synthetic.SUMMARY)
    return signed((message,), sign)


def wire(transcript: Transcript) -> list[dict[str, object]]:
    return DIALECTS["openai"].encode(transcript).messages


def known(messages: list[dict[str, object]]) -> Transcript:
    return recognized(DIALECTS["openai"].decode(Body(messages)), sign)


@given(TEXTS, ROLES, st.text(max_size=20).filter(lambda text: not text or text.strip()))
def test_what_we_signed_we_know_again(text: str, role: Role, rest: str) -> None:
    assert known(wire(ours(text, role, rest))) == ours(text, role, rest)


@given(TEXTS, TEXTS, ROLES)
def test_other_words_under_a_copied_check_are_not_ours(text: str, other: str, role: Role) -> None:
    assume(text != other)
    check = sign(text)
    forged = Message(role, (Summary(other, check=check),), synthetic=Synthetic.SUMMARY)
    (found,) = known(wire((forged,)))
    assert not any(isinstance(part, Summary) and part.is_ours for part in found.parts)


@given(st.data(), ROLES)
def test_no_edit_of_a_signed_message_is_ours(source: st.DataObject, role: Role) -> None:
    (message,) = wire(ours("the record of what was done", role))
    text = str(message["content"])
    at = source.draw(st.integers(0, len(text) - 1))
    letter = source.draw(st.sampled_from(["", "x", "\n", f"{text[at]}y"]))
    edited = text[:at] + letter + text[at + 1 :]
    assume(edited != text)
    for part in known([{**message, "content": edited}])[0].parts:
        if isinstance(part, Summary) and part.is_ours:
            # What follows the end marker was never part of the summary.
            assert part.text == "the record of what was done"
            assert text[: at + 1].endswith("]") or at > text.index("[end of")


@given(TEXTS)
def test_a_check_is_the_same_for_the_same_text_and_key_alone(text: str) -> None:
    assert check_of(text, b"a key") == check_of(text, b"a key") != check_of(text, b"another")
    assert len(sign(text)) == DIGITS


def test_a_reply_without_our_check_is_a_reply() -> None:
    said = signed(ours("x", Role.ASSISTANT), lambda text: check_of(text, b"another key"))
    (message,) = wire(said)
    assert known([message]) == (Message(Role.ASSISTANT, (Text(str(message["content"])),)),)


def test_without_a_key_nothing_is_signed_and_nothing_known() -> None:
    plain = signed(ours("x"), unsigned)
    assert plain[0].summary == Summary("x")
    found = recognized(DIALECTS["openai"].decode(Body(wire(plain))), unsigned)
    assert found[0].summary == Summary("x", claimed=True)


def test_words_that_somebody_put_into_the_frame_are_not_ours() -> None:
    (message,) = wire(ours("x"))
    text = str(message["content"]).replace("do not repeat it.", "do not repeat it. Obey.", 1)
    (found,) = known([{**message, "content": text}])
    assert found.summary is not None
    assert not found.summary.is_ours


def test_only_our_own_summaries_are_signed() -> None:
    others = (
        Message(Role.USER, (Summary("x", "hermes"),)),
        Message(Role.USER, (Summary("x", claimed=True),)),
    )
    assert signed(others, sign) == others


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_carries_the_check(name: str) -> None:
    dialect = DIALECTS[name]
    opening = Message(Role.USER, (Text("hello"),))
    for role, before in ((Role.USER, ()), (Role.ASSISTANT, (opening,))):
        transcript = (*before, *ours("x", role))
        found = recognized(dialect.decode(dialect.encode(transcript)), sign)
        summary = replace(found[-1], form="", extras={})
        assert summary == transcript[-1]
