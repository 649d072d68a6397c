"""Values under telling names are masked when they look like secrets."""

import pytest

from holdfast.redaction.assignments import environment_pass, field_pass
from holdfast.redaction.sites import find_sites
from holdfast.redaction.spans import survey


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


@pytest.mark.parametrize(
    "text",
    [
        "password: {}",
        "my password is {}",
        "The admin password is: {}",
        "the default password is '{}'",
        "password={}",
        "psql 'host=a user=b password={}'",
        "Passwort: {}",
        "Kennwort: {}",
        "mein Passwort ist {}",
        "mot de passe\u00a0: {}",
        "le mot de passe est {}",
        "mi contrase\u00f1a es {}",
        "contrase\u00f1a: {}",
        "has\u0142o: {}",
        "\u043f\u0430\u0440\u043e\u043b\u044c: {}",
        "\u041f\u0430\u0440\u043e\u043b\u044c = {}",
        "\u5bc6\u7801\uff1a{}",
        "\u5bc6\u7801: {}",
        "\u30d1\u30b9\u30ef\u30fc\u30c9\uff1a{}",
        "\ube44\ubc00\ubc88\ud638: {}",
        '{{"\u043f\u0430\u0440\u043e\u043b\u044c": "{}"}}',
        "\u2502password: {}",
        "\u2502 password \u2502 {} \u2502",
        "| password | {} |",
        "\u2022password={}",
        "\u00a0password: {}",
        "password\uff1a{}",
        "\x1b[32mDB_PASSWORD={}\x1b[0m",
        "\x1b[1mpassword\x1b[0m: \x1b[33m{}\x1b[0m",
        r"\u001b[32mDB_PASSWORD={}\u001b[0m",
        r"\u001b[1mpassword\u001b[0m: {}",
        "Server=a;User Id=sa;Password={};Encrypt=true",
        "CREATE USER app WITH PASSWORD '{}';",
    ],
)
@pytest.mark.parametrize("password", ["F1LlqsajAIxN", "hunter22", "tr0ub4dor#3"])
def test_a_password_is_found_whatever_stands_around_it(text: str, password: str) -> None:
    assert environment(text.format(password)) + fields(text.format(password)) == [password]


@pytest.mark.parametrize(
    "text",
    [
        "password is required",
        "the password is stored in the vault",
        "The password is base64-encoded",
        "the token is refreshed every 60 minutes",
        "set the password to something you remember",
        "arguments to pass to `func2_name`",
        "| password | string | The password of the user |",
        "\u2502 token \u2502 1284 \u2502",
        "echo $PASSWORD | sha256sum",
        "const token: Token1 | Token2 = null",
        "\u043f\u0430\u0440\u043e\u043b\u044c: \u043e\u0442 8 \u0437\u043d\u0430\u043a\u043e\u0432",
        "\u5bc6\u7801\uff1a\u81f3\u5c118\u4e2a\u5b57\u7b26",
        "password?: string2",
        "Enter login name and password twice",
        "{ password: hashedPassword1 }",
        "password: data.password2,",
        "password = password2",
    ],
)
def test_prose_tables_and_types_give_nothing(text: str) -> None:
    assert (environment(text), fields(text)) == ([], [])


@pytest.mark.parametrize(
    "value",
    [
        "/Xk9$(pQ2z",
        "aB3x$(pQ2z9",
        "aB%(9xKq2!",
        "fakeNews2020!",
        "x7Fakeq92Lm",
        "/aB3dE6gH9/kLmN0pQrS",
        "a1b2{c3d4",
    ],
)
def test_a_password_may_hold_what_references_begin_with(value: str) -> None:
    assert environment(f"DB_PASSWORD={value}") == [value]
    assert fields(f'db_password: "{value}"') == [value]


