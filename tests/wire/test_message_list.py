"""A list of messages is read in its own dialect and written back in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.testing.strategies import Material, transcripts
from holdfast.transcript import Role
from holdfast.wire import DIALECTS
from holdfast.wire.message_list import MessageList, read_messages


def test_a_system_message_in_an_anthropic_list_is_its_prompt_and_comes_back() -> None:
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    ]
    given_list = read_messages(messages)
    transcript = given_list.transcript
    assert given_list.dialect == "anthropic"
    assert [message.role for message in transcript] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
    ]
    body = DIALECTS["anthropic"].encode(transcript)
    assert body.system == "Be brief."
    assert given_list.written(body) == messages


def test_the_dialect_that_is_named_is_the_one_that_is_read() -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "hi"}]
    assert read_messages(messages) == MessageList("openai", messages)
    assert read_messages(messages, "anthropic") == MessageList("anthropic", messages)
    with pytest.raises(ConfigError, match="format is 'klingon'; allowed: openai, responses"):
        read_messages(messages, "klingon")


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(source=st.data())
def test_what_is_read_is_written_back(name: str, source: st.DataObject) -> None:
    made = source.draw(transcripts(Material(dialect=name, turns=2, steps=2)))
    messages = DIALECTS[name].encode(made).messages
    given_list = read_messages(messages)
    assert (
        given_list.written(DIALECTS[given_list.dialect].encode(given_list.transcript)) == messages
    )
