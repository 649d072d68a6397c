"""`holdfast validate`: what is there is checked, and what had to be converted is said."""

import json

import pytest

from tests.cli.running import SESSION, run

ORPHAN = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "?"}]


def test_a_valid_file_is_exit_code_0() -> None:
    ended = run("validate", str(SESSION), "--provider", "openai", "--json")
    assert (ended.code, ended.json) == (
        0,
        {
            "valid": True,
            "violations": [],
            "provider": "openai",
            "format": "openai",
            "messages": 144,
            "converted": False,
        },
    )


def test_a_breach_names_message_and_rule() -> None:
    orphan = json.dumps(ORPHAN).encode()
    ended = run("validate", "-", "--provider", "openai", "--json", stdin=orphan)
    found = json.loads(ended.output)
    assert (ended.code, found["valid"]) == (1, False)
    assert found["violations"][0].keys() == {"index", "rule", "message"}
    assert found["violations"][0]["index"] == 1
    told = run("validate", "-", "--provider", "openai", stdin=orphan)
    assert told.text.startswith(
        "not valid: standard input for openai (2 messages): 1 rule is broken"
    )


@pytest.mark.parametrize("provider", ["responses", "anthropic", "gemini"])
def test_another_dialect_is_converted_and_said_to_be(provider: str) -> None:
    ended = run("validate", str(SESSION), "--provider", provider)
    assert ended.code == 0
    assert "converted from openai" in ended.text


def test_plain_messages_are_taken_for_the_provider_s_own() -> None:
    twice = [{"role": "assistant", "content": "first"}]
    ended = run(
        "validate", "-", "--provider", "anthropic", "--json", stdin=json.dumps(twice).encode()
    )
    assert json.loads(ended.output)["converted"] is False


def test_the_provider_has_to_be_named() -> None:
    assert run("validate", str(SESSION)).code == 2
    assert run("validate", str(SESSION), "--provider", "hal").code == 2


@pytest.mark.parametrize("content", [b"[]", b'{"messages": []}', b'{"conversations": []}'])
def test_no_messages_are_not_valid(content: bytes) -> None:
    ended = run("validate", "-", "--provider", "openai", "--json", stdin=content)
    found = json.loads(ended.output)
    assert (ended.code, found["valid"]) == (1, False)
    assert [each["rule"] for each in found["violations"]] == ["empty"]


def test_other_encodings_than_utf_8_are_refused_as_everywhere() -> None:
    content = json.dumps([{"role": "user", "content": "hi"}]).encode("utf-16")
    ended = run("validate", "-", "--provider", "openai", stdin=content)
    assert (ended.code, "this is not UTF-8 text" in ended.errors) == (1, True)
    marked = json.dumps([{"role": "user", "content": "hi"}]).encode("utf-8-sig")
    assert run("validate", "-", "--provider", "openai", stdin=marked).code == 0


def test_one_of_several_is_checked_as_it_stands() -> None:
    lines = [json.dumps({"messages": each}) for each in (ORPHAN[:1], ORPHAN)]
    ended = run(
        "validate",
        "-",
        "--provider",
        "openai",
        "--conversation",
        "2",
        stdin="\n".join(lines).encode(),
    )
    assert (ended.code, "1 rule is broken" in ended.text) == (1, True)
