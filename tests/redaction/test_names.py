"""The last word of a name says what it holds."""

import pytest

from holdfast.redaction.sites import SecretKind, kind_of

NAMES = {
    SecretKind.PASSWORD: [
        "password",
        "DB_PASSWORD",
        "userPasswd",
        "clou_pw",
        "pwd",
        "db-pass",
        "password2",
    ],
    SecretKind.SECRET: ["secret", "clientSecret", "AUTH_CLIENTSECRET", "SECRET_PROD"],
    SecretKind.TOKEN: [
        "token",
        "GITHUB_TOKEN",
        "_authToken",
        "access-token",
        "token1",
        "credentials",
    ],
    SecretKind.KEY: [
        "apiKey",
        "SecretAccessKey",
        "x-api-key",
        "SLAPIKEY",
        "AccountKey",
        "SECRET_KEY_BASE",
    ],
    SecretKind.AUTH: ["Authorization", "proxy-authorization", "_auth"],
    SecretKind.COOKIE: ["Cookie", "Set-Cookie"],
    SecretKind.PHONE: ["phone", "phoneNumber", "phone_number"],
    SecretKind.NOTHING: [
        "token_count",
        "max_tokens",
        "eos_token",
        "nextPageToken",
        "csrf-token",
        "publicKey",
        "key",
        "primary_key",
        "cache_key",
        "keyFile",
        "access_token_url",
        "credentialsId",
        "passed",
        "",
        "bypass",
        "secret_length",
        "monkey",
        "author",
    ],
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for kind, names in NAMES.items() for name in names],
)
def test_a_name_announces_its_kind(name: str, kind: SecretKind) -> None:
    assert kind_of(name) is kind
