"""A user's patterns are checked when they are loaded, and then mask like the others."""

import pickle
import re
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.redaction import Redactor
from holdfast.redaction.spans import SecretSpan
from holdfast.redaction.user_patterns import compiled, user_pattern_spans

# Each of them takes quadratic or exponential time in a matcher that backtracks, or over all of its
# matches together.
SLOW_ELSEWHERE = [
    r"(a+)+$",
    r"[\w-]+$",
    r"(a|a)*b",
    r"(a|ab)*c",
    r"\w+\w+x",
    r"(?:.*)*x",
    r".*.*=",
    r"(?:a?){30}a{30}",
    r"([a-z]+)*\d",
    r"\w+@\w+",
    r"(?:\d+,?)+;",
    r"a(?:\w+\s?)*$",
    r"-(?:[ab]x|[bc]y)*d",
    r"a[^b]*b|a",
    r"a(?:[^-]*-)?",
    r"(?:[ab]*a[ab]{12}c|a)",
]
NOT_LINEAR = [r"(x)\1", r"(?<=id:)\d+", r"a(?=b)", r"a++b", r"(?>ab)c", r"(?:(a)|b)(?(1)c|d)"]


def test_a_pattern_masks_what_it_finds() -> None:
    redactor = Redactor([r"EMP\d{5}", r"corp_[a-z0-9]+"])
    text = "EMP12345 has corp_0a1b2c3d4e5f6a7b8c9d"
    assert redactor.redact(text) == "[REDACTED] has corp...8c9d"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[", "not a valid regular expression"),
        ("(x)\\1", "could take very long"),
        ("[", "; correct it"),
        ("a{1,2000}", "counts above 1000"),
        ("\\bschl\u00fcssel", "letters beyond ASCII"),
        ("a\ud800", "not a valid regular expression"),
        ("a?", "matches the empty text"),
        (r"b*?\b", "matches the empty text"),
        (r"key|\ba?", "matches the empty text"),
        (r"k\C", "half a character"),
        ("x" * 2000, "longer than"),
    ],
)
def test_a_bad_pattern_is_named_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Redactor([pattern])
    assert reason in str(caught.value)
    assert repr(pattern[:20])[1:-1] in str(caught.value)


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


@pytest.mark.parametrize("pattern", NOT_LINEAR)
def test_what_cannot_be_matched_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="could take very long"):
        Redactor([pattern])


@pytest.mark.parametrize("pattern", SLOW_ELSEWHERE)
def test_a_pattern_that_is_slow_elsewhere_is_linear_here(pattern: str) -> None:
    ready = compiled(pattern)
    for unit in ("a", "ab", "a-", "a1,"):
        started = time.process_time()
        for _ in user_pattern_spans(ready, unit * (64_000 // len(unit)) + "!"):
            pass
        assert time.process_time() - started < 5


def test_without_re2_a_pattern_is_refused_and_the_rest_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ConfigError, match="pip install google-re2"):
        Redactor(["corp-[0-9]{8}"])
    assert Redactor().redact("DB_PASSWORD=x7Rq-29fLm") == "DB_PASSWORD=[REDACTED]"


def test_places_are_counted_in_characters() -> None:
    ready = compiled("k[0-9]{4}")
    text = "\u00e9\U0001f600k1234 \ud800 k5678\u00e9"
    assert [text[start:stop] for start, stop, _ in user_pattern_spans(ready, text)] == [
        "k1234",
        "k5678",
    ]


def test_a_secret_is_found_whole_however_far_it_reaches() -> None:
    text = "x" * 3000 + "<<" + "y" * 100_000 + ">>" + "z" * 3000
    for pattern in (r"<<\w*>>", r"<<\w*", r"<[^z]*"):
        (span,) = user_pattern_spans(compiled(pattern), text)
        assert text[span.start : span.stop] == re.findall(pattern, text)[0]


PIECES = st.sampled_from(
    ["a", "b", "[ab]", r"\w", "a+", "b*?", "a?", r"\d{1,5}", "[ab]+", "^", "$"]
)
MORE = st.sampled_from(["(?:ab|b)", "(?:a|ab)+", "-", "(?:b+-)*", r"\b", "[^a]", "."])


@example(["b*?", r"\b"], "b")
@example([r"\b", "a?", "b*?", "$"], "a b\n")
@example(["a?", r"\b", "."], "b a")
@given(
    st.lists(PIECES | MORE, min_size=1, max_size=6),
    st.text("ab-1 \n", max_size=40),
)
def test_the_same_is_found_as_by_a_matcher_that_backtracks(pieces: list[str], text: str) -> None:
    pattern = "".join(pieces)
    try:
        ready = compiled(pattern)
    except ConfigError:
        return
    expected = [found.span() for found in re.finditer(pattern, text, re.MULTILINE)]
    found = [(start, stop) for start, stop, _ in user_pattern_spans(ready, text)]
    assert found == [(start, stop) for start, stop in expected if stop > start]


def test_a_redactor_with_patterns_can_be_sent_to_another_process() -> None:
    redactor = Redactor(["corp-[0-9]{8}"])
    sent = pickle.loads(pickle.dumps(redactor))
    assert sent == redactor
    assert sent.redact("corp-12345678") == "[REDACTED]"


def test_a_hint_is_given_unless_the_pattern_finds_it_again() -> None:
    (span,) = user_pattern_spans(compiled("[0-9]{20}"), "1" * 20)
    assert span == SecretSpan(0, 20)
