"""Where a request goes, and with whose credential."""

import pytest

from holdfast.gateway.upstream import alternatives, upstreams_of
from tests.agents.answers import Answer
from tests.gateway.faults import client_sees
from tests.gateway.scripted import (
    CUT,
    PATHS,
    Script,
    answer,
    gateway,
    question,
    stream,
    streamed,
    upstream,
)

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


FAILS: dict[str, Script] = {
    "500": answer(b"oops", "500 Oops"),
    "503": answer(b"{}", "503 Unavailable"),
    "529": answer(b"{}", "529 Overloaded"),
    "cut": [CUT],
}


@client_sees(
    "an upstream fails in one of these ways, and another upstream is named for the same requests",
    "the answer of the other one, if nothing was sent to the client before; silence and errors "
    "such as 429 are no reason to ask another",
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("fault", FAILS.values(), ids=FAILS)
def test_an_upstream_that_fails_is_replaced_by_one_that_is_named_for_the_same_requests(
    dialect: str, fault: Script
) -> None:
    said = stream(*streamed(dialect, Answer(1, "Port 4242.")))
    with upstream(fault) as bad, upstream(said) as good:
        named = (f"{dialect}={bad.url}", f"{dialect}={good.url}")
        with gateway(bad, upstreams=named) as here:
            asked = question(dialect)
            found = here.post(dialect, asked)
            assert found.content == b"".join(streamed(dialect, Answer(1, "Port 4242.")))
            assert good.requests[0].fields == asked
            tried = len(bad.requests)
            assert here.metric("failovers_total") == "1"
            # For a while the one that failed is not even tried.
            assert here.post(dialect).status_code == 200
            assert len(bad.requests) == tried


def test_an_upstream_that_cannot_be_connected_to_is_replaced() -> None:
    named = "openai=http://127.0.0.1:9"
    with (
        upstream(answer(b"{}")) as good,
        gateway(good, upstreams=(named, f"openai={good.url}")) as here,
    ):
        assert here.post("openai").status_code == 200


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "429 Slow", "501 Never"])
def test_what_an_upstream_says_of_the_request_is_no_reason_to_ask_another(status: str) -> None:
    with (
        upstream(answer(b"no", status)) as first,
        upstream(answer(b"{}")) as second,
        gateway(first, upstreams=(first.url, second.url)) as here,
    ):
        assert here.post("openai").status_code == int(status[:3])
        assert second.requests == []


@pytest.mark.parametrize(
    ("script", "status"), [([30.0], 504), (stream(b"data: {}\n\n", 0.1, CUT), 200)]
)
def test_a_silent_upstream_or_a_stream_that_has_begun_is_not_asked_for_elsewhere(
    script: Script, status: int
) -> None:
    with (
        upstream(script) as first,
        upstream(answer(b"{}")) as second,
        gateway(first, upstreams=(first.url, second.url), silence_seconds=0.5) as here,
        here.client.stream("POST", PATHS["openai"], json=question("openai")) as found,
    ):
        assert found.status_code == status
        assert second.requests == []


def test_what_is_said_to_one_upstream_goes_to_no_other_that_would_fit_as_well() -> None:
    with (
        upstream(answer(b"", "500 Oops")) as local,
        upstream(answer(b"{}")) as cloud,
        gateway(local, upstreams=(f"openai/m*={local.url}", f"openai={cloud.url}")) as here,
    ):
        assert here.post("openai").status_code == 500
        assert cloud.requests == []
    # Least of all to the provider of the dialect, which nobody named.
    named = upstreams_of(["openai=http://a.example", "openai=http://b.example"], {})
    found = [each.url for each in alternatives(named, "openai", "m1", {})]
    assert found == ["http://a.example", "http://b.example"]


def test_where_every_upstream_fails_the_client_sees_what_the_last_one_says() -> None:
    with (
        upstream(answer(b"1", "500 Oops")) as first,
        upstream(answer(b"2", "503 No")) as second,
        gateway(first, upstreams=(first.url, second.url)) as here,
    ):
        for _ in range(3):
            assert here.post("openai").status_code in (500, 503)
        assert len(first.requests) == len(second.requests) == 3
