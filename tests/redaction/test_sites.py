"""Names with values are found in every notation, and only those."""

import pytest

from holdfast.redaction.sites import SecretKind, Value, find_sites, read_value, whole_value
from holdfast.redaction.spans import survey


def found(text: str) -> list[tuple[SecretKind, str, str]]:
    view = survey(text)
    sites: list[tuple[SecretKind, str, str]] = []
    for site in find_sites(view):
        value = read_value(view.raw, site.value)
        sites.append(
            (site.kind, text[site.start : site.stop], text[slice(*value[:2])] if value else "")
        )
    return sites


@pytest.mark.parametrize(
    "text",
    [
        "api_token=abc",
        "api_token = 'abc'",
        "api_token: abc",
        "api_token := abc",
        'api_token => "abc"',
        '"api_token": "abc"',
        r"{\"api_token\": \"abc\"}",
        r"{\\\"api_token\\\": \\\"abc\\\"}",
        'env["api_token"] = "abc"',
        'set("api_token", "abc")',
        "<api_token>abc</api_token>",
        'api_token: str = "abc"',
        '"api_token":\n    "abc"',
        "- name: api_token\n  value: abc",
        r"\napi_token=abc\n",
        '<add key="api_token" value="abc"/>',
        "api_token ||= 'abc'",
    ],
)
def test_every_notation_gives_the_same_site(text: str) -> None:
    assert found(text) == [(SecretKind.TOKEN, "api_token", "abc")]


@pytest.mark.parametrize(
    "text",
    [
        "a token and more",
        "token_count: 5",
        '["password", "name"]',
        "password =",
        "token: {",
        "tokens=5",
    ],
)
def test_what_binds_nothing_is_no_site(text: str) -> None:
    assert found(text) == []


def test_in_a_chain_the_last_binding_has_the_value() -> None:
    assert found("token = token = abc") == [(SecretKind.TOKEN, "token", "abc")]


def test_an_escaped_quote_does_not_end_a_value() -> None:
    assert found(r'password="a\"b"') == [(SecretKind.PASSWORD, "password", r"a\"b")]


def test_a_value_ends_with_its_line() -> None:
    assert found('password="ab\ncd"') == [(SecretKind.PASSWORD, "password", "ab")]


def test_a_long_bare_value_is_read_to_its_end_when_it_matters() -> None:
    raw = b"a1" * 700 + b" rest"
    value = read_value(raw, 0)
    assert value == Value(0, 256, quoted=False)
    assert value is not None
    assert whole_value(raw, value) == Value(0, 1400, quoted=False)


def test_a_bare_value_that_ends_where_the_first_look_does_is_whole() -> None:
    raw = b"a1" * 128 + b" rest"
    value = Value(0, 256, quoted=False)
    assert read_value(raw, 0) == value
    assert whole_value(raw, value) == value