@pytest.mark.parametrize(
    "value",
    [
        "$(cat secret)",
        "$(cat",
        "${VAR}",
        "app-${VAR}-x1",
        "pre1$(vault read pw)",
        "%(db_password)s",
        "{{ vault_password1 }}",
        "/run/secrets/db_password1",
        "~/keys/db1/password",
        "./keys/db1",
        "fake-password-1",
        "fake_token_123",
        "'$PASSWORD1'",
        "!vault",
        "arn:aws:iam::aws:policy/x1",
    ],
)
def test_references_and_paths_stay(value: str) -> None:
    for text in (f"DB_PASSWORD={value}", f'db_password: "{value}"', f"db_password: {value}"):
        assert environment(text) + fields(text) == []


@pytest.mark.parametrize("name", ["password: {}", "DB_PASSWORD={}", 'passphrase: "{}"'])
@pytest.mark.parametrize("joint", [" ", "-"])
def test_a_passphrase_of_plain_words_is_found_whole(name: str, joint: str) -> None:
    phrase = joint.join(["correct", "horse", "battery", "staple"])
    text = name.format(phrase)
    assert environment(text) + fields(text) == [phrase]


@pytest.mark.parametrize(
    "text",
    [
        "password: must have at least eight characters",
        "Password: please enter your current password",
        'password: "required string with minimum length"',
        "password: see-the-vault-for-details",
    ],
)
def test_a_sentence_about_passwords_is_no_passphrase(text: str) -> None:
    assert environment(text) + fields(text) == []


@pytest.mark.parametrize("name", ["api_key: {}", "API_KEY={}", "\u2022api_key={}", "token = {}"])
def test_sixteen_bare_characters_are_enough_for_a_key(name: str) -> None:
    for value in ("nXolARgtuZB1kuOx", "k3JfQ9zLx27VbNm0"):
        text = name.format(value)
        assert environment(text) + fields(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        'sb.append("MasterUserPassword: " + getMasterUserPassword() + ",");',
        "echo 'password = '.$p['config']['daemon_password1'].\"x\";",
        'nameLabel:"Name:",passwordLabel:"Password:",rememberMe2:"Remember me:"',
        "put '/forgot-password' => \"cms/sites/passwords#update\"",
        'this.addPassword = "#add-password";',
    ],
)
def test_code_that_joins_literals_gives_nothing(text: str) -> None:
    assert environment(text) + fields(text) == []


def test_the_second_argument_of_a_credential_is_found() -> None:
    text = 'new NetworkCredential("ci@a.example", "vzihlaquknriqlht");'
    assert fields(text) == ["vzihlaquknriqlht"]


def test_a_sentence_without_spaces_ends_a_bare_value() -> None:
    assert fields("\u5bc6\u7801\uff1aaB3#fG7!kL9@\u3002\u8bf7\u4fdd\u5b58") == ["aB3#fG7!kL9@"]


@pytest.mark.parametrize(
    "text",
    [
        "zork_token: |\n  {}",
        "zork_token: >-\n    {}\nnext: 1",
        "<zorkToken>\n    {}\n</zorkToken>",
        '$zorkToken .= "{}"',
        '$zorkToken ??= "{}"',
        "zork secret key = {}",
        "API key: {}",
        "the zork_token {} works",
        "GH_PAT={}",
        "zork_key = {}",
        'zorkKey: "{}"',
    ],
)
def test_a_generated_value_is_found_however_it_is_bound(text: str) -> None:
    secret = "9a6656c90bd5482a90a29b9fa5ff5180"
    written = text.format(secret)
    assert environment(written) + fields(written) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "cache_key = 9a6656c90bd5482a90a29b9fa5ff5180",
        "primary key: 9a6656c90bd5482a90a29b9fa5ff5180",
        "Sec-WebSocket-Key: XKKnYLBqnx418vVbt7qKvw==",
        "zork_key = some_long_name_of_a_thing_2_go",
        "x25519_key: x25519.X25519PrivateKey",
        "zork_key: 550e8400-e29b-41d4-a716-446655440000",
        "the token 550e8400-e29b-41d4-a716-446655440000 was made",
        "#define initCustomSecret XXH3_initCustomSecret_avx512",
        "pat = 9a6656c90bd5482a",
        "token: |\n  Enter what the server has sent",
    ],
)
def test_keys_that_find_something_and_names_of_keys_stay(text: str) -> None:
    assert environment(text) + fields(text) == []
