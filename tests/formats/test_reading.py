"""A text is known by its content, and what cannot be read is refused in a sentence."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, DecodeError
from holdfast.formats import FORMATS, Guess, detect, read, read_all, write
from holdfast.formats.catalog import SESSIONS
from holdfast.transcript import check, shape
from tests.formats.samples import FORMAT_OF, sample

MESSAGE = {"role": "user", "content": "hello"}
TURNS = {"conversations": [{"from": "human", "value": "hello"}]}


@pytest.mark.parametrize("name", FORMAT_OF)
def test_every_sample_is_known_by_its_content(name: str) -> None:
    assert detect(sample(name)).format == FORMAT_OF[name]
    assert detect(sample(name).encode()) == detect(sample(name))


@pytest.mark.parametrize("name", FORMAT_OF)
def test_every_sample_reads_the_same_when_its_format_is_named(name: str) -> None:
    assert read_all(sample(name), format=FORMAT_OF[name]) == read_all(sample(name))


@pytest.mark.parametrize("name", FORMAT_OF)
def test_every_sample_is_valid_but_for_open_calls(name: str) -> None:
    for document in read_all(sample(name)):
        assert document.transcript
        problems = [each.message for each in check(document.transcript)]
        assert all("has no result right after it" in each for each in problems)


USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "n", "input": {}}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "x"}


@pytest.mark.parametrize("held", [[MESSAGE, USE, RESULT], {"messages": [MESSAGE, USE, RESULT]}])
def test_messages_of_two_dialects_are_refused_by_their_place(held: object) -> None:
    text = json.dumps(held)
    with pytest.raises(DecodeError, match=r"messages\[2\]: it has a `tool_call_id`.*--format"):
        read(text)
    assert detect(text).confidence < 0.5
    assert "messages[2]: it has a `tool_call_id`" in detect(text).reason
    assert len(read(text, format="openai").transcript) == 3


def test_a_guess_says_how_sure_it_is_and_why() -> None:
    assert detect(json.dumps([MESSAGE])) == Guess("openai", 0.5, "messages with a role and text")
    started = {"type": "session.start", "data": {"sessionId": "s", "copilotVersion": "1"}}
    assert detect(json.dumps(started)) == Guess("copilot", 1.0, "an event of type session.start")


@pytest.mark.parametrize(
    "records",
    [
        [{"name": "app", "version": "1.0.0", "scripts": {}, "files": ["dist"]}],
        [{"type": "FeatureCollection", "features": [{"type": "Feature", "id": "1"}]}],
        [{"openapi": "3.1.0", "info": {"title": "t"}, "paths": {}}],
        [{"cells": [{"cell_type": "code", "source": []}], "metadata": {}, "nbformat": 4}],
        [{"editor.fontSize": 12, "files.exclude": {}}],
        [{"permissions": {"allow": []}, "hooks": {"Stop": [{"hooks": []}]}, "model": "m"}],
        [{"display": "hi", "timestamp": 1, "project": "/srv", "sessionId": "s"}],
        [{"type": "message", "id": "1", "message": "hi"}, {"type": "user", "id": "2"}],
        [{"type": "message", "user": "U1", "text": "hi", "ts": "1"}],
        [{"name": "latency", "value": 1.5, "ts": 1}, {"name": "latency", "value": 2, "ts": 2}],
        [{"from": "Lisbon", "to": "Porto", "value": 313}],
        [{"role": "admin", "content": "all"}, {"role": "viewer", "content": "some"}],
        [{"history": [{"action": "PUSH", "location": "/"}]}],
        [{"type": "session.start", "data": {"page": "/"}, "id": "1"}],
        [{"ts": "2026", "dir": "to_tui", "kind": "codex_event", "payload": {"id": "0"}}],
        [{"msg": '{"type": "session_meta", "payload": {"id": "x"}}', "level": "info"}],
        [{"kind": "Event", "source": {"component": "scheduler"}, "message": "m"}],
    ],
)
def test_what_only_resembles_a_session_is_none(records: list[object]) -> None:
    lines = "\n".join(json.dumps(each) for each in records)
    assert [detect(lines).format, detect(json.dumps(records)).format] == ["", ""]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text is empty"),
        ("[" * 100_000, "nested too deeply"),
        ("42", "unknown: a number"),
        ("{}", "an empty object"),
        ("[1, 2]", "an array whose first element is a number"),
        ('{"b": 1, "a": 2}', "an object with the keys a, b"),
    ],
)
def test_what_is_no_conversation_has_no_name(text: str, reason: str) -> None:
    guess = detect(text)
    assert (guess.format, guess.confidence) == ("", 0.0)
    assert reason in guess.reason
    with pytest.raises(DecodeError) as caught:
        read(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize("separator", ["\n", ","])
def test_several_conversations_are_read_one_by_one(separator: str) -> None:
    text = separator.join([json.dumps(TURNS)] * 3)
    text = f"[{text}]" if separator == "," else text
    documents = read_all(text)
    assert [shape(document.transcript) for document in documents] == ["00 user      hello"] * 3
    assert json.loads(write(documents[1], documents[1].transcript)) == TURNS
    with pytest.raises(DecodeError, match="expected one conversation, found 3; choose one"):
        read(text)
    assert read(text, conversation=3) == documents[2]
    for number in (0, 4):
        with pytest.raises(DecodeError, match=f"no conversation {number}; the file holds 3"):
            read(text, conversation=number)


def test_a_named_format_is_not_doubted() -> None:
    document = read(json.dumps([MESSAGE]), format="anthropic")
    assert (document.format, document.dialect) == ("anthropic", "anthropic")
    assert read(json.dumps({"messages": [MESSAGE]}), format="hermes").format == "hermes"


def test_a_named_format_that_does_not_fit_is_refused() -> None:
    with pytest.raises(DecodeError, match="anthropic: line 1: this holds no conversation"):
        read('{"a": 1}', format="anthropic")
    with pytest.raises(DecodeError, match="found 0"):
        read("[]", format="openhands")


def test_an_unknown_format_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="there is no format 'word'; choose one of auto, openai"):
        read("[]", format="word")


def test_a_damaged_line_of_a_provider_document_is_fatal() -> None:
    lines = [json.dumps(MESSAGE)] * 2 + ["{"]
    with pytest.raises(DecodeError, match="json: line 3: not JSON"):
        read("\n".join(lines))


def test_the_line_of_a_conversation_that_cannot_be_read_is_named() -> None:
    broken = {"conversations": [{"from": "human", "value": "x"}, 5]}
    with pytest.raises(DecodeError, match=r"line 2: conversations\[1\]: expected an object"):
        read_all(f"{json.dumps(TURNS)}\n{json.dumps(broken)}")


def test_a_list_of_other_things_beside_a_message_is_unknown() -> None:
    assert detect(json.dumps([MESSAGE, {"type": "user"}])).format == ""
    assert detect(json.dumps([MESSAGE, TURNS])).format == ""


def test_examples_written_out_for_a_prompt_are_no_conversation() -> None:
    examples = [{"example": "USER: how far is it?\nASSISTANT:\n<tool_call>{}</tool_call>"}]
    reason = "the shape of the JSON is unknown: an object with the keys example"
    assert detect(json.dumps(examples)) == Guess("", 0.0, reason)


def test_every_format_is_described() -> None:
    agents = {reader.format.name for reader in SESSIONS if reader.write is not None}
    assert {name for name in FORMATS if FORMATS[name].writable} == agents | {
        "openai",
        "responses",
        "anthropic",
        "gemini",
        "sharegpt",
        "hermes",
        "mini-swe-agent",
    }
    assert all(each.description and each.name == name for name, each in FORMATS.items())


def test_deep_values_are_an_error_and_not_a_crash() -> None:
    deep = json.dumps({"messages": [MESSAGE], "a": 0}).replace("0", "[" * 2_000 + "]" * 2_000)
    with pytest.raises(DecodeError, match="nested too deeply"):
        read(deep)


def test_values_that_only_a_parser_can_go_down_are_an_error_too() -> None:
    arguments = {"role": "assistant", "content": [{"type": "toolCall", "arguments": 0}]}
    lines = [{"type": "session", "cwd": "/"}, {"type": "message", "message": arguments}]
    text = "\n".join(map(json.dumps, lines))
    refused = 0
    for depth in range(700, 1_000, 3):
        try:
            read(text.replace("0", "[" * depth + "]" * depth))
        except DecodeError as error:
            refused += "nested too deeply" in error.problem
    assert refused


@pytest.mark.parametrize("name", FORMAT_OF)
@given(seed=st.integers(0, 2**32))
def test_damaged_files_are_read_or_refused(name: str, seed: int) -> None:
    text = _damaged(sample(name), random.Random(seed))
    try:
        documents = read_all(text)
    except DecodeError:
        return
    for document in documents:
        problems = [each.message for each in check(document.live)]
        if not FORMATS[document.format].writable:
            assert all("has no result right after it" in each for each in problems)


def _damaged(text: str, chance: random.Random) -> bytes:
    raw = bytearray(text.encode())
    match chance.randrange(4):
        case 0:
            return bytes(raw[: chance.randrange(len(raw))])
        case 1:
            for _ in range(chance.randrange(1, 20)):
                raw[chance.randrange(len(raw))] = chance.choice(b'{}[]",:0ntf \n\\x')
            return bytes(raw)
        case 2:
            lines = text.split("\n")
            chance.shuffle(lines)
            return "\n".join(lines).encode()
        case _:
            return _reshaped(text, chance).encode()


def _reshaped(text: str, chance: random.Random) -> str:
    """Put values of another kind where strings, numbers and objects stood."""
    try:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError:
        return text.replace('"text"', chance.choice(["5", '"texts"', "null"]))
    return "\n".join(json.dumps(_mutated(value, chance)) for value in values)


def _mutated(value: object, chance: random.Random) -> object:
    if chance.random() < 0.03:
        return chance.choice([None, 5, "x", [], {}, [None], {"a": {}}, True])
    if isinstance(value, dict):
        return {key: _mutated(each, chance) for key, each in value.items()}
    if isinstance(value, list):
        return [_mutated(each, chance) for each in value]
    return value


def test_a_text_is_no_database_whatever_format_is_named() -> None:
    with pytest.raises(DecodeError) as raised:
        read('[{"role": "user", "content": "hi"}]', format="langgraph")
    assert str(raised.value) == "langgraph: the file: this is text; expected a database"


@pytest.mark.parametrize(
    ("name", "confidence"),
    [("droid.jsonl", 0.6), ("gemini_cli.jsonl", 0.8), ("copilot.jsonl", 0.8), ("qwen.jsonl", 1)],
)
def test_a_file_that_lost_its_beginning_is_still_known(name: str, confidence: float) -> None:
    _, rest = sample(name).split("\n", 1)
    for text in (rest, f'"cut off"}}\n{rest}'):
        guess = detect(text)
        assert (guess.format, guess.confidence) == (FORMAT_OF[name], confidence)
