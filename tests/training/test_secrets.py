"""No secret that the redactor knows gets into a training file."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import Redactor
from holdfast.testing.builders import assistant, call, tool, user
from holdfast.training.shaping import SecretMask
from holdfast.transcript import Media, Message, Recalled, Role, Summary, Text, Thinking

KEY = "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEFGH"
SECRETS = (KEY, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAZQ3DRSTUVWXY2345")
NAMES = st.sampled_from(["command", "password", "api_key", "env", "DB_PASSWORD", "query"])
LEAVES = st.one_of(
    st.sampled_from(SECRETS),
    st.sampled_from([f"export TOKEN={KEY}", 'say "hi"', "hunter2-and-more", 'a\\"b']),
    st.integers(),
    st.none(),
    st.booleans(),
    st.text(max_size=8),
)
VALUES = st.dictionaries(
    NAMES, st.recursive(LEAVES, lambda each: st.lists(each, max_size=3), max_leaves=4), max_size=4
)


@given(value=VALUES)
def test_arguments_stay_json_and_hold_no_secret(value: dict[str, object]) -> None:
    for ascii_only in (True, False):
        said = assistant("", call("c", "bash", json.dumps(value, ensure_ascii=ascii_only)))
        (masked,) = SecretMask(Redactor()).message(said).calls
        found = json.loads(masked.arguments)
        assert found.keys() == value.keys()
        assert not any(secret in masked.arguments for secret in SECRETS)


def test_every_part_is_masked_and_counted() -> None:
    parts = (
        Text(KEY),
        Thinking(KEY),
        Summary(KEY),
        Recalled(KEY),
        Media(url=f"https://x/?key={KEY}"),
    )
    mask = SecretMask(Redactor())
    assert KEY not in str(mask.message(Message(Role.USER, parts)))
    assert KEY not in str(mask.message(tool("c", KEY)))
    assert KEY not in json.dumps(mask.value({"a": [KEY, 1]}))
    assert mask.count == 7


def test_patterns_of_the_user_count() -> None:
    mask = SecretMask(Redactor((r"ACME-\d{6}",)))
    assert "ACME-123456" not in mask.message(user("ACME-123456")).text


def test_a_number_under_a_telling_name_leaves_valid_json() -> None:
    mask = SecretMask(Redactor((r"\d{16}",)))
    (masked,) = mask.message(
        assistant("", call("c", "pay", '{"card": 4111111111111111, "note": "4111111111111111"}'))
    ).calls
    assert "4111111111111111" not in masked.arguments
    assert json.loads(masked.arguments).keys() == {"card", "note"}


def test_nothing_is_masked_without_a_redactor() -> None:
    mask = SecretMask(None)
    assert mask.message(user(KEY)) == user(KEY)
    assert mask.text(KEY) == KEY
    assert mask.count == 0
