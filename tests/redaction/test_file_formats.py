"""Files that are made to keep secrets give them up, and their public parts stay."""

import base64
import random
import string

import pytest

from holdfast.redaction import redact
from holdfast.redaction.file_formats import crypt_pass, dsn_pass, key_file_pass, manifest_pass
from holdfast.redaction.sites import find_sites
from holdfast.redaction.spans import survey

dice = random.Random(11)
CRYPT = "./" + string.ascii_letters + string.digits


def made(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(dice.choices(alphabet, k=length))


def encoded(length: int) -> str:
    return base64.b64encode(made(length).encode()).decode()


MANIFESTS = [
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: {}\n  tls.key: {}\n",
    "apiVersion: v1\ndata:\n  a.b: {}\n  c: {}\nkind: Secret\nmetadata:\n  name: db\n",
    "kind: Secret\nstringData:\n  one: '{}'\n  two: {}\ntype: Opaque\n",
    'items:\n- kind: "Secret"\n  data:\n    one: {}\n    two: {}\n  metadata:\n    name: db\n',
    '{{"kind": "Secret", "metadata": {{"name": "db"}}, "data": {{"a": "{}", "b": "{}"}}}}',
]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_every_value_of_a_kubernetes_secret_is_found_and_its_metadata_is_not(manifest: str) -> None:
    values = [encoded(9), encoded(12)]
    text = manifest.format(*values)
    view = survey(text)
    found = manifest_pass(view, find_sites(view))
    assert [text[span.start : span.stop] for span in found] == values


def test_a_config_map_beside_a_secret_keeps_its_data() -> None:
    text = "kind: ConfigMap\ndata:\n  color: magenta9\n---\nkind: Secret\ndata:\n  a: {}\n"
    value = encoded(9)
    assert redact(text.format(value)) == text.format("[REDACTED]")


def test_a_kubeconfig_loses_its_key_and_its_token_and_keeps_its_certificate() -> None:
    key, token, certificate = encoded(90), made(40), encoded(90)
    text = f"""users:
- name: ada
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
    token: {token}
"""
    redacted = redact(text)
    assert certificate in redacted
    assert key not in redacted
    assert token not in redacted


@pytest.mark.parametrize(
    "key",
    [
        '{{"kty":"RSA","n":"{1}","e":"AQAB","d":"{0}","p":"{0}","dp":"{0}"}}',
        '{{\n  "d": "{0}",\n  "crv": "P-256",\n  "kty": "EC",\n  "x": "{1}"\n}}',
        '{{\\"kty\\":\\"OKP\\",\\"x\\":\\"{1}\\",\\"d\\":\\"{0}\\"}}',
        '{{"k":"{0}","kty":"oct"}}',
    ],
)
def test_a_web_key_loses_its_private_members_alone(key: str) -> None:
    private, public = made(43), made(43)
    text = key.format(private, public)
    view = survey(text)
    found = {text[span.start : span.stop] for span in key_file_pass(view, find_sites(view))}
    assert found == {private}


def test_a_public_web_key_stays() -> None:
    text = f'{{"kty":"RSA","n":"{made(342)}","e":"AQAB","kid":"2024-{made(20)}"}}'
    assert redact(text) == text


def test_a_key_file_of_putty_loses_its_private_lines() -> None:
    lines = made(64), made(44)
    text = (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ada\nPublic-Lines: 1\n"
        "AAAAC3NzaC1lZDI1NTE5AAAAIHJCc0m2o\nPrivate-Lines: 2\n{}\n{}\nPrivate-MAC: 77ff00"
    )
    redacted = redact(text.format(*lines))
    assert not any(line in redacted for line in lines)
    assert redacted.startswith(text[: text.index("{}")].rstrip())
    assert redacted.endswith("Private-MAC: 77ff00")


HASHES = [
    f"$apr1${made(8, CRYPT)}${made(22, CRYPT)}",
    f"$1${made(8, CRYPT)}${made(22, CRYPT)}",
    f"$2y$10${made(53, CRYPT)}",
    f"$5$rounds=5000${made(16, CRYPT)}${made(43, CRYPT)}",
    f"$6${made(16, CRYPT)}${made(86, CRYPT)}",
    f"$y$j9T${made(22, CRYPT)}${made(43, CRYPT)}",
    f"$argon2id$v=19$m=65536,t=3,p=4${made(22)}${made(43)}",
]


@pytest.mark.parametrize("hashed", HASHES, ids=lambda hashed: hashed[:5])
@pytest.mark.parametrize("line", ["ada:{}", "ada:{}:19000:0:99999:7:::", '"{}"', "see {}."])
def test_hashed_passwords_of_password_files_are_found(hashed: str, line: str) -> None:
    text = line.format(hashed)
    assert [text[span.start : span.stop] for span in crypt_pass(survey(text))] == [hashed]


@pytest.mark.parametrize("text", ["print $1$2", "cost $5$ and $6$7", "$HOME$PATH", "$1$$1$$1$"])
def test_dollar_signs_are_no_hashes(text: str) -> None:
    assert crypt_pass(survey(text)) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("db.example.com:5432:app:ada:h4nter2x", "h4nter2x"),
        ("x\n*:*:*:postgres:correct-horse\ny", "correct-horse"),
        ("machine api.github.com login ada password h4nter2x", "h4nter2x"),
        ("machine a.example\n  login ada\n  password carolknows\n", "carolknows"),
        ("default login ada password 7cc938e45e63e9014f88", "7cc938e45e63e9014f88"),
    ],
)
def test_lines_of_pgpass_and_netrc_lose_their_password(text: str, secret: str) -> None:
    redacted = redact(text)
    assert secret not in redacted
    assert redacted.startswith(text[: text.index(secret)])


