"""Masking changes what the spans cover, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction.spans import Mask, Masked, SecretSpan, mask_spans, masked


def test_a_long_secret_keeps_its_first_and_last_four_characters() -> None:
    assert masked("abcdefghijklmnopqr") == "abcd...opqr"


def test_a_short_secret_keeps_nothing() -> None:
    assert masked("abcdefghijklmnopq") == "[REDACTED]"


def test_a_private_key_says_what_it_was() -> None:
    assert masked("x" * 500, Mask.KEY_BLOCK) == "[REDACTED PRIVATE KEY]"


def test_overlapping_spans_are_one_secret() -> None:
    done = mask_spans("say abcdef now", [SecretSpan(4, 8), SecretSpan(6, 10)])
    assert done == Masked("say [REDACTED] now", ((4, 14),))


def test_the_strongest_mask_wins() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    assert mask_spans(text, [SecretSpan(0, 26), SecretSpan(3, 9, Mask.WHOLE)]).text == "[REDACTED]"


def test_an_empty_span_masks_nothing() -> None:
    assert mask_spans("as it was", [SecretSpan(3, 3)]) == Masked("as it was", ())


def test_no_span_returns_the_text() -> None:
    assert mask_spans("as it was", []) == Masked("as it was", ())


@given(st.text(), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80))))
def test_nothing_outside_the_spans_changes(text: str, ranges: list[tuple[int, int]]) -> None:
    spans = [SecretSpan(min(a, b), min(max(a, b), len(text))) for a, b in ranges if a < len(text)]
    secret = {index for span in spans for index in range(span.start, span.stop)}
    kept = "".join(letter for index, letter in enumerate(text) if index not in secret)
    outside = iter(mask_spans(text, spans).text)
    assert all(letter in outside for letter in kept)
