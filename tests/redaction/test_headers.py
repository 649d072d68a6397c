"""Credentials in headers are masked whatever the scheme."""

import base64

import pytest

from holdfast.redaction.http import authorization_pass, bearer_pass, cookie_pass
from holdfast.redaction.sites import find_sites
from holdfast.redaction.spans import survey

PAIR = base64.b64encode(b"user:pass").decode()


def authorizations(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in authorization_pass(view, find_sites(view))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc123def456", "abc123def456"),
        (f"authorization: Basic {PAIR}", PAIR),
        ('-H "Authorization: Api-Token 22cb987851bc5659"', "22cb987851bc5659"),
        ('"Authorization": "token 22cb987851bc5659"', "22cb987851bc5659"),
        (r"{\"authorization\": \"Bearer abc123def456\"}", "abc123def456"),
        ("Proxy-Authorization: sha256~bRLFnzd5@=-.a+", "sha256~bRLFnzd5@=-.a+"),
        ('Authorization: Digest username="u", response="6629fae49393a053"', "6629fae49393a053"),
    ],
)
def test_an_authorization_gives_its_credential(text: str, secret: str) -> None:
    assert authorizations(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Basic ...",
        "Authorization: Token **********",
        "authorization: required",
        "auth: enabled",
        "Authorization: Bearer $(gcloud auth print-access-token)",
        "Authorization: Bearer token",
        "Authorization: <credentials>",
        "Authorization:\nHost: a.example",
        "Authorization: Basic neitherPairs",
        "Authorization: Basic undecodablest",
    ],
)
def test_an_authorization_without_a_credential_stays(text: str) -> None:
    assert authorizations(text) == []


def test_a_bearer_token_needs_no_header() -> None:
    text = "sent Bearer abc123def456ghi789 twice; the bearer understands everything"
    assert [text[span.start : span.stop] for span in bearer_pass(survey(text))] == [
        "abc123def456ghi789"
    ]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("Cookie: sessionid=abc123def456ghi; theme=dark; a=b", ["abc123def456ghi"]),
        ("Set-Cookie: sid=s%3Aabc123.def456; Path=/; Expires=Wed", ["s%3Aabc123.def456"]),
        ('-H "Cookie: theme=dark; _t=9f8a7b6c5d4e3f2a"', ["9f8a7b6c5d4e3f2a"]),
        ("Cookie: sessionid=[REDACTED]", []),
        ("the cookie: it was good", []),
        ("Cookie:\nsid=abc123def456ghi", []),
    ],
)
def test_cookies_that_identify_somebody_are_found(text: str, secrets: list[str]) -> None:
    view = survey(text)
    found = cookie_pass(view, find_sites(view))
    assert [text[span.start : span.stop] for span in found] == secrets