@pytest.mark.parametrize(
    "text",
    [
        "10:32:15 host:5432 connected",
        "localhost:5432:app:ada:$PGPASS",
        "machine learning login page password reset",
        "the login and password fields are required",
    ],
)
def test_lines_that_look_a_little_like_those_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("root:S3cr3t:9x@tcp(127.0.0.1:3306)/db?parseTime=true", "S3cr3t:9x"),
        ('dsn := "app:S3cr3t9x@unix(/run/mysql.sock)/db"', "S3cr3t9x"),
        ("jdbc:oracle:thin:scott/tiger9x@host:1521:xe", "tiger9x"),
        ("jdbc:oracle:thin:scott/tiger9x@//host:1521/xe", "tiger9x"),
        ("sqlplus -s scott/tiger9x@//host:1521/xe", "tiger9x"),
    ],
)
def test_addresses_without_a_scheme_lose_their_password(text: str, secret: str) -> None:
    assert [text[span.start : span.stop] for span in dsn_pass(survey(text))] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "user:${PASS}@tcp(db:3306)/app",
        "jdbc:oracle:thin:@host:1521:xe",
        "npm install @types/node@20.1.0",
        "pip install foo@git+https://github.com/a/b",
        "https://medium.com/@someone/a-post-1",
        "path/to/file9x@main:12",
    ],
)
def test_at_signs_without_a_password_stay(text: str) -> None:
    assert dsn_pass(survey(text)) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("FROM a\nENV DB_PASSWORD s3cr3tPw9\nRUN b", "s3cr3tPw9"),
        ("ENV API_TOKEN '8f3a9b2c7d1e4f60'", "8f3a9b2c7d1e4f60"),
        (r"net use \\srv01\share Zx9!kdQ2 /user:CORP\svc_backup", "Zx9!kdQ2"),
        (r"net use Z: \\srv01\share /user:CORP\svc_backup Zx9!kdQ2", "Zx9!kdQ2"),
        ("db.prod.internal:6432:billing:app:k9Xz2LmQ7w", "k9Xz2LmQ7w"),
        ("admin:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="),
        ("$P$B" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5", "$P$B" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5"),
        ('<Pass encoding="base64">VGhpc0lzQVRlc3RQYXNz</Pass>', "VGhpc0lzQVRlc3RQYXNz"),
        ("username admin password 7 0822455D0A16544541", "0822455D0A16544541"),
        ("the password for user 'app' is 'k9Xz2Lm'", "k9Xz2Lm"),
        ("https://mainnet.infura.io/v3/8b0e7153bf7c3706d85c524e44006655", "8b0e7153bf7c3706d85c"),
    ],
)
def test_commands_and_lines_without_a_sign_lose_their_secret(text: str, secret: str) -> None:
    assert secret not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "ENV NODE_ENV production",
        "ENV SECRET_KEY_FILE /run/secrets/key",
        r"net use Z: \\srv01\share /persistent:yes",
        "src/main.c:1234:56:error:foo1x",
        "2024-01-02T12:1234:started:worker:abc",
        "a:{SHARED}",
        "the password for user 'app' is required",
    ],
)
def test_commands_and_lines_without_a_secret_stay(text: str) -> None:
    assert redact(text) == text
