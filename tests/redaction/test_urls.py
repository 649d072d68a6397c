"""Secrets in addresses are masked; the addresses stay readable."""

import pytest

from holdfast.redaction.http import (
    find_addresses,
    login_pass,
    parameter_pass,
    signature_pass,
    webhook_pass,
)
from holdfast.redaction.sites import find_sites
from holdfast.redaction.spans import survey

HEX = "3f2a9c81b7d64e50aa17cc02e9b45d68"


def logins(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in login_pass(view, find_addresses(view))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://user:p4ss@word@db:5432/x", "p4ss@word"),
        ("redis://:S3cr3tPw@host:6379", "S3cr3tPw"),
        ("amqp://app:longsecretpassword99@mq/", "longsecretpassword99"),
        ("mongodb+srv://me:hunter2@cluster0.example.net", "hunter2"),
        ("https://cafebabe:deadbeef@gems.example.com", "deadbeef"),
        (f"https://{HEX}@sentry.example.com/1", HEX),
    ],
)
def test_a_login_in_an_address_is_found(text: str, secret: str) -> None:
    assert logins(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "https://url:8000/ @something",
        "'https://url:8000';@else",
        "http://a.b/c?d=e@f",
        "postgres://user:${PASS}@db",
        "https://user:password@host",
        "git@github.com:a/b.git",
        "https://medium.com/@someone/a-post-1",
        "ssh://git@host/path",
        "ssh://deployment-account@host/path",
    ],
)
def test_an_address_without_a_login_stays(text: str) -> None:
    assert logins(text) == []


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.slack.com/services/{T00AB12CD/B00EF34GH/a1B2c3D4e5F6g7H8i9J0k1L2}",
        f"https://discord.com/api/webhooks/123456789012345678/{{{HEX}{HEX}}}",
        f"http://api.softlayer.com/soap/v3/{{{HEX}{HEX}}}",
    ],
)
def test_a_webhook_gives_its_secret_part(address: str) -> None:
    text = address.replace("{", "").replace("}", "")
    view = survey(text)
    found = [text[span.start : span.stop] for span in webhook_pass(view, find_addresses(view))]
    assert found == [address.partition("{")[2].rstrip("}")]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("https://x.example/?access_token=abc123def456&x=1", ["abc123def456"]),
        ("grant_type=password&username=joe&password=hunter2", ["hunter2"]),
        ("client_secret=Zx81kd93&scope=all", ["Zx81kd93"]),
        ("https://x.example/?token=ACCESS_TOKEN", []),
        ("https://x.example/?page_token=abc123def456", []),
        ("https://x.example/?q=token", []),
        ("PASSWORD=hunter2 make && make test", []),
    ],
)
def test_parameters_are_judged_by_name_and_value(text: str, secrets: list[str]) -> None:
    view = survey(text)
    found = parameter_pass(view, find_sites(view))
    assert [text[span.start : span.stop] for span in found] == secrets


def test_a_signature_makes_an_address_a_capability() -> None:
    text = f"https://a.example/c?sv=2020-01-01&sig={HEX}%3D&se=1 sig=x"
    found = [text[span.start : span.stop] for span in signature_pass(survey(text))]
    assert found == [f"{HEX}%3D"]


def test_a_stand_in_for_the_secret_part_of_a_webhook_stays() -> None:
    view = survey("https://hooks.slack.com/services/workspace/channel/your-secret-part")
    assert webhook_pass(view, find_addresses(view)) == []


@pytest.mark.parametrize("value", ["x" * 24, "signature-goes-in-this-place"])
def test_a_stand_in_for_a_signature_stays(value: str) -> None:
    assert signature_pass(survey(f"https://a.example/c?sig={value}")) == []
