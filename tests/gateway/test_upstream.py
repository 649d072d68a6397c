"""Where a request goes, and with whose credential."""

import pytest

from holdfast.gateway.upstream import upstreams_of
from tests.gateway.scripted import answer, gateway, question, upstream

KEYS = {"OPENAI_API_KEY": "sk-own", "ANTHROPIC_API_KEY": "ak-own", "HOLDFAST_API_KEY": "hk"}


@pytest.mark.parametrize(
    ("url", "path", "dialect", "found"),
    [
        ("https://a.example/v1", "/v1/chat/completions", "openai", "/v1/chat/completions"),
        ("https://a.example/v1", "/chat/completions", "openai", "/v1/chat/completions"),
        ("https://a.example", "/v1/chat/completions", "openai", "/v1/chat/completions"),
        ("https://a.example/v1beta/openai", "/v1/models", "openai", "/v1beta/openai/models"),
        ("https://a.example/api/v1/", "/v1/responses", "responses", "/api/v1/responses"),
        ("https://a.example", "/v1/messages", "anthropic", "/v1/messages"),
        ("https://a.example/v1", "/v1/messages", "anthropic", "/v1/messages"),
        ("https://a.example/anthropic", "/v1/messages", "anthropic", "/anthropic/v1/messages"),
        ("https://a.example", "/v1beta/models/m:x", "gemini", "/v1beta/models/m:x"),
    ],
)
def test_what_an_address_and_a_path_share_stands_once(
    url: str, path: str, dialect: str, found: str
) -> None:
    (chosen, *_) = upstreams_of([url], {})
    assert chosen.address(path, "a=%2F", dialect) == f"https://a.example{found}?a=%2F"


def test_a_request_goes_to_the_first_that_fits_its_dialect_and_model() -> None:
    texts = [
        "openai/glm-*=http://a.example",
        "openai=http://b.example",
        "anthropic=http://c.example",
    ]
    found = upstreams_of(texts, {})

    def chosen(dialect: str, model: str) -> str:
        return next(each.url for each in found if each.fits(dialect, model))

    assert chosen("openai", "glm-5") == "http://a.example"
    assert chosen("openai", "gpt-5") == "http://b.example"
    assert chosen("anthropic", "glm-5") == "http://c.example"
    assert chosen("gemini", "x") == "https://generativelanguage.googleapis.com"
    assert chosen("responses", "x") == "https://api.openai.com/v1"


def test_a_providers_own_key_goes_to_the_provider_alone() -> None:
    texts = ["openai=http://b.example", "anthropic=https://api.anthropic.com"]
    other, own, *_ = upstreams_of(texts, KEYS)
    assert other.credential_header("openai") == ("authorization", "Bearer hk")
    assert own.credential_header("anthropic") == ("x-api-key", "ak-own")
    assert upstreams_of([], KEYS)[0].credential_header("openai") == (
        "authorization",
        "Bearer sk-own",
    )


def test_the_environment_wins_over_a_credential_in_the_address_which_is_never_shown() -> None:
    (configured, *_) = upstreams_of(["http://:s%2Fk@a.example/v1"], {})
    assert configured.credential == "s/k"
    assert configured.url == "http://a.example/v1"
    assert "s/k" not in repr(configured)
    (environment, *_) = upstreams_of(["http://:sk@a.example/v1"], KEYS)
    assert environment.credential == "hk"


@pytest.mark.parametrize(
    ("headers", "query", "sent"),
    [
        ({}, "", "Bearer configured"),
        ({"authorization": "Bearer mine"}, "", "Bearer mine"),
        ({"x-api-key": "mine"}, "", ""),
        ({}, "?key=mine", ""),
    ],
)
def test_the_callers_own_credential_passes_and_ours_stands_in_for_none(
    headers: dict[str, str], query: str, sent: str
) -> None:
    with upstream(answer(b"{}")) as up:
        url = up.url.replace("http://", "http://:configured@")
        with gateway(url) as here:
            path = f"/v1/chat/completions{query}"
            here.client.post(path, json=question("openai"), headers=headers)
            assert up.requests[0].header("authorization") == sent


def test_cookies_of_one_client_are_not_those_of_the_next() -> None:
    with upstream(answer(b"{}", set_cookie="a=1")) as up, gateway(up) as here:
        assert here.client.get("/v1/models").headers["set-cookie"] == "a=1"
        here.client.cookies.clear()
        here.client.get("/v1/models")
        assert [each.header("cookie") for each in up.requests] == ["", ""]
