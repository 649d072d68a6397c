"""Which sentences of users hold beyond their turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.summary.claims import given_value, is_said_of, is_standing_rule, is_value


@pytest.mark.parametrize(
    "sentence",
    ["Never touch the schema.", "I prefer tabs.", "Ändere das Schema niemals.", "不要修改数据库。"],
)
def test_rules_and_preferences_stand(sentence: str) -> None:
    assert is_standing_rule(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "My name is Marta.",
        "The service is called Harbor.",
        "The port is 8443.",
        "Its settings are in /srv/harbor/tides.toml.",
    ],
)
def test_who_and_what_something_is_are_values(sentence: str) -> None:
    assert is_value(sentence)


@pytest.mark.parametrize("sentence", ["Should we never do that?", "Is the port 8443?", "Go on."])
def test_questions_and_talk_are_neither(sentence: str) -> None:
    assert not is_standing_rule(sentence)
    assert not is_value(sentence)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert is_said_of(text) in (True, False)
    assert given_value(text) is None or given_value(text)
