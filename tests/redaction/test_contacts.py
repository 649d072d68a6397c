"""Phone numbers and mentions are masked; other digits are not."""

import pytest

from holdfast.redaction import redact


@pytest.mark.parametrize(
    "number",
    [
        "+49 151 23456789",
        "+14155552671",
        "+1 (415) 555-2671",
        "+44 20 7946 0958",
        "(415) 555-2671",
        "415-555-2671",
        "415.555.2671",
    ],
)
def test_a_phone_number_is_masked_whole(number: str) -> None:
    assert redact(f"call {number}, please") == "call [REDACTED], please"


@pytest.mark.parametrize(
    "field", ['"phone": "{}"', "phoneNumber: '{}'", r"\"phone_number\": \"{}\""]
)
def test_a_field_called_phone_gives_its_number(field: str) -> None:
    assert redact(field.format("0612 345 678")) == field.format("[REDACTED]")


@pytest.mark.parametrize(
    "mention", ["U024BE7LH", "U024BE7LH|ada", "123456789012345678", "!123456789012345678"]
)
def test_a_mention_keeps_its_brackets(mention: str) -> None:
    assert redact(f"hey <@{mention}>!") == "hey <@[REDACTED]>!"


@pytest.mark.parametrize(
    "text",
    [
        "2024-11-05 12:34:56 +0000",
        "@@ -12,34 +12345678,9 @@",
        "x+14155552671",
        "1.2.3 10.0.0.1",
        "123e4567-e89b-12d3-a456-426614174000",
        "took 1234567890 ms",
        "555-2671",
        "<@here>",
        "4111-555-2671",
        "v415.555.26710",
        "a = b +1234567890123456",
        '"phone": "yes"',
        "phone: <unknown>",
        "phone:\nname: Ada",
        "+0 1",
    ],
)
def test_other_digits_stay(text: str) -> None:
    assert redact(text) == text
