"""Lists of messages are compacted in the dialect they are written in."""

import asyncio
import json
from copy import deepcopy

import pytest

import holdfast
from holdfast import Compressor
from holdfast.errors import DecodeError
from holdfast.testing.engine_talks import long_talk
from holdfast.wire import DIALECTS, Body
from holdfast.wire.recognition import recognized_dialect

NAMES = sorted(DIALECTS)
Messages = list[dict[str, object]]


def talk(dialect: str) -> Messages:
    """Return a long talk without a system prompt, which not every list has a place for."""
    said = DIALECTS["openai"].decode(Body(long_talk()))
    return DIALECTS[dialect].encode(said[1:]).messages


@pytest.mark.parametrize("name", NAMES)
def test_a_list_comes_back_in_its_own_dialect(name: str) -> None:
    messages = talk(name)
    before = deepcopy(messages)
    result = holdfast.compress(messages, context_length=8_000)
    assert result.report.outcome == "folded"
    assert messages == before
    assert recognized_dialect(result.messages) == recognized_dialect(messages) == name
    assert DIALECTS[name].validate(Body(result.messages)) == ()
    assert result.messages[-1] is messages[-1]


@pytest.mark.parametrize("name", NAMES)
def test_every_dialect_of_a_talk_weighs_about_the_same(name: str) -> None:
    weight = holdfast.estimate_tokens(talk("openai"))
    assert holdfast.estimate_tokens(talk(name)) == pytest.approx(weight, rel=0.2)


@pytest.mark.parametrize("name", NAMES)
def test_the_awaiting_side_does_the_same(name: str) -> None:
    messages = talk(name)
    awaited = asyncio.run(Compressor(context_length=8_000).acompress(messages))
    assert awaited.messages == Compressor(context_length=8_000).compress(messages).messages
    error = "maximum context length is 8192 tokens"
    recovered = asyncio.run(Compressor().arecover(messages, error=error))
    assert recovered.messages == Compressor().recover(messages, error=error).messages
    assert recognized_dialect(recovered.messages) == name


# Turns of ShareGPT are read by what follows them; no agent resends such a list.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "sharegpt"])
def test_a_growing_list_weighs_what_the_whole_list_weighs(name: str) -> None:
    messages, grown = talk(name), Compressor(context_length=100_000)
    for end in range(1, len(messages) + 1):
        grown.should_compress(messages[:end])
    whole = Compressor(context_length=100_000)
    whole.should_compress(messages)
    assert grown.expected_tokens == whole.expected_tokens


def test_a_list_that_turns_out_to_be_of_another_dialect_is_measured_again() -> None:
    messages: Messages = [{"role": "user", "content": "Look at it."}]
    compressor = Compressor(context_length=8_000)
    compressor.should_compress(messages)
    payload = "some words " * 10_000
    block = {"type": "tool_use", "id": "t", "name": "write", "input": {"text": payload}}
    messages.append({"role": "assistant", "content": [block]})
    assert compressor.should_compress(messages)
    assert compressor.expected_tokens == holdfast.estimate_tokens(messages)


def test_a_named_dialect_is_not_questioned() -> None:
    messages: Messages = [
        {"role": "user", "content": "hi"},
        {"role": "model", "parts": [{"text": "ho"}]},
    ]
    with pytest.raises(DecodeError, match=r"messages\[1\]: it has a message with `parts`"):
        holdfast.compress(messages)
    with pytest.raises(DecodeError, match=r"contents\[0\].parts"):
        holdfast.compress(messages, format="gemini")
    with pytest.raises(DecodeError, match=r"messages\[1\].role"):
        holdfast.estimate_tokens(messages, format="openai")


def test_an_error_of_a_growing_list_names_the_message_in_the_list() -> None:
    compressor = Compressor()
    messages: Messages = [{"role": "user", "content": "hi"}]
    compressor.should_compress(messages)
    messages.append({"role": "nobody", "content": "ho"})
    with pytest.raises(DecodeError, match=r"messages\[1\]\.role"):
        compressor.should_compress(messages)


@pytest.mark.parametrize("name", ["compressor", "truncate"])
@pytest.mark.parametrize("dialect", NAMES)
def test_engines_behind_the_contract_keep_the_dialect(name: str, dialect: str) -> None:
    engine = holdfast.load_engine(name, context_length=8_000)
    engine.on_session_start("s", goal="Ship it.")
    messages = talk(dialect)
    assert engine.should_compress_preflight(messages)
    shorter = engine.compress(messages)
    assert len(json.dumps(shorter)) < len(json.dumps(messages))
    assert recognized_dialect(shorter) == dialect
