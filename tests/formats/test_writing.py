"""A transcript can be written as another dialect than the one it was read in."""

import json

import pytest

from holdfast.errors import ConfigError, HoldfastError, InvalidTranscript
from holdfast.formats import ReadOnlyFormat, read, write
from holdfast.formats.events import SourceMetadata, native_of, with_native
from holdfast.formats.reader import Document, Envelope
from holdfast.session import Usage
from holdfast.transcript import Message, Opaque, Role, Text
from tests.formats.samples import sample

HELLO: dict[str, object] = {"role": "user", "content": "hello"}
PROMPT = {"role": "system", "content": "be good"}
REQUEST = json.dumps({"model": "m", "temperature": 1, "messages": [PROMPT, HELLO]})


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("openai", {"model": "m", "temperature": 1, "messages": [PROMPT, HELLO]}),
        ("anthropic", {"model": "m", "system": "be good", "messages": [HELLO]}),
        (
            "responses",
            {
                "model": "m",
                "instructions": "be good",
                "input": [{"type": "message", "role": "user", "content": "hello"}],
            },
        ),
        (
            "gemini",
            {
                "systemInstruction": {"parts": [{"text": "be good"}]},
                "contents": [{"role": "user", "parts": [{"text": "hello"}]}],
            },
        ),
        (
            "sharegpt",
            {
                "model": "m",
                "conversations": [
                    {"from": "system", "value": "be good"},
                    {"from": "human", "value": "hello"},
                ],
            },
        ),
    ],
)
def test_each_dialect_has_its_natural_request(to: str, expected: dict[str, object]) -> None:
    document = read(REQUEST)
    written = json.loads(write(document, document.transcript, to=to))
    assert list(written.items()) == list(expected.items())


def test_a_list_stays_a_list_in_openai_chat_only() -> None:
    document = read(json.dumps([{"role": "user", "content": [{"type": "thinking"}]}, HELLO][1:]))
    assert json.loads(write(document, document.transcript, to="openai")) == [HELLO]
    document = read(json.dumps([HELLO]), format="anthropic")
    assert json.loads(write(document, document.transcript, to="openai")) == [HELLO]
    document = read(json.dumps([HELLO]))
    assert json.loads(write(document, document.transcript, to="anthropic")) == {"messages": [HELLO]}


def test_a_session_file_without_a_writer_can_be_written_as_something_else() -> None:
    document = read(sample("copilot.jsonl"))
    with pytest.raises(ReadOnlyFormat) as caught:
        write(document, document.transcript)
    assert isinstance(caught.value, HoldfastError)
    assert str(caught.value) == (
        "copilot can be read, not yet written; "
        "choose --to openai|responses|anthropic|gemini|sharegpt|claude-code|codex|openclaw|pi"
    )
    with pytest.raises(ReadOnlyFormat):
        write(document, document.transcript, to="copilot")
    text = write(document, document.transcript[:1], to="openai")
    assert text == (
        '{\n  "messages": [\n    {\n      "role": "system",\n      "content": "You help."\n'
        "    }\n  ]\n}\n"
    )


def test_a_format_of_its_own_name_is_the_own_container() -> None:
    document = read(sample("hermes.json"))
    assert write(document, document.transcript, to="hermes") == write(document, document.transcript)


def test_an_unknown_dialect_is_answered_with_the_known_ones() -> None:
    document = read(REQUEST)
    with pytest.raises(ConfigError, match="there is no format 'Pi'; choose one of openai, resp"):
        write(document, (), to="Pi")


def test_values_without_a_bottom_are_an_error() -> None:
    endless: dict[str, object] = {"type": "x"}
    for _ in range(100_000):
        endless = {"type": "x", "inner": endless}
    document = read(json.dumps([HELLO]), format="anthropic")
    message = Message(Role.USER, (Opaque("anthropic", endless),))
    with pytest.raises(InvalidTranscript, match="nested too deeply"):
        write(document, (message,))


def test_an_envelope_without_anything_around_is_a_list() -> None:
    assert read(json.dumps([HELLO])).envelope == Envelope(None, messages=[HELLO])


@pytest.mark.parametrize("to", ["claude-code", "codex", "pi", "openclaw"])
def test_a_smaller_window_does_not_say_what_answers_to_the_larger_one_cost(to: str) -> None:
    said = (Message(Role.USER, (Text("go"),)), Message(Role.USER, (Text("on"),)))
    native = SourceMetadata(model="m", usage=Usage(1, 150_000, 9))
    answer = with_native(Message(Role.ASSISTANT, (Text("hi"),)), native)
    document = Document("openai", "openai", (*said, answer))
    for window, expected in (((*said, answer), native.usage), ((*said[1:], answer), None)):
        again = read(write(document, window, to=to)).live
        assert [native_of(each).usage for each in again if each.role is Role.ASSISTANT] == [
            expected
        ]


@pytest.mark.parametrize("to", ["claude-code", "codex", "pi"])
def test_two_conversations_without_an_id_do_not_become_one_session(to: str) -> None:
    first, second = (read(json.dumps([{"role": "user", "content": word}])) for word in "ab")
    assert _session_in(first, to) != _session_in(second, to)
    assert _session_in(first, to) == _session_in(first, to)


def _session_in(document: Document, to: str) -> str:
    line = json.loads(write(document, document.live, to=to).splitlines()[0])
    return str(line.get("sessionId") or line.get("payload", line)["id"])
