"""Private keys are masked whole, also when only a part of them is there."""

import pytest

from holdfast.redaction import redact

BODY = "MIIEpQIBAAKCAQEAn6/O8li+SX4m98LLYt/PKSzEmQ++ZBD7Loh9P13f4yQ92EF3"
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "key",
    [
        f"{BEGIN}\n{BODY}\n{BODY}\n{END}",
        f"{BEGIN}\\n{BODY}\\n{BODY}\\n{END}",
        f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n{BODY}\n{END}",
        f'{BEGIN}\\n" +\n    "{BODY}\\n" +\n    "{END}',
        f"{BEGIN}\n{BODY}\n{BODY[:40]}",
        f"{BEGIN}\\n{BODY}\\n{BODY[:40]}",
        BEGIN.replace("RSA ", "") + f"\n{BODY}\n" + END.replace("RSA ", ""),
    ],
)
def test_a_key_becomes_one_marker(key: str) -> None:
    assert redact(f"before {key} after") == "before [REDACTED PRIVATE KEY] after"


def test_text_after_a_cut_key_stays() -> None:
    text = f"{BEGIN}\n{BODY}\n{BODY[:9]}\nThen it was cut, and the tests ran.\n"
    assert redact(text) == "[REDACTED PRIVATE KEY]\nThen it was cut, and the tests ran.\n"


def test_two_keys_are_two_markers() -> None:
    key = f"{BEGIN}\n{BODY}\n{END}"
    assert redact(f"{key}\nand\n{key}") == "[REDACTED PRIVATE KEY]\nand\n[REDACTED PRIVATE KEY]"


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}\nanything\n{END}",
        f"it starts with {BEGIN} and then the key",
        "-----BEGIN PUBLIC KEY-----\n" + BODY + "\n-----END PUBLIC KEY-----",
    ],
)
def test_armor_without_a_private_key_stays(text: str) -> None:
    assert redact(text) == text
