"""Values under telling names are masked when they look like secrets."""

import pytest

from holdfast.redaction.assignments import environment_pass, field_pass
from holdfast.redaction.sites import find_sites
from holdfast.redaction.survey import survey


def environment(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in environment_pass(view, find_sites(view))]


def fields(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in field_pass(view, find_sites(view))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("export GITHUB_TOKEN=abcd1234efgh5678", "abcd1234efgh5678"),
        ("docker run -e API_KEY=Zx81kd93ls02 image", "Zx81kd93ls02"),
        ("jwt_secret = 'k3yboard-cat!'", "k3yboard-cat!"),
        ("pwd=Sup3r$ecret!", "Sup3r$ecret!"),
        ("API_KEY=a1b2c3d4e5=f6", "a1b2c3d4e5=f6"),
        ("PASSWORD=päss-wörd9", "päss-wörd9"),
    ],
)
def test_an_assignment_gives_its_value(text: str, secret: str) -> None:
    assert (environment(text), fields(text)) == ([secret], [])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (
            '{"SecretAccessKey": "wJalrXUtnFEMIK7MDENGbPxRfiCYzzz"}',
            "wJalrXUtnFEMIK7MDENGbPxRfiCYzzz",
        ),
        (r"{\"token\": \"abcd1234efgh5678\"}", "abcd1234efgh5678"),
        ("client_secret: 'Zx81kd93ls02'", "Zx81kd93ls02"),
        ("X-Api-Key: 9f8a7b6c5d4e", "9f8a7b6c5d4e"),
        ('setenv("API_KEY", "Zx81kd93ls02")', "Zx81kd93ls02"),
        ("<password>hunter2</password>", "hunter2"),
        ('"password": "c0rrect horse battery"', "c0rrect horse battery"),
        ("Here is your new password: aB3#f&7;kL9@", "aB3#f&7;kL9@"),
    ],
)
def test_a_field_gives_its_value(text: str, secret: str) -> None:
    assert (environment(text), fields(text)) == ([], [secret])


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password()",
        "token: str",
        'api_key=os.environ["X"]',
        "secret = None",
        "PASSWORD=${VAR}",
        "token=<your-token>",
        "api_key = 'xxxxxxxxxxxxxxxx'",
        "max_tokens=1000",
        '"token_count": 512',
        "self.token = token2",
        "password: required",
        "password = secret",
        "const apiKey = process.env.API_KEY;",
        "auth_token_url = 'https://a.example/token1'",
        "secret: my-app-secret",
        "SECRET_KEY_FILE=/run/secrets/x1",
        "private_key: keys/server1.pem",
        '"password": "Invalid password"',
        "TOKEN=[REDACTED]",
        "TOKEN=abcd...wxyz",
        "PuttyPassword=0",
        '"primary_key": "user_2f8a9b"',
        "cache_key = 'a1b2c3d4e5f6a7b8'",
        "key = 3f2a9c81b7d64e50aa",
    ],
)
def test_code_and_stand_ins_give_nothing(text: str) -> None:
    assert (environment(text), fields(text)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={}",
        "DB_PASSWORD='{}'",
        'export DB_PASSWORD="{}"',
        "db_password={}",
        "db_password = '{}'",
        'db_password: "{}"',
        "db_password: {}",
        r"{{\"password\": \"{}\"}}",
        "<password>{}</password>",
    ],
)
@pytest.mark.parametrize("password", ["correct-horse-42", "7-purple-cows-dance"])
def test_a_password_of_words_and_a_number_is_a_password(text: str, password: str) -> None:
    written = text.format(password)
    assert environment(written) + fields(written) == [password]


@pytest.mark.parametrize("password", ["correct_horse_42", "Correct.Horse.42", "horse-42"])
def test_a_literal_password_may_join_its_words_in_any_way(password: str) -> None:
    assert environment(f"DB_PASSWORD={password}") == [password]
    assert fields(f'db_password: "{password}"') == [password]


@pytest.mark.parametrize(
    "text",
    [
        "password: your-password-here",
        "password: 'your-password-2'",
        "PASSWORD=app-db",
        "password: app-db",
        'password: "app-db"',
        "password_policy: min-8-chars",
        'password_policy: "min-8-chars"',
        "PASSWORD_FILE=db-file-2",
        '"password": "must have 8 characters"',
        '"password": "vault:app-db:2"',
        '"password": "required:min:8"',
        'secret: "app-tls-2"',
        "secret: app-tls-2",
        "TOKEN=build-stage-2",
        "password = size-1",
        "password: users.0",
    ],
)
def test_names_rules_and_references_with_a_number_are_no_passwords(text: str) -> None:
    assert (environment(text), fields(text)) == ([], [])
