"""Secrets in JSON values are masked in words and by the names of fields; the rest is the same."""

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import Redactor
from holdfast.trajectories.turns import redact_json
from tests.trajectories.material import SECRETS, made

redact = Redactor().redact

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab c", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz"), inner, max_size=3),
    max_leaves=8,
)
places = st.sampled_from(["value", "reasoning_content", "note", "content", "deep", "list"])


def held(place: str, text: str) -> dict[str, object]:
    match place:
        case "deep":
            return {"meta": {"env": {"lines": [{"said": text}]}}}
        case "list":
            return {"lines": ["first", text]}
        case _:
            return {place: text}


@given(st.lists(plain, max_size=5))
def test_values_without_a_secret_are_the_same_objects(values: list[object]) -> None:
    masked = redact_json(values, redact)
    assert all(one is other for one, other in zip(values, masked, strict=True))


@given(
    st.lists(st.tuples(places, st.sampled_from([*sorted(SECRETS), ""])), min_size=1, max_size=6),
    st.sampled_from(["%s", "see %s here", "line\n%s\n", "\ttab\t%s", 'quote "%s"', "back\\\\ %s"]),
)
def test_a_secret_is_nowhere_and_its_neighbors_are_untouched(
    cases: list[tuple[str, str]], around: str
) -> None:
    values = [held(place, around % SECRETS.get(name, "nothing")) for place, name in cases]
    masked = redact_json(values, redact)
    told = json.dumps(masked)
    assert not [name for name, secret in SECRETS.items() if secret in told]
    for (place, name), value, other in zip(cases, values, masked, strict=True):
        assert (value is other) == (name == "")
        assert other == held(place, redact(around % SECRETS.get(name, "nothing")))


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "hunter2-Xk93!mQz"}, {"password": "[REDACTED]"}),
        ({"env": {"DB_PASSWORD": "tr0ub4dor&3"}}, {"env": {"DB_PASSWORD": "[REDACTED]"}}),
        ({"password": ["Xk93!mQz-1", "Xk93!mQz-2"]}, {"password": ["[REDACTED]", "[REDACTED]"]}),
        ({"password": 'with "quotes"'}, {"password": "[REDACTED]"}),
        ({"user": "hunter2-Xk93!mQz"}, {"user": "hunter2-Xk93!mQz"}),
        ({"from": "gpt", "value": "x", "role": "y", "type": "z"}, None),
        ({"password": None, "token": 5, "secret": True}, None),
    ],
)
def test_a_field_is_judged_by_its_name(value: object, masked: object) -> None:
    assert redact_json([value], redact) == [value if masked is None else masked]


def test_keys_and_their_order_stay() -> None:
    value = {"b": "x", "password": "hunter2-Xk93!mQz", "a": SECRETS["npm"], "": "y"}
    (masked,) = redact_json([value], redact)
    assert list(cast("dict[str, object]", masked)) == ["b", "password", "a", ""]


def test_arguments_stay_json() -> None:
    arguments = {
        "command": f"curl -H 'Authorization: Bearer {SECRETS['openai']}' https://x.test",
        "password": 'a"b\\c' + made(12),
        "nested": json.dumps({"token": SECRETS["github"], "n": 1}),
        "lines": f"one\n{SECRETS['slack']}\nthree",
    }
    (masked,) = redact_json([{"arguments": json.dumps(arguments)}], redact)
    text = cast("dict[str, str]", masked)["arguments"]
    told = json.loads(text)
    assert sorted(told) == sorted(arguments)
    assert json.loads(told["nested"])["n"] == 1
    assert not [secret for secret in SECRETS.values() if secret in text]


def test_a_redactor_that_breaks_the_field_around_a_secret_is_given_the_text_alone() -> None:
    def breaks(text: str) -> str:
        return text.replace('{"note": "', "").replace("hush", "***")

    def unwraps(text: str) -> str:
        return '"***"' if text.startswith("{") and "hush" in text else text.replace("hush", "***")

    assert redact_json([{"note": "hush now"}], breaks) == [{"note": "*** now"}]
    assert redact_json([{"note": "hush now"}], unwraps) == [{"note": "*** now"}]


def test_a_redactor_that_renames_the_field_is_given_the_text_alone() -> None:
    def renames(text: str) -> str:
        return text.replace("hush", "***")

    assert redact_json([{"hush": "hush now"}], renames) == [{"hush": "*** now"}]
