"""A user's patterns are checked when they are loaded, and then mask like the others."""

import pytest

from holdfast.errors import ConfigError
from holdfast.redaction import Redactor


def test_a_pattern_masks_what_it_finds() -> None:
    redactor = Redactor([r"EMP\d{5}", r"corp_[a-z0-9]+"])
    text = "EMP12345 has corp_0a1b2c3d4e5f6a7b8c9d"
    assert redactor.redact(text) == "[REDACTED] has corp...8c9d"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[", "not a valid regular expression"),
        ("(a+)+$", "could take very long"),
        ("a?", "matches the empty text"),
        ("x" * 2000, "longer than"),
    ],
)
def test_a_bad_pattern_is_named_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Redactor([pattern])
    assert reason in str(caught.value)
    assert pattern[:20] in str(caught.value)


@pytest.mark.parametrize("pattern", [r"[A-Z]{5}", r"[a-z]{4}", r"\w+", r"\.\.\.", r"\[\w"])
def test_a_pattern_that_matches_masks_does_not_mask_them_again(pattern: str) -> None:
    redactor = Redactor([pattern])
    once = redactor.redact("SECRETS and abcdefghijklmnopqrstuvwxyz ... [REDACTED] [x")
    assert redactor.redact(once) == once


def test_redactors_with_the_same_patterns_are_equal() -> None:
    assert Redactor(["a1"]) == Redactor(("a1",))
    assert Redactor(["a1"]) != Redactor(["b1"])


def test_anchors_of_a_pattern_mean_lines() -> None:
    redactor = Redactor(["^badge: [0-9]{6}$"])
    assert redactor.redact("a\nbadge: 123456\nb") == "a\n[REDACTED]\nb"


def test_one_text_is_not_a_list_of_patterns() -> None:
    with pytest.raises(ConfigError, match="allowed: a list of patterns"):
        Redactor("abc")
