"""Stand-ins, words and generated values are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction.values import (
    counts_far,
    counts_up,
    is_gibberish,
    is_monotone,
    is_passphrase,
    is_placeholder,
    is_random,
    is_varied,
    is_wordy,
)


@pytest.mark.parametrize(
    "value",
    [
        "<your-token>",
        "${TOKEN}",
        "$TOKEN",
        "$(cat key)",
        "{{ token }}",
        "%s",
        "***",
        "xxxxxxxx",
        "changeme",
        "insert_key_here",
        "your_api_key",
        "my-token",
        "EXAMPLE",
        "sk-p...qnx5",
        "[REDACTED]",
        "password",
        "None",
        "ACCESS_TOKEN",
        "aaaaaaaa",
    ],
)
def test_a_stand_in_is_recognized(value: str) -> None:
    assert is_placeholder(value.encode())


@pytest.mark.parametrize(
    "value", ["hunter2", "P@ssw0rd$1", "3fea6af1349166ea", "A5MyI7ayjdx", "h&b2~x"]
)
def test_a_secret_is_no_stand_in(value: str) -> None:
    assert not is_placeholder(value.encode())


@pytest.mark.parametrize(
    "value", ["3fea6af1349166ea", "Sk94HG7f6KB", "aBcDeFgHiJkLmNoPqRsT", "a1b2-c3d4"]
)
def test_a_generated_value_is_random(value: str) -> None:
    assert is_random(value.encode())


@pytest.mark.parametrize(
    "value",
    ["", "getPasswordFromStore", "app-db-2", "2024-01-02", "not_long_enough", "aaaaaaaaa1"],
)
def test_a_name_a_date_and_a_filler_are_not_random(value: str) -> None:
    assert not is_random(value.encode())


def test_words_joined_by_separators_are_wordy() -> None:
    assert is_wordy(b"shorter-version.2")
    assert not is_wordy(b"shorter-v3rsion")
    assert not is_wordy(b"shorter-vErSiOn")


@pytest.mark.parametrize("value", ["F1LlqsajAIxN", "vzihlaquknriqlht", "bXq7wZkJ"])
def test_letters_that_make_no_words_are_gibberish(value: str) -> None:
    assert is_gibberish(value.encode())


@pytest.mark.parametrize(
    "value",
    ["getPasswordFromStore", "s3Bucket2Name", "sha256Hash", "hashedPassword1", "xmlHttpRequest"],
)
def test_names_in_code_are_no_gibberish(value: str) -> None:
    assert not is_gibberish(value.encode())


def test_four_words_that_make_no_sentence_are_a_passphrase() -> None:
    assert is_passphrase(b"correct horse battery staple")
    assert is_passphrase(b"orange-velvet-mountain-river")
    assert not is_passphrase(b"correct horse battery")
    assert not is_passphrase(b"must have eight characters")
    assert not is_passphrase(b"horse horse horse horse")


def test_counting_is_noticed() -> None:
    assert counts_far(b"xyz-1234567890")
    assert not counts_far(b"abcd1234efgh5678")
    assert counts_up(b"abcdefgh-stuvwxyz")
    assert not counts_up(b"0123456789abcdef")


def test_few_characters_are_monotone_and_not_varied() -> None:
    assert is_monotone(b"0000000000000000000TUVWXYZ")
    assert not is_monotone(b"abcd1234abcd1234")
    assert not is_varied(b"5555555dAAAAA7777777CcccCFaaaaaaaaaaaaaa")


@given(st.binary(max_size=2000))
def test_every_judgement_accepts_every_value(value: bytes) -> None:
    for judge in (
        counts_far,
        counts_up,
        is_gibberish,
        is_monotone,
        is_passphrase,
        is_placeholder,
        is_random,
        is_varied,
        is_wordy,
    ):
        assert judge(value) in (True, False)
