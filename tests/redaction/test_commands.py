"""Passwords on command lines are masked; other flags are not."""

import pytest

from holdfast.redaction.assignments import find_flags, flag_pass
from holdfast.redaction.http import user_flag_pass
from holdfast.redaction.spans import survey


def flags(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in flag_pass(view, find_flags(view))]


def users(text: str) -> list[str]:
    view = survey(text)
    return [text[span.start : span.stop] for span in user_flag_pass(view, find_flags(view))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("tool --password hunter22 x", "hunter22"),
        ("--softlayer-api-key 'a1b2c3d4e5f6'", "a1b2c3d4e5f6"),
        ("Set-Auth -ClientSecret 'Zx81kd93ls02'", "Zx81kd93ls02"),
        ('["--token", "Zx81kd93ls02"]', "Zx81kd93ls02"),
        ("mysql -u root -pS3cretPass db", "S3cretPass"),
        ("sshpass -p 'S3cret!' ssh host", "S3cret!"),
        ("docker login -u me -p S3cret99", "S3cret99"),
        ("redis-cli -h a -a hunter22 ping", "hunter22"),
        ("ldapsearch -x -D cn=admin -w hunter22 -b dc=a", "hunter22"),
        ("openssl enc -aes-256-cbc -k hunter22 -in a", "hunter22"),
        ("unzip -P hunter22 a.zip", "hunter22"),
        ("psexec \\\\host -u Administrator -p dev_admin cmd", "dev_admin"),
        ("plink -pw hunter22 host", "hunter22"),
        ("gpg --batch --passphrase hunter22 -d a", "hunter22"),
        ("htpasswd -b .htpasswd admin hunter22", "hunter22"),
        ("htpasswd -nb admin hunter22", "hunter22"),
        ("echo 'hunter22' | sudo -S apt update", "hunter22"),
    ],
)
def test_a_flag_gives_its_secret(text: str, secret: str) -> None:
    assert flags(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p src/path1",
        "ssh -p 2222 host",
        "--password $PASSWORD",
        "--token-file /a/b1.txt",
        "--key value",
        "--max-tokens 4096",
        "mysql db; mkdir -p abc123",
        "mysql -u root -p mydb_2",
        "redis-cli -a $REDIS_PASSWORD ping",
        "htpasswd -b file user $PASS",
        "unzip -p data2024.zip",
        "tar -a archive2024.tar",
        "grep -w password2 file",
        "ls -s && sudo -S true",
        "tsc -p tsconfig.build.json",
    ],
)
def test_other_flags_stay(text: str) -> None:
    assert flags(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -k -u elastic:P@ssw0rd$1 https://localhost", "P@ssw0rd$1"),
        ("curl -X POST https://a.example \\\n  -d x \\\n  -u dev:yqDVtkqPE", "yqDVtkqPE"),
        ('curl -u ":d2LkV78zLx!t" https://a', "d2LkV78zLx!t"),
        ('curl -u "d2LkV78zLx!t:" https://a', "d2LkV78zLx!t"),
        ("curl --user kevin:'pRf7vG2h1' -i https://a", "pRf7vG2h1"),
        (r"curl --user \"a.b:dB2yF6@q#4\" https://a", "dB2yF6@q#4"),
    ],
)
def test_a_user_flag_gives_its_password(text: str, secret: str) -> None:
    assert users(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        'curl -u "user" http://a',
        'curl -u "${U}:${P}"',
        "curl --user user:pass x",
        'curl -u ":" x',
        "curl --user neo4j:[PASSWORD] x",
        "docker run -u 1000:1000 image",
        "curl x\nps -u root:wheel9",
    ],
)
def test_users_without_passwords_stay(text: str) -> None:
    assert users(text) == []


def test_a_flag_inside_a_masked_password_is_part_of_it() -> None:
    assert flags('tool --password "h4nter -token Zx81kd93ls02"') == ["h4nter -token Zx81kd93ls02"]


def test_a_flag_takes_a_password_of_words_and_a_number() -> None:
    assert flags("tool --password correct-horse-42 x") == ["correct-horse-42"]
    assert flags("tool --password-file correct-horse-42 x") == []
